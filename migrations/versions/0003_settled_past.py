"""A past that no switch can still change."""

from tracestore.migrate import run_frozen

revision, down_revision = "0003", "0002"


def upgrade() -> None:
    """Run the frozen SQL beside this file."""
    run_frozen("0003_settled_past")
