"""Which chunks of a build answer a question, and whether a hit does: by the words, never by a label of a chunk."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from tracestore.evaluation.anchors import Span

Border = Literal["crossed", "not_chunked"]
ChunkKey = tuple[int, int]  # version_key, ordinal


@dataclass(frozen=True, slots=True)
class Place:
    """Where an anchor stands in one version, perhaps more than once."""

    version_key: int
    spans: tuple[Span, ...]


@dataclass(frozen=True, slots=True)
class Answer:
    """What counts as an answer to a question in one build.

    ``border`` is the worst that befell one of its anchors: ``crossed``, no chunk held all of it, so the one that held
    most counts; ``not_chunked``, no searchable chunk held any of it, so only a context can.
    """

    chunks: frozenset[ChunkKey]
    places: Mapping[int, tuple[Span, ...]]
    border: Border | None

    def is_given_by(self, chunk: ChunkKey) -> bool:
        """Tell whether a chunk answers."""
        return chunk in self.chunks

    def stands_in(self, version_key: int, context: Span) -> bool:
        """Tell whether a range of a version has all of an anchor."""
        return any(_covers(context, span) for span in self.places.get(version_key, ()))


def find_answer(places: Iterable[Place], chunks: Mapping[int, Sequence[tuple[int, Span]]]) -> Answer:
    """Judge the chunks of a build; ``chunks`` are (ordinal, span) by version, in order of span.

    A chunk answers when its span covers a place of an anchor. Where a version has the anchor, and none of its chunks
    covers any place of it, the chunks that hold most of it stand in: an answer that was cut is not an answer lost.
    """
    found: set[ChunkKey] = set()
    spans: dict[int, tuple[Span, ...]] = {}
    borders: set[Border] = set()
    for place in places:
        spans[place.version_key] = spans.get(place.version_key, ()) + place.spans
        of_version = chunks.get(place.version_key, ())
        covering = [
            ordinal for ordinal, chunk in of_version if any(_covers(chunk, span) for span in place.spans)
        ]
        if not covering:
            covering = _fullest(place.spans, of_version)
            borders.add("crossed" if covering else "not_chunked")
        found.update((place.version_key, ordinal) for ordinal in covering)
    worst: Border | None = "not_chunked" if "not_chunked" in borders else "crossed" if borders else None
    return Answer(frozenset(found), spans, worst)


def _fullest(spans: Sequence[Span], chunks: Sequence[tuple[int, Span]]) -> list[int]:
    shares = [(max(_shared(chunk, span) for span in spans), ordinal) for ordinal, chunk in chunks]
    most = max((share for share, _ in shares), default=0)
    return [ordinal for share, ordinal in shares if share == most] if most > 0 else []


def _covers(outer: Span, inner: Span) -> bool:
    return outer[0] <= inner[0] and inner[1] <= outer[1]


def _shared(one: Span, other: Span) -> int:
    return min(one[1], other[1]) - max(one[0], other[0])
