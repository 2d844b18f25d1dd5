"""Measure how close approximate answers are to exact ones, and keep what was measured."""

from tracestore.fidelity.measure import Measurement, measure
from tracestore.fidelity.probes import Probe, ProbeSet, given_probes, sampled_probes

__all__ = ["Measurement", "Probe", "ProbeSet", "given_probes", "measure", "sampled_probes"]
