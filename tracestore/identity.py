"""Names that are computed: citations, content keys, manifest hashes. Equal to their SQL twins in ``sql/functions``."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable
from dataclasses import dataclass
from urllib.parse import quote, unquote_to_bytes

from tracestore.errors import InputError

MANIFEST_FORMAT = "tracestore-manifest-1"

_CITATION = re.compile(
    r"tracestore:([^/@#]+)/([^/@#]+)@([^/@#]+)#char=([0-9]{1,10}),([0-9]{1,10});sha256=([0-9a-f]{16})"
)
_STRAY_PERCENT = re.compile(r"%(?![0-9A-Fa-f]{2})")
_BUILD = re.compile(r"(?:[Bb]-)?([0-9]{1,18})")


@dataclass(frozen=True, slots=True)
class Citation:
    """What a citation URI names: a span of a version, in code points, and the beginning of its SHA-256."""

    collection: str
    doc_id: str
    version_id: str
    span_start: int
    span_end: int
    sha256_prefix: str

    def __str__(self) -> str:
        """Return the URI: a text fragment in the form of RFC 5147, everything but unreserved characters encoded."""
        ids = [percent_encode(part) for part in (self.collection, self.doc_id, self.version_id)]
        return (
            f"tracestore:{ids[0]}/{ids[1]}@{ids[2]}"
            f"#char={self.span_start},{self.span_end};sha256={self.sha256_prefix}"
        )

    @classmethod
    def of(cls, collection: str, doc_id: str, version_id: str, start: int, passage: str) -> Citation:
        """Return the citation of ``passage``, which begins at code point ``start``."""
        digest = hashlib.sha256(passage.encode()).hexdigest()
        return cls(collection, doc_id, version_id, start, start + len(passage), digest[:16])

    @classmethod
    def parse(cls, text: str) -> Citation:
        """Take a citation URI apart; InputError for anything else."""
        match = _CITATION.fullmatch(text)
        if match is None or int(match[4]) > int(match[5]):
            raise InputError(
                f"not a tracestore citation: {text[:200]!r}",
                hint="a citation reads tracestore:COLLECTION/DOC_ID@VERSION_ID#char=START,END;sha256=HEX16",
            )
        collection, doc_id, version_id = (percent_decode(match[part]) for part in (1, 2, 3))
        return cls(collection, doc_id, version_id, int(match[4]), int(match[5]), match[6])


def percent_encode(label: str) -> str:
    """Encode every byte outside ``A-Z a-z 0-9 - . _ ~`` (the unreserved characters of RFC 3986), upper-case hex."""
    return quote(label, safe="")


def percent_decode(encoded: str) -> str:
    """Undo :func:`percent_encode`; InputError for a stray ``%`` and for bytes that are no text Postgres can hold."""
    if _STRAY_PERCENT.search(encoded):
        raise InputError(
            f"a % is not followed by two hexadecimal digits: {encoded[:200]!r}", hint="percent-encode the id"
        )
    try:
        label = unquote_to_bytes(encoded).decode()
    except UnicodeError:  # bytes that are not UTF-8, or half a surrogate pair
        label = "\0"
    if "\0" in label:
        raise InputError(
            f"percent-encoded bytes are not UTF-8: {encoded[:200]!r}",
            hint="percent-encode the UTF-8 bytes of the id",
        )
    return label


def parse_build_id(text: str) -> int:
    """Read ``B-7`` or ``7``."""
    match = _BUILD.fullmatch(text.strip())
    if match is None:
        raise InputError(
            f"{text!r} is not a build", hint="builds read B-7 or 7; `tracestore builds` lists them"
        )
    return int(match[1])


def canonical_json(value: object) -> str:
    """Return the one spelling of a JSON value that is hashed: keys sorted, no spaces, no escapes but needed ones."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)


def length_prefixed(field: bytes) -> bytes:
    """Return a field with its length before it, four bytes, most significant first."""
    return len(field).to_bytes(4, "big") + field


def content_key(recipe_id: str, embedded_text: str) -> bytes:
    """Return the name of the vector of ``embedded_text`` under a recipe."""
    return hashlib.sha256(
        length_prefixed(recipe_id.encode()) + length_prefixed(embedded_text.encode())
    ).digest()


@dataclass(frozen=True, slots=True)
class ManifestEntry:
    """A member of a build as the manifest hashes it."""

    doc_id: str
    version_id: str
    version_state: str
    media_type: str
    content_sha256: bytes


def manifest_sha256(header: str, entries: Iterable[ManifestEntry]) -> bytes:
    """Return the index version of a build with this header and these members, in whatever order they come.

    Two levels: entries sorted by (doc_id, version_id) in code point order are hashed by bucket, the first byte
    of sha256(doc_id); header and bucket hashes are hashed together.
    """
    buckets: dict[int, list[tuple[str, str, bytes]]] = {}
    for entry in entries:
        fields = (entry.doc_id, entry.version_id, entry.version_state, entry.media_type)
        encoded = b"".join(length_prefixed(field.encode()) for field in fields)
        encoded += length_prefixed(entry.content_sha256)
        bucket = hashlib.sha256(entry.doc_id.encode()).digest()[0]
        buckets.setdefault(bucket, []).append((entry.doc_id, entry.version_id, encoded))
    whole = hashlib.sha256(length_prefixed(header.encode()))
    for bucket in sorted(buckets):
        level_one = b"".join(encoded for _, _, encoded in sorted(buckets[bucket]))
        whole.update(bytes([bucket]) + hashlib.sha256(level_one).digest())
    return whole.digest()
