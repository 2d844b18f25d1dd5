"""The gate coverage: every sentence, list item, table row and code line of a member is inside a chunk."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tracestore import store
from tracestore.chunking import ChunkConfig, Unit, chunk_text
from tracestore.chunking.blanks import NONBLANK_RUN
from tracestore.gates.floors import Floor
from tracestore.gates.subject import Subject
from tracestore.types import GateOutcome

_BATCH = 200
_NAMED = 5

Span = tuple[int, int]


@dataclass(slots=True)
class _Found:
    """Characters that are not blank, of how many texts, and where the first ones are that no chunk holds."""

    texts: int = 0
    characters: int = 0
    lost: int = 0
    places: int = 0
    first: tuple[str, ...] = ()


def gate_coverage(subject: Subject, floor: Floor) -> Iterator[GateOutcome]:
    """Cut each text again, for its units alone, and look where the chunks of the build leave one out.

    The budget does not matter: it decides which units share a chunk, not what a unit is. Texts are looked at once
    as long as nothing of them changes.
    """
    (row,) = store.table(
        subject.conn, "select tracestore.coverage_versions(%s) as version_keys", subject.build_id
    )
    keys: list[int] = row["version_keys"]
    found = _Found()
    for start in range(0, len(keys), _BATCH):
        for text in store.table(
            subject.conn,
            "select * from tracestore.coverage_claims(%s, %s)",
            subject.build_id,
            keys[start : start + _BATCH],
        ):
            _look(text, int(subject.settings["chunking"]["hard_limit"]), found)
    wanted = 1.0 if floor.floor is None else floor.floor
    share = 1.0 if not found.characters else 1 - found.lost / found.characters
    detail = f"{found.texts} texts looked at"
    if found.lost:
        detail += f", {found.lost} characters in no chunk; first: {', '.join(found.first)}"
    yield GateOutcome(
        "coverage", "characters in chunks", "", "", None, share >= wanted, share, wanted, detail, None
    )


def _look(row: dict[str, object], hard_limit: int, found: _Found) -> None:
    text, starts, ends = row["content"], row["span_starts"], row["span_ends"]
    assert isinstance(text, str)
    assert isinstance(starts, list)
    assert isinstance(ends, list)
    config = ChunkConfig(hard_limit=hard_limit)
    units = chunk_text(text, config, media_type=str(row["media_type"])).units
    found.texts += 1
    for unit in units:
        found.characters += sum(
            run.end() - run.start() for run in NONBLANK_RUN.finditer(text, unit.start, unit.end)
        )
    for start, end in _left_out(text, units, list(zip(starts, ends, strict=True))):
        found.lost += end - start
        found.places += 1
        if found.places <= _NAMED:
            found.first += (f"{row['doc_id']} {row['version_id']} from {start} to {end}",)


def _left_out(text: str, units: Sequence[Unit], spans: Sequence[Span]) -> Iterator[Span]:
    """Yield what is not blank in a unit and in no span; both in order and without overlap among themselves."""
    place = 0
    for unit in units:
        begin = unit.start
        while place < len(spans) and spans[place][1] <= begin:
            place += 1
        at = place
        while begin < unit.end:
            start, end = spans[at] if at < len(spans) else (unit.end, unit.end)
            for run in NONBLANK_RUN.finditer(text, begin, min(start, unit.end)):
                yield run.span()
            begin = max(begin, end)
            at += 1
