"""Labels granted to roles, and row-level security on everything that tells of a document."""

from tracestore.migrate import run_frozen

revision, down_revision = "0005", "0004"


def upgrade() -> None:
    """Run the frozen SQL beside this file."""
    run_frozen("0005_access_by_label")
