"""What a build has to pass before it is published."""

from tracestore.migrate import run_frozen

revision, down_revision = "0007", "0006"


def upgrade() -> None:
    """Run the frozen SQL beside this file."""
    run_frozen("0007_gates")
