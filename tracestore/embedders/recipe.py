"""Recipe ids and recipes: the name of, and everything that makes, a comparable vector.

A recipe id is ``NAME:ARGS[;option=value...]``, for example ``hash:128:a;header=off``. It has one canonical
spelling: options sorted by name, defaults left out, reserved and non-ASCII characters percent-encoded with
upper-case hex. Only the canonical spelling is stored, so that two spellings never become two recipes.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from types import MappingProxyType
from typing import Self
from urllib.parse import quote, unquote

from tracestore.errors import InputError

MAX_DIMENSION = 16_000
"""The widest ``vector`` that pgvector stores."""

PROBE_TEXT = "Tracestore probe: the parcel of 17 May weighs 2.4 kg; naïve café, 猫が好きです, δοκιμή, проба."
"""The text every recipe embeds once: figures, accents and four scripts, so that a changed tokenizer shows too."""

_NAME = re.compile(r"[a-z][a-z0-9_.-]*")
_OPTION = re.compile(r"[a-z][a-z0-9_]*")
_BAD_PERCENT = re.compile(r"%(?![0-9A-Fa-f]{2})")
_ARGS_SAFE = "/:@+,=~!*()[]"
_EXAMPLES = "examples: hash:128:a, wordllama:256, sentence-transformers:NAME_OR_PATH, openai:MODEL"


@dataclass(frozen=True, slots=True)
class RecipeSpec:
    """A parsed recipe id: which embedder, its arguments (decoded) and its options (decoded)."""

    name: str
    args: str
    options: Mapping[str, str]

    @property
    def recipe_id(self) -> str:
        """Return the canonical spelling."""
        head = f"{self.name}:{quote(self.args, safe=_ARGS_SAFE)}"
        tail = (f";{key}={quote(value, safe='')}" for key, value in sorted(self.options.items()))
        return head + "".join(tail)

    @property
    def header(self) -> bool:
        """Say whether the heading path is part of the embedded text."""
        return self.options.get("header") != "off"

    def with_header(self, on: bool) -> RecipeSpec:
        """Return the same recipe with or without the heading path; ``on`` is the unwritten default."""
        options = {key: value for key, value in self.options.items() if key != "header"}
        if not on:
            options["header"] = "off"
        return replace(self, options=MappingProxyType(options))

    def check_options(self, known: Iterable[str]) -> None:
        """Refuse options that the embedder does not know; ``header`` belongs to all of them."""
        allowed = sorted({"header", *known})
        for key in sorted(self.options):
            if key not in allowed:
                raise InputError(
                    f"recipe {self.recipe_id!r}: {self.name} has no option {key!r}",
                    hint=near_match(key, allowed, "options"),
                )

    def whole_number(self, what: str, text: str, *, most: int = MAX_DIMENSION) -> int:
        """Read a plain decimal number from 1 to ``most``; one spelling only, so that ids stay canonical."""
        if re.fullmatch(r"[1-9][0-9]{0,8}", text) and int(text) <= most:
            return int(text)
        raise InputError(
            f"recipe {self.recipe_id!r}: the {what} must be a whole number from 1 to {most}, not {text!r}",
            hint=_EXAMPLES,
        )

    def whole_option(self, key: str, *, most: int = MAX_DIMENSION) -> int | None:
        """Read an optional number such as ``;dim=512``."""
        text = self.options.get(key)
        return None if text is None else self.whole_number(f"option {key}", text, most=most)


def parse_recipe_id(text: str) -> RecipeSpec:
    """Parse a recipe id by grammar alone; whether the embedder exists is :func:`load_embedder`'s question."""
    head, *tail = text.split(";")
    name, colon, args = head.partition(":")
    if not colon or not _NAME.fullmatch(name) or not args:
        raise InputError(f"{text!r} is not a recipe id (NAME:ARGS[;option=value])", hint=_EXAMPLES)
    options: dict[str, str] = {}
    for part in tail:
        key, equals, value = part.partition("=")
        if not equals or not _OPTION.fullmatch(key) or not value or key in options:
            raise InputError(
                f"recipe {text!r}: {part!r} is not an option of its own (;name=value, each name once)",
                hint="percent-encode ; as %3B and % as %25 inside a value",
            )
        options[key] = _decode(text, value)
    if options.get("header", "off") not in {"on", "off"}:
        raise InputError(f"recipe {text!r}: header is on or off, not {options['header']!r}")
    spec = RecipeSpec(name, _decode(text, args), MappingProxyType(options))
    return spec.with_header(spec.header)


def _decode(recipe_id: str, value: str) -> str:
    """Undo percent-encoding; a stray ``%`` or bytes that are not UTF-8 are refused, never guessed."""
    try:
        if _BAD_PERCENT.search(value):
            raise ValueError
        decoded = unquote(value, errors="strict")
        decoded.encode()
    except ValueError:
        raise InputError(
            f"recipe {recipe_id!r}: {value!r} is not valid percent-encoded UTF-8",
            hint="write % itself as %25",
        ) from None
    return decoded


def near_match(word: str, known: Sequence[str], what: str) -> str:
    """Say what there is, and which of it was probably meant."""
    listing = f"known {what}: {', '.join(known)}"
    near = difflib.get_close_matches(word.lower(), known, n=1)
    return f"did you mean {near[0]!r}? {listing}" if near else listing


@dataclass(frozen=True, slots=True)
class Recipe:
    """Everything that makes a vector comparable with another; ``recipe_id`` is its name.

    ``max_tokens`` is how many tokens of text (prefix and header included, the model's own special tokens not)
    the model reads before it cuts; ``None``: no limit is known. ``normalised``: stored at unit length.
    """

    recipe_id: str
    model: str
    revision: str
    dimension: int
    normalised: bool = True
    header: bool = True
    query_prefix: str = ""
    passage_prefix: str = ""
    max_tokens: int | None = None

    @classmethod
    def from_spec(
        cls,
        spec: RecipeSpec,
        *,
        model: str,
        dimension: int,
        revision: str = "",
        query_prefix: str = "",
        passage_prefix: str = "",
        max_tokens: int | None = None,
    ) -> Self:
        """Build the recipe of an embedder that was loaded from ``spec``."""
        return cls(
            recipe_id=spec.recipe_id,
            model=model,
            revision=revision,
            dimension=dimension,
            header=spec.header,
            query_prefix=query_prefix,
            passage_prefix=passage_prefix,
            max_tokens=max_tokens,
        )

    def embedded_text(self, heading_path: Sequence[str], text: str, context: str | None = None) -> str:
        """Return what the model sees of a chunk: heading path, generated context, text, a line each.

        The header's line is written for an empty path too: the template is one rule without exceptions.
        """
        parts = [" > ".join(heading_path)] if self.header else []
        if context is not None:
            parts.append(context)
        return "\n".join([*parts, text])

    def with_header(self, on: bool) -> Recipe:
        """Return the recipe, and so the recipe id, with the heading path in or out of the embedded text."""
        spec = parse_recipe_id(self.recipe_id).with_header(on)
        return replace(self, recipe_id=spec.recipe_id, header=on)

    def canonical(self) -> dict[str, str | int | bool | None]:
        """Return the JSON-able form that goes into manifests."""
        return asdict(self)
