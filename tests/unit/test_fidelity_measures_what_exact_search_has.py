"""Recall against exact keys, stability over builds, classes of hardness: each on cases that can be done by hand."""

from __future__ import annotations

import pytest

from tracestore.errors import InputError
from tracestore.evaluation import ann_recall, hardness_classes, rebuild_stability, worst_decile
from tracestore.fidelity.measure import efforts


@pytest.mark.parametrize(
    ("found", "exact", "k", "recall"),
    [
        ([-0.9, -0.8], [-0.9, -0.8], 2, 1.0),
        ([-0.9, -0.7], [-0.9, -0.8], 2, 0.5),
        ([-0.7, -0.6], [-0.9, -0.8], 2, 0.0),
        ([-0.9], [-0.9, -0.8], 2, 0.5),  # a hit that is missing is missed
        ([], [-0.9, -0.8], 2, 0.0),
        ([-0.9, -0.8, -0.7], [-0.9, -0.8, -0.7], 10, 1.0),  # three members are all there is
        ([-0.9], [-0.9, -0.8, -0.7], 10, 1 / 3),
        ([], [], 10, 1.0),
        ([-0.5, -0.5], [-0.5, -0.5, -0.5, -0.5], 2, 1.0),  # which member of a tie does not matter
        ([-0.9, -0.8, -0.8], [-0.9, -0.8], 2, 1.0),  # more than k do not count
    ],
)
def test_recall_counts_what_is_as_near_as_the_last_exact_hit(
    found: list[float], exact: list[float], k: int, recall: float
) -> None:
    assert ann_recall(found, exact, k) == pytest.approx(recall)


def test_recall_of_nonsense_is_refused() -> None:
    for found, exact, k in (([-0.1, -0.9], [-0.9], 1), ([-0.9], [0.9, -0.9], 2), ([], [], 0)):
        with pytest.raises(InputError):
            ann_recall(found, exact, k)


def test_stability_is_the_share_of_questions_with_one_answer() -> None:
    first = [["a", "b", "c"], ["d", "e"], []]
    assert rebuild_stability([first, first, first], 10) == 1.0
    turned = [["b", "a", "c"], ["d", "e"], []]
    assert rebuild_stability([first, turned], 10) == pytest.approx(2 / 3)
    assert rebuild_stability([first, first, turned], 2) == pytest.approx(2 / 3)
    assert rebuild_stability([first, [["a", "b", "x"], ["d", "e"], []]], 2) == 1.0
    assert rebuild_stability([first, [["a", "b", "c"], ["d"], []]], 10) == pytest.approx(2 / 3)


@pytest.mark.parametrize("builds", [[], [[["a"]]], [[], []], [[["a"]], [["a"], ["b"]]]])
def test_stability_needs_builds_that_answered_the_same_questions(builds: list[list[list[str]]]) -> None:
    with pytest.raises(InputError):
        rebuild_stability(builds, 10)


def test_hardness_is_by_thirds_of_the_best_score() -> None:
    assert hardness_classes([0.2, 0.9, 0.5]) == ["hard", "easy", "middle"]
    assert hardness_classes([0.9, None, 0.8, 0.7, 0.1, 0.6]) == [
        "easy",
        "hard",
        "easy",
        "middle",
        "hard",
        "middle",
    ]
    assert hardness_classes([-0.2, None, 0.0]) == ["middle", "hard", "easy"]
    assert hardness_classes([0.5]) == ["easy"]
    assert hardness_classes([]) == []


def test_the_worst_tenth_has_at_least_one_value() -> None:
    assert worst_decile([1.0, 0.5]) == 0.5
    assert worst_decile([1.0] * 18 + [0.2, 0.4]) == pytest.approx(0.3)
    with pytest.raises(InputError):
        worst_decile([])


@pytest.mark.parametrize(
    ("kind", "lists", "k", "curve", "wanted"),
    [
        ("hnsw", 0, 10, False, [100]),
        ("hnsw", 0, 200, False, [400]),
        ("hnsw", 0, 10, True, [10, 20, 40, 80, 100, 160, 320, 640, 1000]),
        ("ivfflat", 40, 10, False, [1, 7]),
        ("ivfflat", 40, 10, True, [1, 2, 4, 7, 8, 16, 32, 40]),
        ("ivfflat", 1, 10, True, [1]),
    ],
)
def test_a_curve_goes_from_little_effort_to_the_most(
    kind: str, lists: int, k: int, curve: bool, wanted: list[int]
) -> None:
    assert efforts(kind, lists, k, curve) == wanted
