"""Every error tracestore raises on purpose.

TracestoreError
├── ConfigError          the installation, connection or environment needs a change
├── InputError           the caller's input is wrong; fix it and call again
│   ├── DocumentError    one document cannot be stored (``.source``, ``.offset``)
│   └── RecipeMismatch   the query was embedded by another recipe than the index
├── EmbeddingError       an embedder failed or answered nonsense (``.inputs``)
├── NotFound             the named thing does not exist
├── ConflictError        somebody else changed or holds the thing
├── GateFailed           a build may not be published
├── RefusedByPolicy      revisions contradict one another, and a policy refuses to choose
├── VerificationError    what was recorded is no longer true
├── SchemaOutOfDate      the database schema and this release do not fit (``.found``, ``.expected``)
└── StoreError           the database refused for a reason of its own (``.sqlstate``)
"""

from __future__ import annotations

from collections.abc import Sequence


class TracestoreError(Exception):
    """Say in one sentence what is wrong; ``hint`` says what to do."""

    exit_code = 1

    def __init__(self, message: str, *, hint: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


class ConfigError(TracestoreError):
    """The installation, connection or environment needs a change."""

    exit_code = 2


class InputError(TracestoreError):
    """The caller's input is wrong; fix it and call again."""

    exit_code = 2


class DocumentError(InputError):
    """One document cannot be stored.

    ``source`` names the file or the line of a file, ``offset`` is the byte or code point at fault.
    """

    def __init__(
        self, message: str, *, source: str, offset: int | None = None, hint: str | None = None
    ) -> None:
        super().__init__(message, hint=hint)
        self.source = source
        self.offset = offset


class RecipeMismatch(InputError):
    """The query was embedded by another recipe than the index."""


class EmbeddingError(TracestoreError):
    """An embedder failed or answered nonsense; ``inputs`` are the first characters of the texts at fault."""

    def __init__(self, message: str, *, inputs: Sequence[str] = (), hint: str | None = None) -> None:
        super().__init__(message, hint=hint)
        self.inputs = tuple(inputs)


class NotFound(TracestoreError):
    """The named thing does not exist."""

    exit_code = 3


class ConflictError(TracestoreError):
    """Somebody else changed or holds the thing."""


class GateFailed(TracestoreError):
    """A build may not be published."""

    exit_code = 4


class RefusedByPolicy(TracestoreError):
    """Revisions of a family contradict one another, and the policy of their class refuses to choose."""

    exit_code = 4


class VerificationError(TracestoreError):
    """What was recorded is no longer true."""

    exit_code = 4


class SchemaOutOfDate(TracestoreError):
    """The database schema and this release do not fit."""

    def __init__(self, message: str, *, found: str | None, expected: str, hint: str | None = None) -> None:
        super().__init__(message, hint=hint)
        self.found = found
        self.expected = expected


class StoreError(TracestoreError):
    """The database refused for a reason of its own; ``sqlstate`` is the driver's."""

    def __init__(self, message: str, *, sqlstate: str | None = None, hint: str | None = None) -> None:
        super().__init__(message, hint=hint)
        self.sqlstate = sqlstate
