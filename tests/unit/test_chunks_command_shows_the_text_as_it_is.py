"""``tracestore chunks`` shows what the chunker did, character for character, and one line where it cannot."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import typer
from tracestore.cli import chunks, errors

CASES = Path(__file__).parents[1] / "cases"


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Any:
    app = typer.Typer(rich_markup_mode=None, pretty_exceptions_enable=False)
    app.command()(chunks.chunks)

    def run(*arguments: object) -> tuple[int, str, str]:
        code = errors.guarded(lambda: app([str(a) for a in arguments], standalone_mode=False) or 0)
        written = capsys.readouterr()
        return code, written.out, written.err

    return run


def test_the_listing_shows_evidence_as_plain_text(run: Any) -> None:
    file = CASES / "cli-text.md"
    code, out, err = run(file)
    text = file.read_text(encoding="utf-8")
    assert (code, err) == (0, "")
    assert out.startswith("#0 [7, 299) 57 words  CLI\n")
    assert text[7:299] in out
    assert "100 % are covered" in out


def test_json_has_everything_with_positions(run: Any) -> None:
    file = CASES / "crlf.md"
    code, out, err = run(file, "--max-words", 2, "--json")
    shown = json.loads(out)
    text = file.read_bytes().decode()
    assert (code, err, shown["media_type"]) == (0, "", "text/markdown")
    assert set(shown) == {"media_type", "chunks", "headings", "structural", "units", "coverage"}
    assert [(c["start"], c["end"], c["heading_path"]) for c in shown["chunks"]] == [
        (11, 21, ["Title"]),
        (22, 33, ["Title"]),
        (55, 65, ["Title", "Next"]),
        (67, 92, ["Title", "Next"]),
    ]
    assert all(text[c["start"] : c["end"]] == c["text"] for c in shown["chunks"])
    assert set(shown["chunks"][0]) == {
        "ordinal", "start", "end", "byte_start", "byte_end", "context_start", "context_end",
        "heading_path", "text", "words", "tokens", "split",
    }  # fmt: skip
    assert shown["headings"][1] == {"start": 44, "end": 51, "level": 2, "title": "Next"}
    assert shown["structural"] == [{"start": 37, "end": 40, "kind": "rule"}]
    assert shown["units"][0] == {"start": 11, "end": 21, "kind": "sentence", "split": False}
    assert shown["coverage"]["share"] == 1.0
    assert shown["coverage"]["uncovered"] == []


def test_the_suffix_decides_what_is_markdown(run: Any, tmp_path: Path) -> None:
    for name, headings in (("a.md", 1), ("a.MARKDOWN", 1), ("a.txt", 0), ("README", 0)):
        (tmp_path / name).write_text("# Title\n\nBody.\n", encoding="utf-8")
        shown = json.loads(run(tmp_path / name, "--json")[1])
        assert len(shown["headings"]) == headings


def test_settings_reach_the_chunker(run: Any) -> None:
    file = CASES / "heading-jumps.md"
    assert len(json.loads(run(file, "--json")[1])["chunks"]) == 6
    assert len(json.loads(run(file, "--cross-section", "--json")[1])["chunks"]) == 1
    assert len(json.loads(run(file, "--hard-limit", 2, "--json")[1])["chunks"]) == 12


def test_a_recipe_with_a_tokenizer_counts_tokens(run: Any) -> None:
    pytest.importorskip("wordllama", reason="needs the extra wordllama")
    shown = json.loads(run(CASES / "list.md", "--recipe", "wordllama:256", "--max-tokens", 7, "--json")[1])
    assert len(shown["chunks"]) > 3
    assert all(0 < chunk["tokens"] <= 7 for chunk in shown["chunks"])


@pytest.mark.parametrize("name", ["empty.md", "blank.md", "bom-only.md", "front-matter-only.md"])
def test_nothing_to_show_is_no_error(run: Any, name: str) -> None:
    code, out, err = run(CASES / name)
    assert (code, err) == (0, "")
    assert out.startswith("0 chunks.")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["invalid-utf8.txt"], "is not UTF-8: byte 0xe9 at offset 3"),
        (["no such file.md"], "No such file"),
        (["."], "directory"),
        (["list.md", "--max-tokens", "5"], "needs a tokenizer"),
        (["list.md", "--max-tokens", "5", "--recipe", "hash:128:a"], "has no tokenizer"),
        (["list.md", "--recipe", "nonsense:1"], "nonsense"),
        (["list.md", "--max-words", "0"], "max_words is 0"),
        (["list.md", "--max-words", "5", "--max-tokens", "5"], "either max_words or max_tokens"),
    ],
)
def test_mistakes_are_one_line_and_a_hint(run: Any, arguments: list[str], message: str) -> None:
    name, *settings = arguments
    code, out, err = run(CASES / name, *settings)
    assert (code, out) == (2, "")
    error, hint = err.splitlines()
    assert error.startswith("error: ")
    assert message in error
    assert hint.startswith("hint: ")
