"""Recency, for classes that ask for it: how much age costs a passage, decided, tried in the shadow, then switched on."""

from tracestore.migrate import run_frozen

revision, down_revision = "0012", "0011"


def upgrade() -> None:
    """Run the frozen SQL beside this file."""
    run_frozen("0012_recency")
