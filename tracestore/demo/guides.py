"""The demo corpus: 300 product guides and 120 questions, the same on every machine.

The reference figures depend on every character of the sentences and on the order of the random draws; the fingerprints
in ``tests/unit/test_guides_are_the_same_everywhere.py`` say so when one of them moves. Guides differ only in name and
numbers, and the body never repeats the name: what a chunk is about stands in its heading path.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, replace

from tracestore.errors import InputError
from tracestore.evaluation import GoldQuestion, gold_question

_SYLLABLES = ("ka", "lo", "mi", "ra", "ze", "tu", "vo", "ne", "si", "pa", "do", "fu")
_SYLLABLES_A_NAME = 3

_GUIDE = """\
# {name} Service Guide
## Returns
{returns} Opened items need the original packaging. Refunds go to the original payment method.
## Warranty
{warranty} Claims need proof of purchase. Accidental damage is not covered.
## Shipping
{shipping} A tracking link is sent when the parcel is dispatched. Orders over {free_over} dollars ship free.
"""

# One a kind of fact; the order is part of the draw. The kind is the gold item's slice.
_QUESTIONS = {
    "ret": "What is the return window for {name}?",
    "war": "How long is the warranty on {name}?",
    "ship": "How many days does standard shipping take for {name}?",
}


@dataclass(frozen=True, slots=True)
class Guide:
    """One version of a guide. ``answers`` maps a kind of fact to the sentence that states it."""

    doc_id: str
    version_id: str
    name: str
    text: str
    answers: dict[str, str]


@dataclass(frozen=True, slots=True)
class ChangeSet:
    """An update of the corpus: new versions of some guides, and a guide taken back."""

    edited: tuple[Guide, ...]
    withdrawn: Guide

    def apply(self, guides: Sequence[Guide]) -> tuple[Guide, ...]:
        """Return the corpus after the update, in the same order."""
        edited = {guide.doc_id: guide for guide in self.edited}
        kept = (guide for guide in guides if guide.doc_id != self.withdrawn.doc_id)
        return tuple(edited.get(guide.doc_id, guide) for guide in kept)


def make_guides(count: int = 300, seed: int = 7) -> tuple[Guide, ...]:
    """Return ``count`` guides in order of their ids, all of version v1; there are names for at most 1,728."""
    most = len(_SYLLABLES) ** _SYLLABLES_A_NAME
    if not 1 <= count <= most:
        raise InputError(f"the demo corpus has 1 to {most} guides, not {count}")
    draw = random.Random(seed)
    names: set[str] = set()
    while len(names) < count:
        names.add("".join(draw.choice(_SYLLABLES) for _ in range(_SYLLABLES_A_NAME)).capitalize())
    return tuple(_make_guide(name, draw) for name in sorted(names))


def make_questions(guides: Sequence[Guide], count: int = 120, seed: int = 11) -> tuple[GoldQuestion, ...]:
    """Return one question each about ``count`` of the guides, in the order drawn."""
    if not 1 <= count <= len(guides):
        raise InputError(f"{len(guides)} guides give 1 to {len(guides)} questions, not {count}")
    draw = random.Random(seed)
    by_id = {guide.doc_id: guide for guide in guides}
    items: list[GoldQuestion] = []
    for doc_id in draw.sample(sorted(by_id), count):
        guide = by_id[doc_id]
        kind = draw.choice(list(_QUESTIONS))
        items.append(
            gold_question(_QUESTIONS[kind].format(name=guide.name), doc_id, guide.answers[kind], kind)
        )
    return tuple(items)


def edit_sentence(guide: Guide) -> Guide:
    """Return the next version, in which the first sentence under Returns reads otherwise."""
    return _next_version(guide, "returned within", "returned within roughly")


def insert_sentence(guide: Guide) -> Guide:
    """Return the next version, in which a sentence comes first under Returns and everything after it moves."""
    return _next_version(guide, "## Returns\n", "## Returns\nReturns are free for members. ")


def edit_in_place(guide: Guide) -> Guide:
    """Return the guide with another text under the same version id: the mistake that evidence has to survive."""
    return replace(guide, text=_replaced(guide, "shipping takes", "shipping usually takes"))


def make_changes(guides: Sequence[Guide]) -> ChangeSet:
    """Return the update of the reference figures: the first three guides edited, the fourth withdrawn."""
    return ChangeSet(edited=tuple(map(edit_sentence, guides[:3])), withdrawn=guides[3])


def _make_guide(name: str, draw: random.Random) -> Guide:
    days, months, shipping_days = draw.randrange(7, 61), draw.randrange(3, 37), draw.randrange(2, 15)
    free_over = draw.randrange(20, 200, 10)
    answers = {
        "ret": f"Items may be returned within {days} days of delivery.",
        "war": f"Covered defects are repaired for {months} months.",
        "ship": f"Standard shipping takes {shipping_days} days.",
    }
    text = _GUIDE.format(
        name=name,
        returns=answers["ret"],
        warranty=answers["war"],
        shipping=answers["ship"],
        free_over=free_over,
    )
    return Guide(name.lower(), "v1", name, text, answers)


def _next_version(guide: Guide, old: str, new: str) -> Guide:
    number = int(guide.version_id.removeprefix("v")) + 1
    return replace(guide, version_id=f"v{number}", text=_replaced(guide, old, new))


def _replaced(guide: Guide, old: str, new: str) -> str:
    if old not in guide.text:
        raise InputError(
            f"guide {guide.doc_id} no longer says {old!r}",
            hint="start from a guide as make_guides returns it",
        )
    return guide.text.replace(old, new, 1)
