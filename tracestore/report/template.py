"""Fill a page: one frame and one style for all, values as people read them, every text escaped by the template engine."""

from __future__ import annotations

import importlib
import json
from collections.abc import Mapping
from datetime import UTC, datetime
from importlib.resources import files
from typing import Any

from tracestore.errors import ConfigError


def fill(template: str, **values: object) -> str:
    """Return a page as HTML; ConfigError where the package that fills templates is not installed."""
    try:
        jinja2: Any = importlib.import_module("jinja2")
    except ImportError as problem:
        raise ConfigError("a report needs jinja2", hint="pip install 'tracestore[report]'") from problem
    environment = jinja2.Environment(
        loader=jinja2.FunctionLoader(lambda name: files(__package__).joinpath(name).read_text("utf-8")),
        autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True,
    )  # fmt: skip
    environment.filters |= {
        "time": _time,
        "short": _short,
        "json": read,
        "number": _number,
        "chance": _chance,
    }
    text: str = environment.get_template(template).render(**values)
    return text


def _time(value: datetime | None) -> str:
    return "–" if value is None else value.astimezone(UTC).strftime("%Y-%m-%d %H:%M:%S UTC")


def _short(digest: str) -> str:
    return digest[:16]


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.4g}"


def _chance(p_value: float | None) -> str:
    if p_value is None:
        return ""
    return f"{p_value:.4f}" if p_value >= 0.0001 else "< 0.0001"


def read(value: Any) -> str:
    """Return a value as people read it: settings as name and value, times in UTC, nothing as a dash."""
    if value is None:
        return "–"
    if isinstance(value, datetime):
        return _time(value)
    if isinstance(value, Mapping):
        return ", ".join(
            f"{name} {read(part)}" for name, part in sorted(value.items()) if part not in (None, "", {})
        )
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list):
        return ", ".join(map(read, value)) or "–"
    return str(value) if isinstance(value, str | int | float) else json.dumps(value, default=str)
