"""Searches and answers on record: what was asked, what came back from which build, and what was made of it."""

from tracestore.migrate import run_frozen

revision, down_revision = "0009", "0008"


def upgrade() -> None:
    """Run the frozen SQL beside this file."""
    run_frozen("0009_answers_on_record")
