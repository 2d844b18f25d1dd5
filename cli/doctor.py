"""``tracestore doctor``: what is wrong, and what to do about it."""

from __future__ import annotations

import typer

from tracestore.doctor import diagnose

from . import connection, output
from .options import AsJson


def doctor(as_json: AsJson = False) -> None:
    """Look at server, extension, schema, builds and indexes, and say what to do. Nothing is changed.

    Exit code 4 when something is to be done, 0 when nothing is.
    Example: tracestore doctor --json
    """
    checks = diagnose(connection.dsn())
    healthy = all(check.ok for check in checks)
    if as_json:
        output.emit_json({"ok": healthy, "checks": checks})
    else:
        for check in checks:
            output.line(f"{'ok   ' if check.ok else 'FAIL '} {check.check}: {check.detail}")
            if check.remedy is not None:
                output.line(f"      {check.remedy}")
    if not healthy:
        raise typer.Exit(4)
