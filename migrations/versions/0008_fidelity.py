"""Questions that measure an approximate index, and what was measured."""

from tracestore.migrate import run_frozen

revision, down_revision = "0008", "0007"


def upgrade() -> None:
    """Run the frozen SQL beside this file."""
    run_frozen("0008_fidelity")
