"""Answers of an embedding server are paired by ``index``; what does not pair names the inputs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tracestore.embedders.base import AnswerError
from tracestore.embedders.remote import pair_by_index

CASES = Path(__file__).parents[1] / "cases"


def case(name: str) -> Any:
    return json.loads((CASES / f"embeddings-{name}.json").read_text())


def answer(*entries: tuple[Any, Any]) -> dict[str, Any]:
    return {"data": [{"index": index, "embedding": numbers} for index, numbers in entries]}


def test_out_of_order_answers_land_at_their_index() -> None:
    vectors = pair_by_index(case("out-of-order"), 3, 3)
    assert vectors.dtype == np.float32
    assert vectors.tolist() == np.eye(3).tolist()


def test_a_missing_vector_names_its_input() -> None:
    with pytest.raises(AnswerError, match="without a vector for 1 of 3 inputs") as caught:
        pair_by_index(case("short"), 3, 3)
    assert caught.value.rows == (1,)


def test_nan_infinity_and_null_are_named_and_zero_is_not_among_them() -> None:
    with pytest.raises(AnswerError, match="NaN") as caught:
        pair_by_index(case("nan"), 5, 3)
    assert caught.value.rows == (1, 2, 4)


@pytest.mark.parametrize(("width", "rows"), [(3, (1,)), (2, (0,)), (None, (1,))])
def test_another_dimension_is_named(width: int | None, rows: tuple[int, ...]) -> None:
    with pytest.raises(AnswerError, match="dimensions instead of") as caught:
        pair_by_index(case("mixed-dims"), 2, width)
    assert caught.value.rows == rows


@pytest.mark.parametrize(
    ("broken", "rows"),
    [
        (answer((0, [1.0]), (0, [1.0])), (10,)),
        (answer((0, [1.0]), (2, [1.0])), (10, 11)),
        (answer((0, [1.0]), (-1, [1.0])), (10, 11)),
        (answer((0, [1.0]), (True, [1.0])), (10, 11)),
        (answer((0, [1.0]), ("1", [1.0])), (10, 11)),
        (answer((0, [1.0]), (None, [1.0])), (10, 11)),
        (answer((0, [1.0]), (1, "AACAPw==")), (10, 11)),
        (answer((0, [1.0]), (1, [])), (11,)),
        (answer((0, [1.0]), (1, ["1"])), (11,)),
        (answer((0, [1.0]), (1, [True])), (11,)),
        (answer((0, [1.0]), (1, [[1.0]])), (11,)),
        (answer((0, [1.0]), (1, [10**400])), (11,)),
        (answer((0, [1.0]), (1, [float("-inf")])), (11,)),
        ({"data": [{"index": 0, "embedding": [1.0]}, "text"]}, (10, 11)),
        ({"data": {}}, (10, 11)),
        ({"error": "busy"}, (10, 11)),
        ([], (10, 11)),
        (None, (10, 11)),
    ],
)
def test_any_other_shape_is_an_error(broken: object, rows: tuple[int, ...]) -> None:
    with pytest.raises(AnswerError) as caught:
        pair_by_index(broken, 2, 1, first=10)
    assert caught.value.rows == rows


def test_an_empty_vector_is_no_dimension() -> None:
    with pytest.raises(AnswerError, match="0 dimensions instead of one or more"):
        pair_by_index(answer((0, [])), 1, None)
