"""A page about a build, or about two: one HTML file that needs nothing else."""

from tracestore.report.collect import Page, collect
from tracestore.report.render import render

__all__ = ["Page", "collect", "render"]
