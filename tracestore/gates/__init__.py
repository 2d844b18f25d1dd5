"""Gates: what a build has to pass before it is published; ``docs/gates.md`` tells the rules to users."""

from tracestore.gates.check import Check, check_build
from tracestore.gates.floors import SMALL, STANDARD, Floor, floors_in_force, profile_of, set_profile
from tracestore.gates.junit import junit_xml

__all__ = [
    "SMALL",
    "STANDARD",
    "Check",
    "Floor",
    "check_build",
    "floors_in_force",
    "junit_xml",
    "profile_of",
    "set_profile",
]
