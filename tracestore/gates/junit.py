"""A check as JUnit XML, which CI systems show as tests."""

from __future__ import annotations

import re
from xml.etree import ElementTree

from tracestore.gates.check import Check
from tracestore.types import GateOutcome

# XML 1.0 has no place for these, escaped or not.
_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def junit_xml(check: Check) -> str:
    """Return a test suite in which each figure of a check is a test, named by gate and measure."""
    failed = sum(not result.ok for result in check.results)
    suite = ElementTree.Element(
        "testsuite",
        name=f"tracestore check B-{check.build_id}",
        tests=str(len(check.results)),
        failures=str(failed),
        errors="0",
        skipped="0",
    )
    for result in check.results:
        case = ElementTree.SubElement(
            suite, "testcase", classname=f"tracestore.{result.gate}", name=_text(name_of(result))
        )
        if not result.ok:
            failure = ElementTree.SubElement(case, "failure", message=_text(say(result)), type="GateFailed")
            failure.text = _text(result.detail or "")
    ElementTree.indent(suite)
    return ElementTree.tostring(suite, encoding="unicode", xml_declaration=False) + "\n"


def name_of(result: GateOutcome) -> str:
    """Return what a figure is called besides its gate: measure, slice, gold set, the build it is compared with."""
    parts = [
        result.measure,
        result.slice and f"[{result.slice}]",
        result.gold_set and f"of {result.gold_set}",
    ]
    if result.against_build_id is not None:
        parts.append(f"against B-{result.against_build_id}")
    return " ".join(part for part in parts if part)


def say(result: GateOutcome) -> str:
    """Return a figure in words: value, floor, detail."""
    number = "" if result.value is None else f"{result.value:.4g}"
    if number and result.floor is not None:
        number += f" (floor {result.floor:.4g})"
    return ": ".join(part for part in (number, result.detail) if part)


def _text(text: str) -> str:
    return _NOT_XML.sub("\ufffd", text)
