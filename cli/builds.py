"""Builds and aliases: list, manifest, verify, publish."""

from __future__ import annotations

from typing import Annotated

import typer

from tracestore import store
from tracestore.identity import parse_build_id

from . import output
from .connection import open_store
from .names import require_alias, require_collection
from .options import AsJson, Build, Reason, add_command, command_group
from .switching import retire

alias_app = command_group("What is served, and what was.")

_FAILED = 4


def builds(
    collection: Annotated[
        str | None, typer.Argument(metavar="COLLECTION", help="Only of this collection.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """List builds, newest first.

    Example: tracestore builds guides
    """
    with open_store() as conn:
        if collection is not None:
            require_collection(conn, collection)
        rows = store.table(
            conn,
            "select * from tracestore.builds where %s::text is null or collection = %s order by build_id desc",
            collection,
            collection,
        )
    if as_json:
        output.emit_json(rows)
        return
    names = (
        "build",
        "collection",
        "index_id",
        "recipe_id",
        "state",
        "documents",
        "chunks",
        "committed_at",
        "served_by",
    )
    output.table(rows, names)


def manifest(build: Build, as_json: AsJson = False) -> None:
    """List the document versions of a build.

    Example: tracestore manifest B-7
    """
    build_id = parse_build_id(build)
    with open_store() as conn:
        store.require_build(conn, build_id)
        members = store.manifest(conn, build_id)
        # Computed from the rows, unless labels hide some of these from the caller.
        rows = store.table(
            conn,
            "select tracestore.labels_hide_documents() as hidden, case when tracestore.labels_hide_documents() then index_version"
            " else tracestore.manifest_hash(build_id) end as hash from tracestore.builds where build_id = %s",
            build_id,
        )
    (row,) = rows
    if as_json:
        found = {"build_id": build_id, "index_version": row["hash"], "complete": not row["hidden"]}
        output.emit_json({**found, "members": members})
        return
    output.columns(
        [(m.doc_id, m.version_id, m.version_seq, m.version_state, m.content_sha256) for m in members],
        ("doc_id", "version_id", "version_seq", "version_state", "content_sha256"),
    )
    output.line(f"index version {row['hash']}")
    if row["hidden"]:
        output.warn("warning: labels may hide members from this role; an auditor sees them all")


def verify(build: Build, as_json: AsJson = False) -> None:
    """Check whether what was recorded of a build is still true.

    Exit code 4 if not. --json has the details of what is true, too.

    Example: tracestore verify B-7
    """
    build_id = parse_build_id(build)
    with open_store() as conn:
        checks = store.verify_build(conn, build_id)
    ok = all(check.ok for check in checks)
    if as_json:
        output.emit_json({"build_id": build_id, "ok": ok, "checks": checks})
    else:
        for check in checks:
            detail = f": {check.detail}" if check.detail and not check.ok else ""
            output.line(f"{'ok  ' if check.ok else 'FAIL'}  {check.check}{detail}")
    if not ok:
        raise typer.Exit(_FAILED)


def publish(
    build: Build,
    alias: Annotated[str, typer.Option("--alias", help="The alias that shall serve it.")],
    expect: Annotated[
        str | None, typer.Option(help="Only if the alias serves this build now; refuse otherwise.")
    ] = None,
    beside: Annotated[
        bool, typer.Option("--beside", help="Keep what the alias serves for other recipes.")
    ] = False,
    force: Annotated[
        bool,
        typer.Option("--force", help="Although it did not pass its gates; needs --reason, is on record."),
    ] = False,
    reason: Reason = None,
    as_json: AsJson = False,
) -> None:
    """Let an alias serve a build, from one moment to the next.

    Where its collection has gates, the build has to have passed them; exit code 4 if not.

    Example: tracestore publish B-7 --alias main --expect B-6
    """
    build_id = parse_build_id(build)
    expected = None if expect is None else parse_build_id(expect)
    with open_store() as conn:
        event = store.publish(
            conn, alias, build_id, expected_build_id=expected, beside=beside, reason=reason, force=force
        )
    if as_json:
        output.emit_json({"index_alias": alias, "build_id": build_id, "alias_event_id": event})
    else:
        output.line(f"alias {alias} serves B-{build_id}")


def list_aliases(as_json: AsJson = False) -> None:
    """List what each alias serves now.

    Example: tracestore alias list
    """
    with open_store() as conn:
        rows = store.table(conn, "select * from tracestore.aliases order by index_alias, recipe_id")
    if as_json:
        output.emit_json(rows)
        return
    names = ("index_alias", "collection", "recipe_id", "build_id", "since", "actor", "reason")
    output.table(rows, names)


def history(
    alias: Annotated[str | None, typer.Argument(metavar="ALIAS", help="Only this alias.")] = None,
    as_json: AsJson = False,
) -> None:
    """List every switch, latest first.

    Example: tracestore alias history main
    """
    with open_store() as conn:
        if alias is not None:
            require_alias(conn, alias)
        rows = store.table(
            conn,
            "select * from tracestore.alias_history where %s::text is null or index_alias = %s order by alias_event_id desc",
            alias,
            alias,
        )
    if as_json:
        output.emit_json(rows)
        return
    names = (
        "index_alias",
        "action",
        "from_build_id",
        "build_id",
        "recipe_id",
        "occurred_at",
        "actor",
        "reason",
        "forced",
    )
    output.table(rows, names)


add_command(alias_app, list_aliases, "list")
add_command(alias_app, history)
add_command(alias_app, retire)
