"""Families with several live revisions, and what a policy for conflicts has to make of candidates, step by step."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from tests.corpus import TableEmbedder, publish, register_words
from tracestore.build import IndexSettings, build
from tracestore.build.settings import AnnSettings
from tracestore.chunking import ChunkConfig
from tracestore.db import Connection
from tracestore.store import search
from tracestore.types import Hit

# Family, class, and when each of its documents took effect: the older ones become `unknown`, equals stay `current`.
FAMILIES: tuple[tuple[str, str | None, tuple[int, ...]], ...] = (
    ("travel", "policy", (2021, 2023, 2025)),
    ("meals", "policy", (2023, 2025)),
    ("cars", "policy", (2024, 2024)),
    ("news", "news", (2020, 2024)),
    ("notes", None, (2022, 2025)),
    ("alone", "policy", (2024,)),
)
EMBEDDER = TableEmbedder(8)
RECIPE = EMBEDDER.recipe.recipe_id
WORDS_OF_EACH = 5


def words_of(family: str, number: int) -> list[str]:
    """Return the words of a document of a family; each is a chunk."""
    return [f"{family}x{number}x{place}" for place in range(WORDS_OF_EACH)]


ALL_WORDS = [
    word for family, _, years in FAMILIES for number in range(len(years)) for word in words_of(family, number)
]
EMBEDDER.learn(
    dict(zip(ALL_WORDS, np.random.default_rng(6).standard_normal((len(ALL_WORDS), 8)), strict=True))
)


def make_families(conn: Connection, alias: str = "live", ann: AnnSettings | None = None) -> int:
    """Register the families in collection ``c`` and publish a build of them; return its number."""
    for family, kind, years in FAMILIES:
        for number, year in enumerate(years):
            record = {"family_id": family, "effective_from": f"{year}-01-01", "class": kind}
            register_words(conn, "c", f"{family}-{number}", words_of(family, number), **record)
    settings = IndexSettings(EMBEDDER.recipe, ChunkConfig(max_words=1), ann=ann)
    number = build(conn, "c", EMBEDDER, settings).build_id
    publish(conn, alias, number)
    return number


def decide(conn: Connection, kind: str | None, policy: str | None, collection: str = "c") -> int:
    """Set a policy; return the number of the decision, 0 where there was nothing to decide."""
    row = conn.execute(
        "select tracestore.set_conflict_policy(%s, %s, %s, 'test')", [collection, kind, policy]
    ).fetchone()
    assert row is not None
    return int(row[0] or 0)


def ask(conn: Connection, vector: Sequence[float] | None, k: int, **named: Any) -> list[Hit]:
    """Search the families."""
    return search(conn, named.pop("alias", "live"), vector, RECIPE, k, **named)


def expected(everything: Sequence[Hit], policies: Mapping[str | None, str], k: int) -> list[str]:
    """Look at one candidate more until there are k left; ``everything`` are the hits without policies."""
    classes = {family: kind for family, kind, _ in FAMILIES}

    def precedence(hit: Hit) -> Any:
        policy = policies.get(classes[hit.family_id], policies.get(None))
        if policy == "prefer_current":
            return hit.version_state == "current"
        return hit.effective_from if policy == "prefer_latest_effective" else 0

    for size in range(min(k, len(everything)), len(everything) + 1):
        window = everything[:size]
        left = [
            hit
            for hit in window
            if not any(o.family_id == hit.family_id and precedence(o) > precedence(hit) for o in window)
        ]
        if len(left) >= k or size == len(everything):
            return [hit.citation for hit in left]
    raise AssertionError


def fired(hits: Sequence[Hit]) -> dict[str, Any] | None:
    """Return what the policies did, which every hit says in the same words."""
    (found,) = {json.dumps(hit.settings.get("conflict_policy_fired")) for hit in hits}
    return None if found == "null" else json.loads(found)
