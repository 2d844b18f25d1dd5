"""Which of two revisions of a family a search returns: decided for a collection and a class, by whom, when and why."""

from tracestore.migrate import run_frozen

revision, down_revision = "0010", "0009"


def upgrade() -> None:
    """Run the frozen SQL beside this file."""
    run_frozen("0010_conflict_policies")
