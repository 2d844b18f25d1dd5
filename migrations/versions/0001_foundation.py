"""Collections, versions, recipes, indexes, builds, chunks, embeddings, aliases."""

from tracestore.migrate import run_frozen

revision, down_revision = "0001", None


def upgrade() -> None:
    """Run the frozen SQL beside this file."""
    run_frozen("0001_foundation")
