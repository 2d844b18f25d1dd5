"""Turn what was collected of an answer into one HTML page."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from tracestore.answers import Explanation, Replayed
from tracestore.report.answer import AnswerPage
from tracestore.report.template import fill, read

_NAMES = {
    "not_in_index": "not in the index",
    "not_allowed": "not allowed",
    "generator_choice": "the generator’s choice",
    "ranking": "ranking",
    "no_disagreement": "nothing disagrees",
    "tombstoned_since": "tombstoned since",
    "corrected_in_place": "corrected in place",
}

_BUILDS = ("build_id", "added_build", "came_with_build", "removed_by_build", "served")

_SHOWN_ELSEWHERE = ("answer_id", "retrieved", "query", "question", "answer", "answer_text", "text")


def render_answer(page: AnswerPage) -> str:
    """Return the page as HTML; ConfigError where the package that fills the template is not installed."""
    searches: dict[int | None, Replayed] = {row.retrieval_id: row for row in page.replays}
    return fill(
        "answer.html.j2",
        page=page,
        fields=[(name, value) for name, value in page.record.items() if name not in _SHOWN_ELSEWHERE],
        names=_NAMES,
        said=_said,
        words=_words,
        policies=_policies,
        settings=_settings,
        proof=_proof,
        replays=list(searches.values()),
        record=read(page.record),
    )


def _said(row: Explanation) -> str:
    """Return a verdict in words."""
    return row.sub_verdict.replace("_", " ") if row.sub_verdict else row.verdict


def _proof(row: Explanation) -> list[tuple[str, str]]:
    """Return what proves an explanation, as names and values; lists of passages by their place only."""
    return [
        (name.replace("_", " "), _builds(value) if name in _BUILDS else _words(value))
        for name, value in row.evidence.items()
        if value is not None and name not in ("missing", "items")
    ]


def _settings(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings of a search without what its policies did, which stands beside them."""
    return {name: value for name, value in settings.items() if name != "conflict_policy_fired"}


def _policies(fired: Any) -> str:
    """Return in a line what policies did with the revisions of a family; of another system whatever is on record."""
    if isinstance(fired, list):
        return "; ".join(map(_policies, fired))
    conflicts = fired.get("conflicts") if isinstance(fired, Mapping) else None
    if not isinstance(conflicts, list) or not all(isinstance(one, Mapping) for one in conflicts):
        return _words(fired)
    return "; ".join(
        f"{one.get('policy')} in family {one.get('family_id')}: kept {_revisions(one.get('kept'))}, dropped {_revisions(one.get('dropped'))}"
        for one in conflicts
    )


def _revisions(listed: Any) -> str:
    if not isinstance(listed, list) or not all(isinstance(one, Mapping) for one in listed):
        return _words(listed)
    return ", ".join(f"{one.get('doc_id')}@{one.get('version_id')}" for one in listed) or "nothing"


def _builds(value: int | list[int]) -> str:
    return ", ".join(f"B-{number}" for number in (value if isinstance(value, list) else [value]))


def _words(value: Any) -> str:
    """Return a value of a record as people read it; a time in UTC."""
    if isinstance(value, str) and value[10:11] == "T":
        try:
            return read(datetime.fromisoformat(value))
        except ValueError:
            return value
    return read(value)
