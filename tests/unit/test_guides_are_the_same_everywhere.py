"""The demo corpus is drawn, not shipped: one moved draw or character would move every reference figure."""

from __future__ import annotations

import hashlib
from collections import Counter

import pytest

from tracestore.demo.guides import (
    edit_in_place,
    edit_sentence,
    insert_sentence,
    make_changes,
    make_guides,
    make_questions,
)
from tracestore.errors import InputError
from tracestore.evaluation import gold_question

GUIDES = make_guides()


def fingerprint(*texts: str) -> str:
    return hashlib.sha256("\0".join(texts).encode()).hexdigest()


def test_the_guides_have_their_fingerprint() -> None:
    assert len(GUIDES) == 300
    assert fingerprint(*(part for guide in GUIDES for part in (guide.doc_id, guide.text))) == (
        "828d055e5d0809264591b0e639dae05a3f081d6d4c67aa6adfd81f0b403dc686"
    )


def test_the_questions_have_their_fingerprint() -> None:
    questions = make_questions(GUIDES)
    parts = (
        (item.query, anchor.doc_id or "", anchor.words.quote, *item.slices)
        for item in questions
        for anchor in item.anchors
    )
    assert fingerprint(*(part for question in parts for part in question)) == (
        "3e8df2c18f48a4572f3de9214bc6853d5a6607791f05be06c304d042b0775a47"
    )
    assert Counter(item.slices[0] for item in questions) == {"ret": 47, "war": 33, "ship": 40}


def test_the_first_guide_reads_as_described() -> None:
    assert GUIDES[0].text == (
        "# Dodora Service Guide\n"
        "## Returns\n"
        "Items may be returned within 50 days of delivery. Opened items need the original packaging. "
        "Refunds go to the original payment method.\n"
        "## Warranty\n"
        "Covered defects are repaired for 9 months. Claims need proof of purchase. "
        "Accidental damage is not covered.\n"
        "## Shipping\n"
        "Standard shipping takes 13 days. A tracking link is sent when the parcel is dispatched. "
        "Orders over 160 dollars ship free.\n"
    )
    assert (GUIDES[0].doc_id, GUIDES[0].version_id) == ("dodora", "v1")


def test_the_first_question_reads_as_described() -> None:
    assert make_questions(GUIDES)[0] == gold_question(
        "How many days does standard shipping take for Tunelo?",
        "tunelo",
        "Standard shipping takes 14 days.",
        "ship",
    )


def test_each_answer_stands_in_its_guide_once_and_the_name_only_in_the_title() -> None:
    for guide in GUIDES:
        assert all(guide.text.count(answer) == 1 for answer in guide.answers.values())
        assert guide.text.count(guide.name) == 1


def test_guides_stand_in_order_of_their_ids() -> None:
    ids = [guide.doc_id for guide in GUIDES]
    assert ids == sorted(set(ids))


def test_an_edit_and_an_insertion_make_another_version() -> None:
    guide = GUIDES[5]
    edited, inserted = edit_sentence(guide), insert_sentence(guide)
    assert edited.version_id == inserted.version_id == "v2"
    assert edited.text == guide.text.replace("within ", "within roughly ")
    assert inserted.text == guide.text.replace("Items may", "Returns are free for members. Items may")
    assert insert_sentence(edited).version_id == "v3"


def test_an_edit_in_place_keeps_the_version() -> None:
    guide = GUIDES[5]
    edited = edit_in_place(guide)
    assert (edited.doc_id, edited.version_id) == (guide.doc_id, guide.version_id)
    assert edited.text == guide.text.replace("Standard shipping takes", "Standard shipping usually takes")
    with pytest.raises(InputError, match="no longer says"):
        edit_in_place(edited)


def test_the_update_edits_three_guides_and_withdraws_one() -> None:
    changes = make_changes(GUIDES)
    after = changes.apply(GUIDES)
    assert len(after) == 299
    assert [guide.version_id for guide in after[:4]] == ["v2", "v2", "v2", "v1"]
    assert changes.withdrawn.doc_id not in {guide.doc_id for guide in after}
    assert after[3:] == GUIDES[4:]


def test_another_seed_draws_other_guides_and_questions() -> None:
    assert make_guides(seed=8) != GUIDES
    assert make_questions(GUIDES, seed=12) != make_questions(GUIDES)


@pytest.mark.parametrize("count", [0, 1729])
def test_more_guides_than_names_are_refused(count: int) -> None:
    with pytest.raises(InputError, match=f"1 to 1728 guides, not {count}"):
        make_guides(count)


def test_more_questions_than_guides_are_refused() -> None:
    with pytest.raises(InputError, match="3 guides give 1 to 3 questions, not 4"):
        make_questions(GUIDES[:3], 4)
