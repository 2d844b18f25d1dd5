"""``tracestore check``, ``gate`` and ``canary``: what a build has to pass before it is published."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from tracestore import store
from tracestore.db import driver_errors
from tracestore.errors import InputError
from tracestore.gates import SMALL, STANDARD, Check, Floor, check_build, junit_xml, profile_of, set_profile
from tracestore.gates.check import require_gate
from tracestore.gates.floors import set_floor
from tracestore.gates.junit import name_of, say
from tracestore.identity import parse_build_id

from . import output
from .connection import open_store
from .names import require_collection
from .options import AsJson, Build, Collection, InCollection, NeededReason, Reason, add_command, command_group

gate_app = command_group("What builds of a collection have to pass.")
canary_app = command_group("Documents that no search may return any more.")

_FAILED = 4


def check(
    build: Build,
    small: Annotated[
        bool, typer.Option("--small", help="Only what a small corpus needs: spans, manifest, two canaries.")
    ] = False,
    only: Annotated[
        list[str] | None, typer.Option("--only", metavar="GATE", help="Only this gate; again for more.")
    ] = None,
    alias: Annotated[
        str | None,
        typer.Option(
            "--alias", help="Compare with what this alias serves (default: with all that is served)."
        ),
    ] = None,
    junit: Annotated[
        Path | None, typer.Option("--junit", metavar="FILE", help="Write the results as JUnit XML, too.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Look whether a build is fit to be published, and keep what was found.

    Exit code 4 if not. It looks through the gates of the collection, or through the standard ones where it has none.

    Example: tracestore check B-7 --junit check.xml
    """
    build_id = parse_build_id(build)
    with open_store() as conn:
        found = check_build(conn, build_id, small=small, only=only or (), alias=alias)
    if junit is not None:
        _write(junit, junit_xml(found))
    _print(found, as_json)
    if not found.ok:
        raise typer.Exit(_FAILED)


def _print(found: Check, as_json: bool) -> None:
    if as_json:
        output.emit_json(
            {
                "build_id": found.build_id,
                "gate_check_id": found.gate_check_id,
                "ok": found.ok,
                "results": found.results,
            }
        )
        return
    for result in found.results:
        said = say(result)
        output.line(
            f"{'ok  ' if result.ok else 'FAIL'}  {result.gate}: {name_of(result)}{': ' + said if said else ''}"
        )
    failed = sum(not result.ok for result in found.results)
    output.line(
        f"B-{found.build_id}: {output.counted(len(found.results), 'result')}, {failed or 'none'} failed"
    )


def _write(path: Path, text: str) -> None:
    try:
        path.write_text(text, "utf-8")
    except OSError as error:
        raise InputError(
            f"cannot write {path}: {error.strerror}", hint="name a file in a folder of yours"
        ) from error


def set_(
    collection: Collection,
    gate: Annotated[
        str | None, typer.Argument(metavar="[GATE]", help="The gate.", show_default=False)
    ] = None,
    floor: Annotated[
        float | None, typer.Option(help="What is just good enough (default: the gate's own).")
    ] = None,
    measure: Annotated[str, typer.Option(help="The figure, for a gate with several, such as hit@5.")] = "",
    slice_: Annotated[
        str, typer.Option("--slice", help="Only questions with this label; * for each label by itself.")
    ] = "",
    gold_set: Annotated[
        str, typer.Option("--gold", help="The gold set, for a gate that asks questions.")
    ] = "",
    settings: Annotated[
        str | None, typer.Option(help='How the gate looks, as JSON: {"automatic": 5}.', show_default=False)
    ] = None,
    small: Annotated[
        bool, typer.Option("--small", help="All at once: what a small corpus needs, and nothing else.")
    ] = False,
    standard: Annotated[
        bool,
        typer.Option("--standard", help="All at once: every gate that needs no questions, and nothing else."),
    ] = False,
    reason: Reason = None,
    as_json: AsJson = False,
) -> None:
    """Switch a gate of a collection on, or change its floor: `publish` refuses a build that did not pass it.

    Example: tracestore gate set guides --standard --reason "release process"
    """
    if (gate is not None) + small + standard != 1:
        raise InputError("say one of GATE, --small and --standard", hint="`tracestore gate set --help`")
    with open_store() as conn:
        require_collection(conn, collection)
        if gate is None:
            chosen = profile_of(conn, collection, SMALL if small else STANDARD)
            set_profile(conn, collection, chosen, reason)
        else:
            require_gate(gate)
            parsed = _parse_settings(settings)
            set_floor(conn, collection, Floor(gate, floor, measure, slice_, gold_set, parsed), reason)
    _show(collection, as_json)


