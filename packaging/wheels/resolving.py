"""Which wheels pip chooses for another computer, which it does not find, and whether the lock knows their bytes."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from wheels.targets import Locked, Target

_NOT_FOUND = re.compile(r"^ERROR: No matching distribution found for ([a-z0-9-]+)==", re.MULTILINE)


class ResolvingFailed(Exception):
    """pip ended for another reason than a wheel that is not there."""


@dataclass
class Found:
    """What there is for one target and Python."""

    wheels: dict[str, str] = field(default_factory=dict)
    """By distribution the file's name."""
    missing: list[str] = field(default_factory=list)
    unknown: list[str] = field(default_factory=list)
    """Wheels whose bytes the lock does not name: pip would refuse them."""


def resolve(wanted: Sequence[Locked], target: Target, python: str, work: Path) -> Found:
    """Ask pip without downloading what it would take. Raises ResolvingFailed."""
    found, left = Found(), list(wanted)
    while left:
        report = work / "report.json"
        more = ["--dry-run", "--ignore-installed", "--target", str(work / "nowhere"), "--report", str(report)]
        done = _pip(["install", *more], [f"{one.name}=={one.version}" for one in left], target, python, work)
        if done.returncode == 0:
            _take(json.loads(report.read_text("utf-8")), {one.name: one for one in left}, found)
            return found
        absent = set(_NOT_FOUND.findall(done.stderr))
        if not absent:
            raise ResolvingFailed(f"{target.name}, Python {python}: {done.stderr.strip()[-600:]}")
        found.missing.extend(sorted(absent))
        left = [one for one in left if one.name not in absent]
    return found


def _take(report: Any, asked: dict[str, Locked], found: Found) -> None:
    for one in report["install"]:
        name = re.sub(r"[-_.]+", "-", one["metadata"]["name"]).lower()
        info = one["download_info"]
        found.wheels[name] = info["url"].rpartition("/")[2]
        if info["archive_info"]["hashes"].get("sha256") not in asked[name].hashes:
            found.unknown.append(name)


def _pip(
    command: Sequence[str], lines: Sequence[str], target: Target, python: str, work: Path
) -> subprocess.CompletedProcess[str]:
    wanted = work / "wanted.txt"
    wanted.write_text("\n".join(lines) + "\n", encoding="utf-8")
    tags = [word for tag in target.tags for word in ("--platform", tag)]
    return subprocess.run(
        [sys.executable, "-m", "pip", "--disable-pip-version-check", "-q", *command, "--no-deps"]
        + ["--only-binary", ":all:", "--implementation", "cp", "--python-version", python, *tags, "-r", str(wanted)],
        capture_output=True,
        text=True,
        errors="replace",
    )
