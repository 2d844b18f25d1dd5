"""When the approximate index of an index was made, and over what."""

from tracestore.migrate import run_frozen

revision, down_revision = "0004", "0003"


def upgrade() -> None:
    """Run the frozen SQL beside this file."""
    run_frozen("0004_graphs")
