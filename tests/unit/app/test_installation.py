"""Which Assent this is: read from what the package command wrote, else told by what lies around the code."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from desktop import __version__
from desktop.app.home.installation import MAX_READ, read_installation, this_installation
from desktop.app.wiring.outside import start_words
from desktop.domain.installation import Build, Installation
from tests.harness.timeouts import WAIT_S

COMMIT, BUILT = "0123456789abcdef" * 2 + "01234567", "2026-11-27T09:00:00Z"
REPOSITORY = Path(__file__).resolve().parents[3]


def _place(tmp_path: Path, build: object = None) -> Path:
    code = tmp_path / "versions" / "0.1.0" / "lib" / "site-packages"
    (code / "resources").mkdir(parents=True)
    if build is not None:
        (code / "resources" / "build.json").write_text(build if isinstance(build, str) else json.dumps(build))
    return code


def _read(code: Path, prefix: Path | None = None, **environment: str) -> Installation:
    return read_installation(code, prefix or code.parents[1], environment)


@pytest.mark.spec("R-PKG-1")
@pytest.mark.parametrize("kind", ["wheel", "folder", "deb", "rpm", "appimage", "flatpak", "windows", "macos"])
def test_a_package_says_its_kind_its_commit_and_when_that_was_made(tmp_path: Path, kind: str) -> None:
    code = _place(tmp_path, {"format": 1, "kind": kind, "commit": COMMIT, "built": BUILT})
    found = _read(code)
    assert (found.kind, found.commit, found.built, found.version) == (kind, COMMIT, BUILT, __version__)
    assert found.line == f"{kind}, {COMMIT[:12]}"
    assert found.trouble == ""


def test_what_is_written_is_read_back() -> None:
    build = Build("deb", COMMIT, BUILT)
    assert json.loads(json.dumps(build.to_plain())) == {"format": 1, "kind": "deb", "commit": COMMIT, "built": BUILT}


def test_each_kind_says_what_starts_it_again_after_an_update(tmp_path: Path) -> None:
    def of(kind: str, **environment: str) -> tuple[str, ...]:
        place = _place(tmp_path / kind, {"format": 1, "kind": kind, "commit": COMMIT, "built": BUILT})
        return _read(place, **environment).command

    image = tmp_path / "Assent.AppImage"
    image.touch()
    assert of("folder") == (str(tmp_path / "folder" / "assent"),)
    assert of("deb") == of("rpm") == ("/usr/bin/assent",)
    assert of("appimage", APPIMAGE=str(image)) == (str(image),)
    assert of("flatpak", FLATPAK_ID="org.example.App") == ("flatpak", "run", "org.example.App")
    inside = tmp_path / "windows" / "versions" / "0.1.0"
    assert of("windows") == (str(inside / "pythonw.exe"), "-I", "-m", "desktop")
    assert of("macos") == (str(tmp_path / "macos" / "versions" / "0.1.0" / "MacOS" / "assent"),)
    assert of("wheel") == ()


def test_an_image_that_could_not_be_mounted_is_started_again_without_mounting(tmp_path: Path) -> None:
    code = _place(tmp_path, {"format": 1, "kind": "appimage", "commit": COMMIT, "built": BUILT})
    image, extracted = tmp_path / "Assent.AppImage", tmp_path / "appimage_extracted_5d41.Xa83bc"
    image.touch()
    found = _read(code, extracted / "usr/lib/assent", APPIMAGE=str(image))
    assert found.command == (str(image), "--appimage-extract-and-run")


def test_an_image_that_is_not_there_or_no_whole_path_starts_nothing(tmp_path: Path) -> None:
    code = _place(tmp_path, {"format": 1, "kind": "appimage", "commit": COMMIT, "built": BUILT})
    assert _read(code).command == _read(code, APPIMAGE="Assent").command == ()
    assert _read(code, APPIMAGE=str(tmp_path / "gone")).command == ()


def test_the_folder_with_all_its_versions_is_the_root_of_one(tmp_path: Path) -> None:
    code = _place(tmp_path, {"format": 1, "kind": "folder", "commit": COMMIT, "built": BUILT})
    assert _read(code).root == str(tmp_path)
    assert _read(code, tmp_path / "elsewhere").root == str(tmp_path / "elsewhere")


GOOD = {"format": 1, "kind": "deb", "commit": COMMIT, "built": BUILT}


@pytest.mark.parametrize(
    "bad",
    [
        "",
        "[]",
        "null",
        "{",
        "[" * 60_000,
        '"deb"',
        " " * (MAX_READ + 1),
        "\ud800",
        {**GOOD, "format": 2},
        {**GOOD, "kind": "msi"},
        {**GOOD, "kind": "checkout"},
        {**GOOD, "kind": ["deb"]},
        {**GOOD, "commit": "x" * 40},
        {**GOOD, "commit": COMMIT[:12]},
        {**GOOD, "built": "yesterday"},
        {**GOOD, "built": None},
        {"kind": "deb"},
    ],
    ids=lambda bad: str(bad)[:60].strip() or "blank",
)
def test_a_description_that_nobody_wrote_makes_an_unknown_kind_that_says_why(tmp_path: Path, bad: object) -> None:
    code = _place(tmp_path)
    text = bad if isinstance(bad, str) else json.dumps(bad)
    (code / "resources" / "build.json").write_bytes(text.encode("utf-8", "surrogatepass"))
    found = _read(code)
    assert (found.kind, found.commit, found.command) == ("unknown", "", ())
    assert found.trouble.startswith("resources/build.json cannot be used: ")


def test_a_description_that_is_a_folder_is_no_description(tmp_path: Path) -> None:
    code = _place(tmp_path)
    (code / "resources" / "build.json").mkdir()
    assert _read(code).kind == "unknown"


def test_code_that_lies_anywhere_else_is_of_an_unknown_kind(tmp_path: Path) -> None:
    found = _read(_place(tmp_path))
    assert (found.kind, found.installer) == ("unknown", "")
    assert found.trouble


@pytest.mark.parametrize(
    ("mark", "place", "installer", "named"),
    [
        ("", "env", "pip", "pip"),
        ("", "env", "uv", "uv"),
        ("uv-receipt.toml", "uv/tools/assent", "uv", "uv-tool"),
        ("", "uv/archive-v0/Zp", "uv", "uvx"),
        ("pipx_metadata.json", "pipx/venvs/assent", "uv", "pipx"),
        ("pipx_metadata.json", "pipx/venvs/assent", "pip", "pipx"),
        ("pipx_metadata.json", ".cache/pipx/bc55d2", "uv", "pipx-run"),
        ("", "env", "conda", ""),
    ],
)
def test_who_put_a_wheel_here_is_told_by_the_marks_it_leaves(
    tmp_path: Path, mark: str, place: str, installer: str, named: str
) -> None:
    prefix = tmp_path / place
    code = prefix / "lib" / "site-packages"
    (code / "resources").mkdir(parents=True)
    record = code / "assent-0.1.0.dist-info"
    record.mkdir()
    (record / "INSTALLER").write_text(f"{installer}\n")
    if mark:
        (prefix / mark).touch()
    found = _read(code, prefix)
    assert (found.kind, found.installer, found.root) == ("wheel", named, str(prefix))
    assert found.line == (f"wheel by {named}" if named else "wheel")


def test_a_checkout_says_what_git_says(tmp_path: Path) -> None:
    def git(folder: Path, *words: str) -> str:
        options = ["-c", "user.name=x", "-c", "user.email=x@example.org", "-c", "commit.gpgsign=false"]
        done = subprocess.run(["git", *options, *words], cwd=folder, capture_output=True, text=True, check=True)
        return done.stdout.strip()

    checkout, beside = tmp_path / "checkout", tmp_path / "beside"
    checkout.mkdir()
    (checkout / "pyproject.toml").touch()
    assert (_read(checkout, tmp_path).kind, _read(checkout, tmp_path).commit) == ("checkout", "")
    git(checkout, "init", "-q")
    assert _read(checkout, tmp_path).commit == ""
    git(checkout, "add", ".")
    git(checkout, "commit", "-q", "-m", "x")
    head = git(checkout, "rev-parse", "HEAD")
    assert _read(checkout, tmp_path).commit == head
    git(checkout, "worktree", "add", "-q", "-b", "other/one", str(beside))
    assert _read(beside, tmp_path).commit == head
    git(checkout, "pack-refs", "--all")
    assert _read(checkout, tmp_path).commit == _read(beside, tmp_path).commit == head
    git(checkout, "checkout", "-q", "--detach")
    assert _read(checkout, tmp_path).commit == head
    (checkout / ".git" / "HEAD").write_text("ref: ../pyproject.toml\n")
    assert _read(checkout, tmp_path).commit == ""


def test_this_one_knows_what_it_is() -> None:
    found = this_installation()
    assert (found.kind, found.code, found.trouble) == ("checkout", str(REPOSITORY), "")


@pytest.mark.parametrize("how", [(), ("-I",)], ids=["by a Python of the person", "by its own Python"])
def test_its_own_processes_hear_as_little_of_the_environment_as_itself(how: tuple[str, ...]) -> None:
    code = f"import sys; sys.path.insert(0, {str(REPOSITORY)!r})\n"
    code += "from desktop.app.home.installation import own_start; print(*own_start('--check')[1:])"
    done = subprocess.run(
        [sys.executable, *how, "-c", code], capture_output=True, text=True, timeout=WAIT_S, check=True
    )
    assert done.stdout.split() == [*how, "-m", "desktop", "--check"]


@pytest.mark.spec("R-PKG-2")
def test_another_program_that_stands_in_a_project_starts_nothing_of_the_project(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    command, environment = start_words(tmp_path / "home")
    (tmp_path / "desktop").mkdir()
    for name in ("desktop/__init__.py", "desktop/__main__.py", "argparse.py", "sitecustomize.py"):
        (tmp_path / name).write_text("raise SystemExit('planted')\n")
    done = subprocess.run(
        [*command, "--help"], cwd=tmp_path, env=dict(environment), capture_output=True, text=True, timeout=WAIT_S
    )
    assert done.stdout.startswith("usage: assent mcp"), done.stderr
