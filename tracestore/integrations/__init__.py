"""Adapters for frameworks; each needs the extra of its name."""
