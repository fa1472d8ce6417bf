"""``dev.py try`` starts this in a mount namespace of its own, as root: ``python -m trials PACKAGES …``."""

import argparse
import json
import platform
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from trials.beside import BESIDE
from trials.course import COURSE, Bench, Row, Trial
from trials.desktop import running_desktop
from trials.integration import INTEGRATION
from trials.kinds import DOWNLOADS, KINDS, Installed, Kind, install, tools_of
from trials.odd import ODD
from trials.power import POWER
from trials.trees import TrialFailed, base_tree, copied
from trials.versions import VERSIONS


def main(arguments: Sequence[str]) -> int:
    """Runs the trials; 1 when one did not go well."""
    parser = argparse.ArgumentParser()
    parser.add_argument("packages", type=Path)
    parser.add_argument("--store", type=Path, required=True)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--suite", action="append", default=[])
    parser.add_argument("--mirror", default="")
    parser.add_argument("--older", type=Path, metavar="DIR", help="packages of an earlier version, to go back to")
    parser.add_argument("--odd", action="store_true", help="odd machines and homes, too")
    parser.add_argument("--desktop", action="store_true", help="menu, links, manual, notifications, dialogs, too")
    parser.add_argument(
        "--trial", action="append", default=[], metavar="NAME", help="this trial alone; may be repeated"
    )
    parser.add_argument("kinds", nargs="*")
    options = parser.parse_intermixed_args(arguments)
    rows: list[Row] = []
    for suite in options.suite or ["bookworm", "trixie"]:
        for kind in KINDS:
            if options.kinds and kind.name not in options.kinds:
                continue
            package = kind.package(options.packages, options.store)
            if package is None:
                continue
            rows += tried(kind, suite, package, options)
            if options.json:
                options.json.write_text(json.dumps(report(rows), indent=1) + "\n", encoding="utf-8")
    print(table(rows))
    return 0 if rows and all(row.well for row in rows) else 1


def tried(kind: Kind, suite: str, package: Path, options: Any) -> Iterable[Row]:
    """The course of one kind in one suite, a row a trial; after a failed installation there is no more."""
    base = base_tree(options.store, suite, options.mirror)
    out = options.store / "seen" / suite
    out.mkdir(parents=True, exist_ok=True)
    with running_desktop() as desktop, copied(base, options.store, desktop.environment, desktop.shared) as tree:
        row = Row("install", kind.name, suite)
        say(row, "…")
        try:
            installed = install(
                kind, tree, package, tools_of(options.store, sys.executable), lambda text: say(row, text)
            )
        except TrialFailed as failure:
            row.said = str(failure)
            say(row, row.said)
            return [row]
        row.well, row.figures = True, dict(installed.figures)
        say(row, str(row.figures))
        bench = Bench(installed, desktop, out, _older(installed, options.older, options.store))
        return [row, *(one(trial, bench, suite) for trial in chosen(bench, options))]


def chosen(bench: Bench, options: Any) -> list[Trial]:
    """What is tried, in this order; the last takes it off the machine."""
    names = options.trial
    trials = [*COURSE[:-1], *(VERSIONS if bench.older else [])]
    trials += [*ODD, *(BESIDE + POWER if bench.older else [])] if options.odd or names else []
    trials += [*(INTEGRATION if options.desktop or names else []), COURSE[-1]]
    return [trial for trial in trials if not names or trial.__name__ in names]


def _older(installed: Installed, folder: Path | None, store: Path) -> str:
    """The package of an earlier version in the tree; nothing where there is none of this kind."""
    if folder is None or installed.kind.fetches:
        return ""
    package = installed.kind.package(folder, store)
    if package is None:
        return ""
    installed.tree.give(package, f"{DOWNLOADS}/{package.name}")
    return f"{DOWNLOADS}/{package.name}"


def one(trial: Trial, bench: Bench, suite: str) -> Row:
    """A trial, and what came of it."""
    row = Row(trial.__name__.replace("_", " "), bench.installed.kind.name, suite)
    try:
        row.figures = dict(trial(bench))
        row.well = True
    except TrialFailed as failure:
        row.said = str(failure)
    say(row, row.said or str(row.figures))
    return row


def say(row: Row, text: str) -> None:
    """How far it is, on the terminal."""
    print(f"{row.suite} {row.kind}: {row.trial}: {text}", file=sys.stderr, flush=True)


def report(rows: Sequence[Row]) -> dict[str, Any]:
    """For a file."""
    machine = {"system": platform.platform(), "python": platform.python_version()}
    return {"machine": machine, "rows": [vars(row) for row in rows]}


def table(rows: Sequence[Row]) -> str:
    """For a person: a kind a line, its figures in columns, then what did not go well."""
    heads = ["suite", "kind", "package MB", "installed MB", "install s", "first window s", "first page s", "answer s"]
    heads += ["next window s", "app MB", "all MB", "old homes opened", "well"]
    lines = [heads]
    for suite, kind in dict.fromkeys((row.suite, row.kind) for row in rows):
        of_it = [row for row in rows if (row.suite, row.kind) == (suite, kind)]
        figures = {name: value for row in of_it for name, value in row.figures.items()}
        figures |= {"suite": suite, "kind": kind, "well": f"{sum(row.well for row in of_it)}/{len(of_it)}"}
        lines.append([str(figures.get(head, "-")) for head in heads])
    widths = [max(len(line[at]) for line in lines) for at in range(len(heads))]
    text = ["  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip() for line in lines]
    text += [f"{row.suite} {row.kind}: {row.trial}: {row.said}" for row in rows if not row.well]
    return "\n".join(text)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
