"""The small world that the pages for services, auditors, DBAs and Python speak of.

Collection ``guides`` with the guide ``tunelo`` v1, alias ``main``, build 7, and vectors of ``wordllama:256``.
"""

from __future__ import annotations

import pytest

from tests.ingesting import text
from tracestore import store
from tracestore.build import IndexSettings, build
from tracestore.chunking import ChunkConfig
from tracestore.db import Connection
from tracestore.demo.guides import make_guides
from tracestore.embedders.base import Embedder
from tracestore.ingest import ingest
from tracestore.recipes import load_embedder


@pytest.fixture(scope="module")
def embedder() -> Embedder:
    """Return the model of the pages."""
    pytest.importorskip("wordllama", reason="the pages speak of wordllama:256")
    return load_embedder("wordllama:256")


@pytest.fixture(scope="module")
def world(module_dsn: str, module_conn: Connection, embedder: Embedder) -> str:
    """Make what the pages speak of; return the connection string."""
    guides = [guide for guide in make_guides() if guide.doc_id in ("tunelo", "dokalo", "zeneka")]
    documents = [text(g.doc_id, g.text, g.version_id, **{"class": "guide"}) for g in guides]
    ingest(module_conn, "guides", documents)
    for words in range(10, 17):
        report = build(module_conn, "guides", embedder, IndexSettings(embedder.recipe, ChunkConfig(words)))
    assert report.build_id == 7
    store.publish(module_conn, "main", 7, reason="first")
    ingest(module_conn, "guides", [text("dokalo", guides[0].text + "Edited.\n", "v1")])  # an edit in place
    store.withdraw(module_conn, "guides", "zeneka", reason="recalled")
    return module_dsn
