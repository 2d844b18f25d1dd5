"""A grid as a picture: each metric of each configuration with both of its intervals."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

from tracestore.errors import ConfigError, InputError
from tracestore.quality.grid import METRICS, GridRow

FORMATS = (".svg", ".png", ".pdf")
_ROW_INCHES = 0.35
_GREY, _BLUE = "#b0b7c3", "#1f4e8c"


def draw_grid(rows: Sequence[tuple[str, GridRow]], path: Path, title: str) -> None:
    """Draw labelled rows into a file, its form by its name; the same rows give the same file.

    A panel a metric: the point is the value in the store's order, the thin line its 95 % interval over questions, the
    wide grey one what other orders of ties would give.
    """
    if path.suffix.lower() not in FORMATS:
        raise InputError(f"{path} is none of {', '.join(FORMATS)}", hint="for example --plot grid.svg")
    if not rows:
        raise InputError("no configuration could be built: there is nothing to draw")
    matplotlib = _matplotlib()
    with matplotlib.rc_context({"svg.hashsalt": "tracestore", "font.size": 9}):
        figure = matplotlib.figure.Figure(
            figsize=(3 + 2.2 * len(METRICS), 1.4 + _ROW_INCHES * len(rows)), layout="constrained"
        )
        panels = figure.subplots(1, len(METRICS), sharey=True, squeeze=False)[0]
        for panel, metric in zip(panels, METRICS, strict=True):
            _draw_panel(panel, metric, [row for _, row in rows])
        panels[0].set_yticks(range(len(rows)), [label for label, _ in rows])
        panels[0].invert_yaxis()
        figure.suptitle(f"{title}\npoint: value, line: 95 % over questions, grey: over orders of ties")
        try:
            figure.savefig(path, metadata={"Date": None} if path.suffix.lower() == ".svg" else None)
        except OSError as error:
            raise ConfigError(f"cannot write {path}: {error.strerror}") from error


def _draw_panel(panel: Any, metric: str, rows: Sequence[GridRow]) -> None:
    figures = [row.figure(metric) for row in rows]
    places = list(range(len(rows)))
    panel.hlines(places, [f.worst for f in figures], [f.best for f in figures], color=_GREY, linewidth=7)
    panel.hlines(places, [f.low for f in figures], [f.high for f in figures], color=_BLUE, linewidth=1.2)
    panel.plot([f.value for f in figures], places, "o", color=_BLUE, markersize=4)
    panel.set_title(metric, fontsize=9)
    panel.set_xlim(-0.02, 1.02)
    panel.set_ylim(-0.6, len(rows) - 0.4)
    panel.grid(axis="x", color="#e5e8ee")
    panel.set_axisbelow(True)


def _matplotlib() -> Any:
    try:
        import_module("matplotlib.figure")
        return import_module("matplotlib")
    except ImportError as problem:
        raise ConfigError(
            f"drawing needs a package that is not installed ({problem})",
            hint="pip install 'tracestore[plots]'",
        ) from problem
