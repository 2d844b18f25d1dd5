"""${message}."""

from tracestore.migrate import run_frozen

revision, down_revision = ${repr(up_revision)}, ${repr(down_revision)}


def upgrade() -> None:
    """Run the frozen SQL beside this file."""
    run_frozen("${up_revision}_${message.lower().replace(' ', '_')}")
