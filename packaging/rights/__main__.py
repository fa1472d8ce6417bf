"""What ``dev.py rights`` runs in the environment: writes the manifest, and says how it differs from what was there."""

import sys

from desktop.domain.updates.rights import BadManifest, differences, read_manifest, written

from .manifest import FILE, Unexplained, made


def main() -> int:
    """Returns the exit code: 1 where something has no words yet."""
    try:
        now = made()
    except Unexplained as missing:
        sys.stderr.write(f"{missing}\n")
        return 1
    try:
        before = read_manifest(FILE.read_bytes())
    except (OSError, BadManifest):
        before = None
    FILE.write_text(written(now), "utf-8")
    for one in differences(before, now) if before is not None else ():
        facts = [f"+{fact}" for fact in one.added] + [f"-{fact}" for fact in one.lost]
        sys.stdout.write(f"{one.change:5} {one.right.category:8} {one.right.id} {' '.join(facts)}\n")
    sys.stdout.write(f"{len(now.rights)} rights in {FILE}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
