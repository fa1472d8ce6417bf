"""The SBOM of a package, judged by the official schema of CycloneDX in the environment of the package command."""

import json
import subprocess
from pathlib import Path

import pytest
from devlib.licences.listing import read_list
from devlib.packages.tools import ensure_tools

ROOT = Path(__file__).resolve().parents[2]
LISTED = ROOT / "resources/licences"
BUILT = "2026-11-27T09:00:00Z"
JUDGE = "import sys; from devlib.licences.bom import problems; print(len(problems(sys.stdin.read())))"


@pytest.fixture(scope="module")
def tools() -> Path:
    return ensure_tools()


def _made(tools: Path, listed: Path, out: Path) -> "subprocess.CompletedProcess[str]":
    command = [str(tools), "-m", "devlib.licences.bom", "--list", str(listed), "--out", str(out)]
    command += ["--version", "1.2", "--commit", "a" * 40, "--built", BUILT, "--kind", "deb"]
    return subprocess.run(command, cwd=ROOT / "packaging", capture_output=True, text=True)


@pytest.mark.soak
@pytest.mark.spec("R-PKG-2")
def test_it_is_valid_names_every_part_and_is_the_same_twice(tools: Path, tmp_path: Path) -> None:
    first, second = tmp_path / "first.json", tmp_path / "second.json"
    assert _made(tools, LISTED, first).returncode == 0
    assert _made(tools, LISTED, second).returncode == 0
    assert first.read_bytes() == second.read_bytes()
    made = json.loads(first.read_text("utf-8"))
    named = sorted((part["name"], part.get("version", "")) for part in made["components"])
    assert named == sorted((row.name, row.version) for row in read_list(LISTED))
    assert all(part["licenses"] for part in made["components"])
    below = {one["ref"]: one.get("dependsOn", []) for one in made["dependencies"]}
    assert any("PySide6" in name for name in below["assent"])
    assert any("cssparser" in name for ref in below if "mmdr" in ref for name in below[ref])


@pytest.mark.soak
def test_what_the_schema_does_not_take_is_not_written(tools: Path, tmp_path: Path) -> None:
    made = tmp_path / "made.json"
    assert _made(tools, LISTED, made).returncode == 0
    broken = json.loads(made.read_text("utf-8"))
    broken["components"][0]["licenses"] = [{"license": {"id": "A-LICENCE-OF-NOBODY"}}]
    judged = subprocess.run(
        [str(tools), "-c", JUDGE], cwd=ROOT / "packaging", input=json.dumps(broken), capture_output=True, text=True
    )
    assert int(judged.stdout) > 0, judged.stderr
