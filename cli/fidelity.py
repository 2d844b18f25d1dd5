"""``tracestore fidelity``: how close to exact the answers of an approximate index are."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

from tracestore import store
from tracestore.db import Connection
from tracestore.embedders.base import embed_query
from tracestore.errors import InputError
from tracestore.fidelity import Measurement, ProbeSet, given_probes, measure, sampled_probes
from tracestore.recipes import load_embedder

from . import output
from .build import progress_bar
from .connection import open_store
from .names import build_or_alias
from .options import AsJson


def fidelity(
    place: Annotated[
        str,
        typer.Argument(
            metavar="BUILD_OR_ALIAS", help="A build such as B-7, or an alias.", show_default=False
        ),
    ],
    queries: Annotated[
        Path | None,
        typer.Option(
            help='Questions, a JSON Lines file: {"query": ...} or {"vector": [...]} a line.',
            show_default=False,
        ),
    ] = None,
    sample: Annotated[int, typer.Option(min=4, max=10_000, help="Questions to sample from the build.")] = 100,
    seed: Annotated[int, typer.Option(help="Another seed samples others.")] = 0,
    count: Annotated[int, typer.Option("--k", "-k", min=1, max=1_000, help="Hits a question.")] = 10,
    filter_: Annotated[
        str | None, typer.Option("--filter", help='Ask under a filter, as JSON: {"class": ["policy"]}.')
    ] = None,
    curve: Annotated[
        bool, typer.Option("--curve", help="Scan with one ef_search or number of probes after the other.")
    ] = False,
    floor: Annotated[float, typer.Option(min=0, max=1, help="The recall that is wanted.")] = 0.95,
    as_json: AsJson = False,
) -> None:
    """Measure how close to exact the answers of a build are, and keep what was measured.

    The sample is of stored passages: half under some noise, a quarter that came after the index was made, a quarter
    under so much noise that nothing is near. View tracestore.index_health says what to do about it.
    Exit code 4 when mode auto finds less than is wanted.
    Example: tracestore fidelity main --sample 200 --curve
    """
    wanted = _filter(filter_)
    with open_store() as conn:
        build_id, recipe_id = build_or_alias(conn, place)
        probes = _probes(conn, build_id, recipe_id, queries, sample, seed)
        with progress_bar() as on_progress:
            measured = measure(
                conn, build_id, probes, count, filter=wanted, curve=curve, floor=floor, progress=on_progress
            )
        health = store.table(
            conn,
            "select h.recommendation from tracestore.index_health h join tracestore.builds b using (index_id)"
            " where b.build_id = %s",
            build_id,
        )
    advice = health[0]["recommendation"] if health else None
    if as_json:
        output.emit_json(
            {
                "build_id": build_id,
                "probe_set": probes.name,
                "measurements": [asdict(each) for each in measured],
                "recommendation": advice,
            }
        )
    else:
        _print(build_id, probes, measured, advice)
    if any(each.mode == "auto" and each.recall < floor for each in measured):
        raise typer.Exit(4)


def _probes(
    conn: Connection, build_id: int, recipe_id: str, queries: Path | None, sample: int, seed: int
) -> ProbeSet:
    if queries is None:
        return sampled_probes(conn, build_id, sample, seed)
    embedder: Any = None

    def embed(question: str) -> Any:
        nonlocal embedder
        embedder = embedder or load_embedder(recipe_id)  # a file of vectors needs no model
        return embed_query(embedder, question)

    return given_probes(conn, build_id, queries, embed)


def _print(build_id: int, probes: ProbeSet, measured: list[Measurement], advice: str | None) -> None:
    output.line(
        f"B-{build_id}, probe set {probes.name}: {output.counted(len(probes.probes), 'question')}"
        + (f", {probes.skipped} skipped" if probes.skipped else "")
        + f", k {measured[0].match_count}, exact {measured[0].exact_ms:.1f} ms"
    )
    output.columns(
        [
            [
                each.mode if each.effort is None else f"scan {each.effort}",
                f"{each.recall:.3f}",
                f"{each.recall_worst_decile:.3f}",
                f"{each.recall_least:.3f}",
                f"{each.same_order:.3f}",
                f"{100 * each.by_index:.0f} %",
                *("-" if value is None else f"{value:.0f}" for value in (each.candidates, each.pages)),
                f"{each.ms:.1f}",
                _parts(each.recall_by["hardness"]),
                _parts(each.recall_by["kind"]),
            ]
            for each in measured
        ],
        [
            "mode",
            "recall",
            "worst tenth",
            "least",
            "same order",
            "by index",
            "rows",
            "pages",
            "ms",
            "by hardness",
            "by kind",
        ],
    )
    output.line(f"recommendation: {advice}")


def _parts(recalls: dict[str, float]) -> str:
    return " ".join(f"{name} {recall:.2f}" for name, recall in recalls.items())


def _filter(text: str | None) -> Any:
    if text is None:
        return None
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        raise InputError(
            f"--filter is not JSON: {error.msg} at character {error.pos}",
            hint='for example {"class": ["policy"]}',
        ) from None
