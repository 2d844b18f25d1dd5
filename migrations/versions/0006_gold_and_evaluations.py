"""Gold questions, and what evaluations of builds found."""

from tracestore.migrate import run_frozen

revision, down_revision = "0006", "0005"


def upgrade() -> None:
    """Run the frozen SQL beside this file."""
    run_frozen("0006_gold_and_evaluations")
