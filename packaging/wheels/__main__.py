"""``dev.py wheels``: which wheels of the lock there are for other systems, and which the lock does not know."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from wheels.resolving import ResolvingFailed, resolve
from wheels.targets import PYTHONS, TARGETS, locked

LOCK = Path(__file__).resolve().parents[1] / "requirements.lock"


def main(pythons: list[str]) -> int:
    """Returns the exit code: 1 where pip failed, or would refuse a wheel because the lock does not know it."""
    known = list(locked(LOCK))
    wrong = False
    for python in pythons or PYTHONS:
        for target in TARGETS:
            wanted = [one for one in known if one.holds(target, python)]
            with tempfile.TemporaryDirectory(prefix="assent-wheels-") as work:
                try:
                    found = resolve(wanted, target, python, Path(work))
                except ResolvingFailed as error:
                    sys.stderr.write(f"{error}\n")
                    return 1
            wrong = wrong or bool(found.unknown)
            missing, unknown = ", ".join(found.missing) or "-", ", ".join(found.unknown) or "-"
            sys.stdout.write(
                f"{python} {target.name:14} {len(found.wheels)} of {len(wanted)}; none: {missing}; unknown: {unknown}\n"
            )
            sys.stdout.flush()
    return int(wrong)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
