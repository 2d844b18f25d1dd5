"""Supersessions, holds, retention levels that only go down."""

from tracestore.migrate import run_frozen

revision, down_revision = "0002", "0001"


def upgrade() -> None:
    """Run the frozen SQL beside this file."""
    run_frozen("0002_supersession_and_retention")
