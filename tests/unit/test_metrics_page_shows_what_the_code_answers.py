"""The examples in ``docs/metrics.md`` run and give what the page shows."""

from __future__ import annotations

import doctest

from tests.shared import ROOT


def test_examples_of_the_page() -> None:
    page = ROOT / "docs" / "metrics.md"
    result = doctest.testfile(str(page), module_relative=False, encoding="utf-8")
    assert result.attempted > 0
    assert result.failed == 0
