"""``dev.py wheels``: which wheels of the lock there are for other systems, and which the lock does not know; with
``--imports`` they are laid down, and all that our modules import there is looked for in them."""

from __future__ import annotations

import argparse
import gc
import shutil
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from wheels.importing import Walk, for_other_machines, lay
from wheels.resolving import Found, ResolvingFailed, resolve
from wheels.targets import PYTHONS, TARGETS, Locked, Target, locked

LOCK = Path(__file__).resolve().parents[1] / "requirements.lock"


def main(arguments: Sequence[str]) -> int:
    """Returns the exit code: 1 where pip failed, or would refuse a wheel because the lock does not know it, or where an
    import leads nowhere that a wheel is there for."""
    options = parser().parse_args(arguments)
    known = list(locked(LOCK))
    targets = [one for one in TARGETS if one.name == options.target or not options.target]
    series = f"{sys.version_info.major}.{sys.version_info.minor}"
    wrong = False
    for python in options.pythons or ([series] if options.imports else PYTHONS):
        for target in targets:
            wanted = [one for one in known if one.holds(target, python)]
            try:
                with tempfile.TemporaryDirectory(prefix="assent-wheels-") as work:
                    found = resolve(wanted, target, python, Path(work))
                said = list(_imported(wanted, found, target, python)) if options.imports else []
            except ResolvingFailed as error:
                sys.stderr.write(f"{error}\n")
                return 1
            wrong = wrong or bool(found.unknown or said)
            missing, unknown = ", ".join(found.missing) or "-", ", ".join(found.unknown) or "-"
            sys.stdout.write(
                f"{python} {target.name:14} {len(found.wheels)} of {len(wanted)}; none: {missing}; unknown: {unknown}\n"
            )
            sys.stdout.writelines(f"  {line}\n" for line in said)
            sys.stdout.flush()
    return int(wrong)


def parser() -> argparse.ArgumentParser:
    """What may be said."""
    made = argparse.ArgumentParser(prog="dev.py wheels", description="Look for the lock's wheels of other systems.")
    made.add_argument("pythons", nargs="*", metavar="PYTHON")
    made.add_argument("--imports", action="store_true")
    made.add_argument("--target", choices=[one.name for one in TARGETS], default="")
    return made


def _imported(wanted: Sequence[Locked], found: Found, target: Target, python: str) -> Iterator[str]:
    """What leads nowhere, though a wheel of it is there; of the rest a line with how much was read."""
    place = Path(tempfile.mkdtemp(prefix="assent-imports-"))
    try:
        packages = place / "site-packages"
        lay(wanted, found, target, python, packages)
        gc.disable()  # syntax trees hold no garbage, and there are millions of their nodes
        walk = Walk(packages, target, python, found.missing)
        gc.enable()
        sys.stdout.write(f"{python} {target.name:14} {walk.ours} modules of ours, {len(walk.seen)} in all\n")
        yield from (*walk.wrong, *for_other_machines(packages, target))
    finally:
        shutil.rmtree(place, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
