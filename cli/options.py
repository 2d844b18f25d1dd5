"""Flags that several commands share, each in the same words, and the one way to register a command."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Annotated, Any, get_type_hints

import typer

from tracestore.errors import InputError

from . import output, state

AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON document.")]
Reason = Annotated[str | None, typer.Option("--reason", help="Why; kept on record.")]
Collection = Annotated[str, typer.Argument(metavar="COLLECTION", help="The collection.", show_default=False)]
InCollection = Annotated[str, typer.Option("--collection", help="The collection.", show_default=False)]
NeededReason = Annotated[str, typer.Option("--reason", help="Why; kept on record.", show_default=False)]
Build = Annotated[str, typer.Argument(metavar="BUILD", help="A build: B-7 or 7.", show_default=False)]
Recipe = Annotated[
    str | None, typer.Option("--recipe", help="The recipe, for example wordllama:256 or hash:128:a.")
]
Dsn = Annotated[
    str | None,
    typer.Option("--dsn", help="Use this server, not the embedded one. [env var: TRACESTORE_DATABASE_URL]"),
]
Debug = Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")]

_SHARED = {"dsn": Dsn, "debug": Debug}


def remember(dsn: str | None, debug: bool) -> None:
    """Keep what the shared options said; before the command and after it they mean the same."""
    _require_text("--dsn", dsn)
    state.dsn = dsn or state.dsn
    state.debug = debug or state.debug


def add_command(
    app: typer.Typer, function: Callable[..., None], name: str | None = None, **settings: Any
) -> None:
    """Register a command that also has ``--dsn`` and ``--debug``, wherever the user writes them."""

    def run(*args: Any, dsn: str | None = None, debug: bool = False, **kwargs: Any) -> None:
        remember(dsn, debug)
        for name, value in kwargs.items():
            _require_text(name, value)
        function(*args, **kwargs)

    hints = get_type_hints(function, include_extras=True)
    own = inspect.signature(function)
    keyword = inspect.Parameter.KEYWORD_ONLY
    parameters = [p.replace(annotation=hints[p.name]) for p in own.parameters.values()]
    parameters += [
        inspect.Parameter("dsn", keyword, default=None, annotation=Dsn),
        inspect.Parameter("debug", keyword, default=False, annotation=Debug),
    ]
    run.__name__, run.__module__ = function.__name__, function.__module__
    run.__doc__ = inspect.cleandoc(function.__doc__ or "").replace("\nExample:", "\n\nExample:")
    run.__annotations__ = {**hints, **_SHARED}
    run.__signature__ = own.replace(parameters=parameters)  # type: ignore[attr-defined]
    app.command(name, **settings)(run)


def _require_text(name: str, value: object) -> None:
    """Refuse an argument with bytes that are no text. Paths are left alone: a file may have any name."""
    for part in value if isinstance(value, list) else [value]:
        if isinstance(part, str) and not part.isascii():
            try:
                part.encode()
            except UnicodeEncodeError as error:
                raise InputError(
                    f"{name} is not valid text in the encoding of this terminal: {part!r}, character {error.start}",
                    hint="write it in UTF-8, under a UTF-8 locale such as LC_ALL=C.UTF-8",
                ) from None


def command_group(help_text: str) -> typer.Typer:
    """Return a group of commands that prints its help when no command is named."""
    app = typer.Typer(rich_markup_mode=None, add_completion=False, help=help_text)

    @app.callback(invoke_without_command=True, help=help_text)
    def no_command(context: typer.Context) -> None:
        print_help(context)

    return app


def print_help(context: typer.Context) -> None:
    """Print the help of a group that was called without a command."""
    if context.invoked_subcommand is None:
        output.line(context.get_help())
        raise typer.Exit


def parse_time(text: str) -> datetime:
    """Read a time; without a zone it is UTC, a date is its first moment."""
    try:
        time = datetime.fromisoformat(text)
    except ValueError:
        raise InputError(
            f"{text!r} is not a time", hint="for example 2026-03-04 or 2026-03-04T09:00:00Z"
        ) from None
    return time if time.tzinfo else time.replace(tzinfo=UTC)
