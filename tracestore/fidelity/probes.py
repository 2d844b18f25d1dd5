"""Questions with which an approximate index is measured: sampled from its build, or given in a file."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, LiteralString

import numpy as np
from numpy.typing import NDArray
from psycopg.types.json import Jsonb

from tracestore import store
from tracestore.db import Connection, driver_errors
from tracestore.errors import InputError

Vector = NDArray[np.float32]

# Length of the noise on a unit vector. A stored vector as it is would be too easy a question: it is its own answer, and
# the first that a graph meets. With 0.5 the cosine to it is 0.89, as of a question to the passage that answers it; with
# 4 it is 0.24, and nothing is near.
NOISE = {"near": 0.5, "recent": 0.5, "far": 4.0}


@dataclass(frozen=True, slots=True)
class Probe:
    """A question as a vector, shape ``(dimension,)``, and its kind: near, recent, far or given."""

    ordinal: int
    kind: str
    vector: Vector


@dataclass(frozen=True, slots=True)
class ProbeSet:
    """Questions that can be asked of a build. ``skipped`` counts those whose chunk is no member of it any more."""

    probe_set_id: int
    name: str
    probes: tuple[Probe, ...]
    skipped: int


def sampled_probes(conn: Connection, build_id: int, count: int, seed: int = 0) -> ProbeSet:
    """Return about ``count`` questions sampled from a build: the same ones each time.

    A quarter is *far*: stored vectors under so much noise that nothing is near. Another quarter is *recent*, where
    anything came after the approximate index was made; the others are *near*. The sample names chunks and holds no
    vector, so erasing a document takes its questions too.
    """
    name = f"{count} of B-{build_id}, seed {seed}"
    number = _number(conn, "select tracestore.draw_probes(%s, %s, %s, %s)", build_id, name, count, seed)
    return _load(conn, build_id, number, name, seed)


def given_probes(
    conn: Connection, build_id: int, path: Path, embed: Callable[[str], Vector] | None = None
) -> ProbeSet:
    """Return the questions of a JSON Lines file: ``{"query": "..."}`` or ``{"vector": [...]}`` a line.

    Other keys are left alone, so a file of gold questions serves as well. ``embed`` turns words into a vector.
    Raises InputError with file and line.
    """
    content = _read(path)
    name = f"{path.name} {hashlib.sha256(content).hexdigest()[:12]}"
    queries = list(_parse(content, path))
    number = _number(conn, "select tracestore.keep_probes(%s, %s, %s)", build_id, name, Jsonb(queries))
    return _load(conn, build_id, number, name, 0, embed)


def _load(
    conn: Connection,
    build_id: int,
    number: int,
    name: str,
    seed: int,
    embed: Callable[[str], Vector] | None = None,
) -> ProbeSet:
    rows = store.table(conn, "select * from tracestore.probes_of(%s, %s)", number, build_id)
    probes = []
    for row in rows:
        if row["vec"] is not None:
            vector = np.asarray(row["vec"].to_numpy(), np.float32)
        elif row["query_text"] is not None and embed is not None:
            vector = embed(row["query_text"])
        else:
            continue
        probes.append(
            Probe(row["ordinal"], row["kind"], _disturbed(vector, row["kind"], seed, row["ordinal"]))
        )
    if not probes:
        raise InputError(
            f"probe set {name!r} has no question left to ask of B-{build_id}",
            hint="sample with another --seed",
        )
    return ProbeSet(number, name, tuple(probes), len(rows) - len(probes))


def _disturbed(vector: Vector, kind: str, seed: int, ordinal: int) -> Vector:
    """Return the vector under the noise of its kind, the same for the same seed and ordinal."""
    if kind not in NOISE:
        return vector
    noise = np.random.default_rng([seed % 2**63, ordinal]).standard_normal(vector.shape)
    turned = vector + NOISE[kind] * noise / np.linalg.norm(noise)
    return np.asarray(turned / np.linalg.norm(turned), np.float32)


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise InputError(f"cannot read the questions {path}: {error.strerror}") from error


def _parse(content: bytes, path: Path) -> Iterator[dict[str, Any]]:
    for number, line in enumerate(content.split(b"\n"), start=1):
        if not line.strip():
            continue
        try:
            fields = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise InputError(f"{path}:{number} is not JSON: {error}") from error
        given = {key: fields.get(key) for key in ("query", "vector")} if isinstance(fields, dict) else {}
        words, vector = given.get("query"), given.get("vector")
        if isinstance(words, str) and words.strip():
            yield {"query": words}
        elif isinstance(vector, list) and vector and all(isinstance(part, int | float) for part in vector):
            yield {"vector": vector}
        else:
            raise InputError(
                f"{path}:{number} has neither a query nor a vector", hint='a line looks like {"query": "..."}'
            )


def _number(conn: Connection, query: LiteralString, *parameters: object) -> int:
    with driver_errors():
        row = conn.execute(query, list(parameters)).fetchone()
    assert row is not None
    return int(row[0])
