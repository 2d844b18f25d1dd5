"""Packaged as ``tracestore.sql``."""
