"""Each migration file has its hash in the manifest, and the manifest only grows."""

from __future__ import annotations

import hashlib

from scripts.write_schema import MANIFEST, MIGRATIONS, frozen_files, manifest


def test_every_migration_file_is_what_was_published() -> None:
    lines = [line.split("  ") for line in MANIFEST.read_text("utf-8").splitlines()]
    published = {name: digest for digest, name in lines}
    now = {
        path.relative_to(MIGRATIONS).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in frozen_files()
    }
    assert now == published, "a published migration never changes; write the next one, then `just schema`"
    assert len(published) == len(lines)


def test_the_manifest_is_complete_and_keeps_its_lines() -> None:
    assert manifest() == MANIFEST.read_text("utf-8")
