"""``tracestore compare``: two builds on the same questions."""

from __future__ import annotations

from typing import Annotated

import typer

from tracestore import store
from tracestore.identity import parse_build_id
from tracestore.quality import Compared, EvaluationOptions, compare, evaluation_of, find_gold_set
from tracestore.quality.compare import Comparison, Discordant, Passage

from . import output
from .connection import open_store
from .evaluation import Gold, Hybrid, Mode, SearchOptions, SplitOption, parse_options
from .options import AsJson

A = Annotated[str, typer.Argument(metavar="A", help="A build: B-6 or 6.", show_default=False)]
B = Annotated[str, typer.Argument(metavar="B", help="The build to compare with it.", show_default=False)]


def comparison(
    a: A,
    b: B,
    gold: Gold,
    mode: Mode = "auto",
    hybrid: Hybrid = False,
    k: Annotated[int, typer.Option("--k", "-k", min=1, max=9999, help="The cutoff of hit and overlap.")] = 5,
    split: SplitOption = None,
    options: SearchOptions = None,
    limit: Annotated[int, typer.Option(min=0, help="Discordant questions to print for each cutoff.")] = 10,
    as_json: AsJson = False,
) -> None:
    """Compare two builds question by question: what only one of them answers, and whether chance could do that.

    Builds that were not yet evaluated in this way are evaluated first.
    Example: tracestore compare B-6 B-7 --gold faq
    """
    how = EvaluationOptions(mode, hybrid, max(k, 10), split, parse_options(options))
    builds = [parse_build_id(a), parse_build_id(b)]
    with open_store() as conn:
        for build_id in builds:
            store.require_build(conn, build_id)
        query = "select collection from tracestore.builds where build_id = %s"
        collection = store.table(conn, query, builds[0])[0]["collection"]
        gold_set = find_gold_set(conn, collection, gold)
        one, two = (evaluation_of(conn, build_id, gold_set, how) for build_id in builds)
        done = compare(conn, one, two, k)
    if as_json:
        output.emit_json(done)
    else:
        _print(done, limit)


def _print(done: Compared, limit: int) -> None:
    output.line(
        f"A: B-{done.build_a}, evaluation {done.evaluation_a}; B: B-{done.build_b}, evaluation {done.evaluation_b}"
    )
    asked = f"{output.counted(done.questions, 'question')} of gold set {done.gold_set} asked of both"
    output.line(asked + (f", {done.unpaired} of one only and left out" if done.unpaired else ""))
    output.line(
        f"first {done.k} hits: {done.overlap:.3f} the same passages, {done.document_overlap:.3f} the same documents"
    )
    output.line(
        f"answers of A found again in B: {done.anchors_kept} of {done.labels} by their words,"
        f" {done.labels_kept} by chunk number"
    )
    output.line()
    header = [
        "slice",
        "metric",
        "questions",
        "A",
        "B",
        "B - A",
        "95 % interval",
        "by ties",
        "only A",
        "only B",
        "p",
        "p (Holm)",
        "detectable",
    ]
    output.columns([_row(one) for one in done.comparisons], header)
    if any(not one.difference.survives_ties and one.difference.value for one in done.comparisons):
        output.line("* another order of ties could undo the difference")
    for cutoff in sorted({one.cutoff for one in done.discordant}):
        found = [one for one in done.discordant if one.cutoff == cutoff]
        output.line()
        output.line(f"answered within {cutoff} by one only: {len(found)}")
        for one in found[:limit]:
            _print_discordant(one)
        if len(found) > limit:
            output.line(f"... and {len(found) - limit} more; --limit {len(found)}")


def _row(one: Comparison) -> list[object]:
    change, test = one.difference, one.sign_test
    mark = "*" if change.value and not change.survives_ties else ""
    return [
        one.slice or "all",
        one.metric,
        one.questions,
        f"{one.a:.3f}",
        f"{one.b:.3f}",
        f"{change.value:+.3f}{mark}",
        f"{change.low:+.3f} .. {change.high:+.3f}",
        f"{change.worst:+.3f} .. {change.best:+.3f}",
        None if test is None else test.only_a,
        None if test is None else test.only_b,
        None if test is None else _chance(test.p_value),
        None if test is None or test.holm is None else _chance(test.holm),
        f"{change.detectable:.3f}",
    ]


def _chance(p_value: float) -> str:
    return "<0.0001" if p_value < 0.0001 else f"{p_value:.4f}"


def _print_discordant(one: Discordant) -> None:
    slices = f"  [{', '.join(one.slices)}]" if one.slices else ""
    output.line()
    output.line(
        f"only {one.answered_by.upper()}{'' if one.survives_ties else ' *'}  {one.question_id}{slices}"
    )
    output.line(one.query or "(erased)")
    for name, passage in (("A", one.top_a), ("B", one.top_b)):
        output.line(f"{name}: {_passage(passage)}")


def _passage(passage: Passage | None) -> str:
    if passage is None:
        return "(nothing)"
    return f"{passage.text or '(erased)'}  [{passage.doc_id}@{passage.version_id} {passage.span_start},{passage.span_end}]"
