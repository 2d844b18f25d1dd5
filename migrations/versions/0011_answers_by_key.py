"""The id of an answer is found from the answer."""

from tracestore.migrate import run_frozen

revision, down_revision = "0011", "0010"


def upgrade() -> None:
    """Run the frozen SQL beside this file."""
    run_frozen("0011_answers_by_key")
