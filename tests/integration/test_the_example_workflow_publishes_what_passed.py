"""The steps of the workflow in docs/gates.md, as a runner takes them: each by `bash -e`, none after one that failed."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from tests.command import PROGRAM, Cli

PAGE = Path(__file__).parents[2] / "docs" / "gates.md"
_STEP = re.compile(r"^ +(?:- (?P<always>if: always\(\)\n +))?(?:- )?run: (?P<line>.+)$", re.MULTILINE)
_INSTALLS = "pip install "


@pytest.fixture
def steps() -> list[tuple[str, bool]]:
    """Return each line to run, and whether it runs whatever failed before it."""
    (workflow,) = re.findall(r"```yaml\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)
    found = [(match["line"], match["always"] is not None) for match in _STEP.finditer(workflow)]
    assert len(found) == workflow.count("run: ")
    assert found[0][0].startswith(_INSTALLS)
    return [
        (line.replace("${{ github.run_id }}", "4711"), always)
        for line, always in found
        if not line.startswith(_INSTALLS)
    ]


def run(cli: Cli, steps: list[tuple[str, bool]]) -> dict[str, int]:
    """Run the steps as a runner does; return the exit code of each that ran, by its command."""
    codes: dict[str, int] = {}
    exported = cli.folder / "github.env"
    exported.write_text("")
    for line, always in steps:
        if any(codes.values()) and not always:
            continue
        known = dict(pair.split("=", 1) for pair in exported.read_text().splitlines())
        env = cli.environment(GITHUB_ENV=str(exported), **known)
        env["PATH"] = f"{PROGRAM.parent}:{env['PATH']}"
        done = subprocess.run(["bash", "-e", "-c", line], cwd=cli.folder, env=env, capture_output=True, check=False)  # fmt: skip
        codes[" ".join(line.split()[:2])] = done.returncode
    return codes


def test_it_publishes_what_passed_and_stops_at_a_build_that_failed(
    dsn: str, tmp_path: Path, steps: list[tuple[str, bool]]
) -> None:
    cli = Cli(dsn, tmp_path)
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "leave.md").write_text("# Leave\n\nEverybody has 30 days of leave.\n")
    codes = run(cli, steps)
    assert list(codes.values()) == [0] * len(steps), codes
    assert (tmp_path / "check.xml").exists()
    assert (tmp_path / "report.html").exists()
    codes = run(
        cli,
        [(line.replace("build guides", "build guides --max-words 0"), always) for line, always in steps[1:]],
    )
    assert codes["tracestore build"] == 2
    assert codes.keys() == {"tracestore build", "tracestore report"}
