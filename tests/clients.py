"""Both clients behind one face, so that a test says once what holds for both."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from types import TracebackType
from typing import Any, Self

from tracestore import AsyncClient


class Blocking:
    """An ``AsyncClient`` with a loop of its own, whose methods wait for their answer."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        self._runner = asyncio.Runner()
        self._client = AsyncClient(*arguments, **options)

    def __getattr__(self, name: str) -> Callable[..., Any]:
        method = getattr(self._client, name)

        async def call(*arguments: Any, **options: Any) -> Any:
            return await method(*arguments, **options)

        return lambda *arguments, **options: self._runner.run(call(*arguments, **options))

    def __enter__(self) -> Self:
        try:
            self._runner.run(self._client.__aenter__())
        except BaseException:
            self._runner.close()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            self._runner.run(self._client.__aexit__(kind, error, trace))
        finally:
            self._runner.close()
