"""Packaged as ``tracestore.cli``."""
