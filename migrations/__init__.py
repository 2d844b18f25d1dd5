"""Packaged as ``tracestore.migrations``."""
