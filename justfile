# One word for each job; CI uses the same words. `just` comes with the dev extra: .venv/bin/just check
# The programs are those installed beside `just`, whatever the caller's PATH says first.

export PATH := parent_directory(just_executable()) + ":" + env("PATH")

# list the words
_default:
    @just --list --unsorted

# lint, formatting, types, Dockerfiles, the compose file, and whether generated files are fresh
check:
    ruff check
    ruff format --check
    mypy
    hadolint docker/Dockerfile docker/Dockerfile.postgres
    check-jsonschema --builtin-schema vendor.compose-spec docker/compose.yaml
    python scripts/write_schema.py --check

# all tests, on every processor; arguments go to pytest
test *ARGUMENTS:
    pytest -n auto --dist worksteal {{ ARGUMENTS }}

# ratios against other tools, within one run; writes docs/performance.md
bench *ARGUMENTS:
    python -m benchmarks {{ ARGUMENTS }}

# long runs with kills and concurrency
soak *ARGUMENTS:
    python -m soak {{ ARGUMENTS }}

# write sql/schema and migrations/MANIFEST.sha256 from the newest migration
schema:
    python scripts/write_schema.py

# check that every command, function and view is in the documentation, and that its links lead somewhere
docs:
    pytest tests/docs