def _parse_settings(text: str | None) -> dict[str, Any]:
    try:
        found = json.loads(text or "{}")
    except json.JSONDecodeError as error:
        raise InputError(
            f"--settings is not JSON: {error.msg}", hint='for example {"automatic": 5}'
        ) from None
    if not isinstance(found, dict):
        raise InputError("--settings is not a JSON object", hint='for example {"automatic": 5}')
    return found


def list_gates(collection: Collection, as_json: AsJson = False) -> None:
    """List what builds of a collection have to pass.

    Example: tracestore gate list guides
    """
    with open_store() as conn:
        require_collection(conn, collection)
    _show(collection, as_json)


def _show(collection: str, as_json: bool) -> None:
    with open_store() as conn:
        rows = store.table(
            conn,
            "select * from tracestore.gates where collection = %s and in_force order by gate_floor_id",
            collection,
        )
    if as_json:
        output.emit_json(rows)
    elif rows:
        output.table(
            rows, ("gate", "measure", "slice", "gold_set", "floor", "settings", "set_at", "actor", "reason")
        )
    else:
        output.line(f"builds of {collection} are published without gates")


def off(
    collection: Collection,
    gate: Annotated[str | None, typer.Argument(metavar="[GATE]", help="The gate (default: all).")] = None,
    reason: NeededReason = "",
    as_json: AsJson = False,
) -> None:
    """Switch a gate of a collection off, with all its floors.

    Example: tracestore gate off guides near_duplicates --reason "two editions on purpose"
    """
    if gate is not None:
        require_gate(gate)
    with open_store() as conn, driver_errors():
        conn.execute("select tracestore.drop_gate(%s, %s, %s)", [collection, gate, reason])
    _show(collection, as_json)


def add(
    doc_id: Annotated[
        str, typer.Argument(metavar="DOC_ID", help="A document, or DOC_ID@VERSION_ID.", show_default=False)
    ],
    collection: InCollection,
    question: Annotated[
        str | None, typer.Option(help="A question it would answer (default: its own passages are asked for).")
    ] = None,
    reason: Reason = None,
    as_json: AsJson = False,
) -> None:
    """Keep watch over a document that was withdrawn: the gate `canaries` asks for it in every mode.

    Example: tracestore canary add recall-2023.md --collection guides --reason "product recall"
    """
    with open_store() as conn:
        document, version = store.find_version(conn, collection, doc_id)
        canary = store.add_canary(conn, collection, document, version, query=question, reason=reason)
    if as_json:
        output.emit_json({"canary_id": canary, "doc_id": document, "version_id": version})
    else:
        output.line(f"canary {canary} watches {doc_id}")


def list_canaries(
    collection: Annotated[
        str | None, typer.Argument(metavar="COLLECTION", help="Only of this collection.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """List the documents that no search may return.

    Example: tracestore canary list guides
    """
    with open_store() as conn:
        if collection is not None:
            require_collection(conn, collection)
        rows = store.table(
            conn,
            "select * from tracestore.canaries where %s::text is null or collection = %s order by canary_id",
            collection,
            collection,
        )
    if as_json:
        output.emit_json(rows)
        return
    output.table(
        rows, ("canary_id", "collection", "doc_id", "version_id", "query", "added_at", "reason", "retired_at")
    )


def retire(
    canary: Annotated[int, typer.Argument(metavar="CANARY", help="Its number.", show_default=False)],
    reason: NeededReason,
    as_json: AsJson = False,
) -> None:
    """End a watch, since the document may be found again.

    Example: tracestore canary retire 3 --reason "restored on purpose"
    """
    with open_store() as conn:
        retired = store.retire_canary(conn, canary, reason=reason)
    if as_json:
        output.emit_json({"canary_id": canary, "retired": retired})
    else:
        output.line(f"canary {canary} {'is retired' if retired else 'was retired before'}")


add_command(gate_app, set_, "set")
add_command(gate_app, list_gates, "list")
add_command(gate_app, off)
add_command(canary_app, add)
add_command(canary_app, list_canaries, "list")
add_command(canary_app, retire)
