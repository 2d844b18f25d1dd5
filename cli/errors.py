"""What a user sees of an error: one line, a hint, an exit code; the traceback only with ``--debug``."""

from __future__ import annotations

import contextlib
import errno
import sys
import traceback
from collections.abc import Callable

import typer

from tracestore.errors import TracestoreError

from . import output, state


def guarded(command: Callable[[], int]) -> int:
    """Run a command and return its exit code, whatever happens."""
    code = _attempt(command)
    flushed = _attempt(_flush)
    return code or flushed  # a check that failed has failed, also for a reader who saw enough


def _attempt(command: Callable[[], int]) -> int:
    try:
        return command()
    except BaseException as error:  # noqa: BLE001 - the last line of defence: every error becomes one line
        if state.debug:
            traceback.print_exc()
        return _report(error)


def _flush() -> int:
    sys.stdout.flush()
    return 0


def _report(error: BaseException) -> int:
    if isinstance(error, TracestoreError):
        return _say(error.message, error.hint, error.exit_code)
    if isinstance(error, typer.TyperException):
        context = getattr(error, "ctx", None)
        hint = f"{context.command_path} --help" if context is not None else None
        return _say(error.format_message(), hint, error.exit_code)
    if isinstance(error, BrokenPipeError):
        output.discard()  # the reader has seen enough, as `head` has
        return 0
    if isinstance(error, KeyboardInterrupt | typer.Abort):
        return _say("interrupted", None, 130)
    if isinstance(error, OSError):
        if error.errno == errno.ENOSPC:
            output.discard()
            return _say("no room left to write to", "free disk space and run it again", 1)
        return _say(f"{error.strerror or error}: {error.filename or ''}".rstrip(": "), None, 1)
    if isinstance(error, SystemExit):
        return error.code if isinstance(error.code, int) else 1
    return _say(
        f"unexpected {type(error).__name__}: {' '.join(str(error).split())[:300]}",
        "this is a fault of tracestore; run it again with `tracestore --debug` and report what it prints",
        1,
    )


def _say(message: str, hint: str | None, code: int) -> int:
    with contextlib.suppress(OSError):  # stderr may be gone as well; the exit code remains
        output.warn(f"error: {' '.join(message.split())}")
        if hint:
            output.warn(f"hint: {' '.join(hint.split())}")
    return code
