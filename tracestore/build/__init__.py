"""Builds: from the versions of a collection to a searchable state with a manifest."""

from tracestore.build.run import BuildOptions, BuildReport, build
from tracestore.build.settings import IndexSettings

__all__ = ["BuildOptions", "BuildReport", "IndexSettings", "build"]
