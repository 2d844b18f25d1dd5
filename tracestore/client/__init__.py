"""Ask a store from Python: :class:`Client` for threads, :class:`AsyncClient` for asyncio, both over a pool."""

from tracestore.client.asynchronous import AsyncClient
from tracestore.client.synchronous import Client

__all__ = ["AsyncClient", "Client"]
