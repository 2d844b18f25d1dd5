"""A retrieval store on Postgres and pgvector in which every hit is evidence."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tracestore.client import AsyncClient, Client

__all__ = ["AsyncClient", "Client"]


def __getattr__(name: str) -> object:
    # Late: a pool and the driver take longer to import than most commands take.
    if name in __all__:
        from tracestore import client

        return getattr(client, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
