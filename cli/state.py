"""What the shared options of the running command said."""

from __future__ import annotations

dsn: str | None = None
debug: bool = False
