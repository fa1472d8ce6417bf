"""What the folder, and the packages made of it, are made by: reading programs, leaving out, proving, describing."""

import json
import os
import pwd
import py_compile
import shutil
import subprocess
import sys
from pathlib import Path

import PySide6
import pytest
from devlib.packages import elf, probe
from devlib.packages.appimage import START, WHERE, make_appimage, starts_apart
from devlib.packages.bytecode import compared_bytecode, compile_all
from devlib.packages.flatpak import make_flatpak
from devlib.packages.folder import LAUNCHER, LOADER, NAME, Version, launcher, lay_folder
from devlib.packages.proving import imported_by, our_own, refuse_new_bytecode
from devlib.packages.pruning import PACKAGES, STANDARD_LIBRARY, UNCOMPILED, prune_bytecode, prune_table
from devlib.packages.source import Source
from devlib.packages.system_packages import needed_libraries
from devlib.words import Stop

from desktop.domain.installation import build_from_plain
from tests.harness.timeouts import WAIT_S

ROOT = Path(__file__).resolve().parents[2]
SOURCE = Source(ROOT, "1.2.3", "0" * 40, 1795770000)


def test_a_program_says_what_it_needs() -> None:
    found = elf.needs(Path(os.path.realpath(sys.executable)))
    assert "libc.so.6" in found.libraries
    assert (2, 2) <= found.glibc < (3, 0)
    assert not elf.is_elf(ROOT / "README.md")


@pytest.mark.spec("R-PKG-1")
def test_each_library_of_the_system_is_asked_for_in_the_version_that_is_used_of_it(tmp_path: Path) -> None:
    """One file needs an old libc and a new libm: a newer libc on the system does not make up for an older libm."""
    library = Path(PySide6.__file__).parent / "Qt" / "lib" / "libQt6Core.so.6"
    shutil.copy(library, tmp_path)
    newest = elf.newest_versions(tmp_path)
    families = sorted((name, version.partition("_")[0]) for name, version in newest)
    assert {("libc.so.6", "GLIBC"), ("libm.so.6", "GLIBC"), ("libstdc++.so.6", "GLIBCXX")} <= set(families)
    assert len(families) == len(set(families)), "of each family only the newest"
    glibc = {name: version for name, version in newest if version.startswith("GLIBC_")}
    assert glibc["libm.so.6"] != glibc["libc.so.6"] == "GLIBC_{}.{}".format(*elf.newest_glibc(tmp_path))
    (tmp_path / "libm.so.6").touch()
    assert "libm.so.6" not in dict(elf.newest_versions(tmp_path)), "what is brought along is not asked for"


def test_a_file_that_is_no_program_ends_the_build_with_its_name(tmp_path: Path) -> None:
    (tmp_path / "broken.so").write_bytes(b"\x7fELF and then nothing")
    with pytest.raises(Stop, match=r"broken\.so"):
        elf.newest_glibc(tmp_path)


def _laid(folder: Path, names: list[str]) -> None:
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(name)


def test_what_the_tables_name_is_left_out_and_nothing_beside_it(tmp_path: Path) -> None:
    left = ["a/tests/x.py", "a/b.pyi", "litellm/proxy/_experimental/out/index.html", "hf_xet/x.so", "bin/tool"]
    kept = ["a/testing.py", "a/b.py", "litellm/proxy/_experimental/mcp_server/utils.py", "a/bin/x", "hf/x.so"]
    _laid(tmp_path, left + kept)
    prune_table(tmp_path, PACKAGES)
    assert sorted(path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*") if path.is_file()) == sorted(
        kept
    )


def test_of_what_is_never_loaded_the_sources_stay_without_bytecode(tmp_path: Path) -> None:
    cache = f"__pycache__/{{}}.{sys.implementation.cache_tag}.pyc"
    kept = [f"{UNCOMPILED}/utils.py", f"{UNCOMPILED}/{cache.format('__init__')}", f"litellm/{cache.format('main')}"]
    kept += [f"{UNCOMPILED}/spend_tracking/{cache.format('savings')}"]
    left = [f"{UNCOMPILED}/{cache.format('utils')}", f"{UNCOMPILED}/auth/{cache.format('__init__')}"]
    _laid(tmp_path, kept + left)
    prune_bytecode(tmp_path)
    assert {path for path in tmp_path.rglob("*") if path.is_file()} == {tmp_path / name for name in kept}
    assert not (tmp_path / UNCOMPILED / "auth" / "__pycache__").exists()


def test_a_build_says_what_had_to_be_compiled_when_it_was_started(tmp_path: Path) -> None:
    _laid(tmp_path, ["a.pyc"])
    before = set(tmp_path.rglob("*.pyc"))
    refuse_new_bytecode(tmp_path, before)
    _laid(tmp_path, ["lib/b.pyc"])
    with pytest.raises(Stop, match=r"left without bytecode: lib/b\.pyc"):
        refuse_new_bytecode(tmp_path, before)


@pytest.fixture(scope="module")
def imported() -> set[str]:
    """By all our code, which takes a while to read."""
    return imported_by(ROOT / "desktop")


def test_of_the_standard_library_nothing_goes_that_our_code_imports(imported: set[str]) -> None:
    names = {name.partition(".")[0] for name in imported}
    left_out = {pattern.removesuffix(".py") for pattern, _ in STANDARD_LIBRARY if "/" not in pattern}
    assert names & left_out == set()


def test_every_import_of_our_code_is_tried_also_one_by_name(imported: set[str]) -> None:
    assert {"litellm", "jsonschema_rs", "PySide6.QtSvg", "botocore.auth", "sqlite3"} <= imported
    assert "realm" not in imported, "it lies beside the one that imports it"
    own = our_own(ROOT / "desktop")
    assert {"desktop", "desktop.app.main", "desktop.workers.model_host.host"} <= own
    assert not [name for name in own if name.endswith(("__main__", "__init__"))]


def test_what_is_tried_of_ours_is_only_what_this_system_can_import() -> None:
    picky = {
        ".".join(path.relative_to(ROOT).with_suffix("").parts)
        for path in (ROOT / "desktop").rglob("*.py")
        if "raise ImportError(" in path.read_text("utf-8")
    }
    tried = sorted(picky & our_own(ROOT / "desktop"))
    assert "desktop.systems.linux.places" in tried
    done = subprocess.run(
        [sys.executable, "-c", f"import {', '.join(tried)}"], cwd=ROOT, capture_output=True, text=True, timeout=WAIT_S
    )
    assert done.returncode == 0, done.stderr


def test_every_process_of_ours_is_started_from_a_finished_folder() -> None:
    workers = ROOT / "desktop" / "workers"
    scripts = {path.parent.name for path in workers.glob("*/__main__.py")}
    started = {word for make in probe.hosts(0).values() for word in make()._spec.argv if word.endswith("__main__.py")}
    assert {Path(script).parent.name for script in started} == scripts - {"js_code"}, (
        "the sandbox has a start of its own"
    )


def test_a_library_that_nobody_knows_the_package_of_ends_the_build(tmp_path: Path) -> None:
    """Of this Python, whose own library may be a file beside it, and which, where a distribution built it, takes the
    system's expat."""
    version = Version(tmp_path, SOURCE)
    (tmp_path / "lib").mkdir()
    made = tmp_path / "lib" / "python"
    made.write_bytes(Path(os.path.realpath(sys.executable)).read_bytes())
    outside = elf.from_outside(tmp_path)
    for strange in sorted(name for name in outside if name.startswith(("libexpat", "libpython"))):
        with pytest.raises(Stop, match=f"Nobody knows which package has .*{strange}"):
            needed_libraries(version)
        (tmp_path / "lib" / strange).touch()
    assert set(needed_libraries(version)) <= {"libz.so.1"}


@pytest.mark.parametrize("given", [None, "gone", "text", "program"])
def test_an_appimage_without_the_program_that_begins_it_is_not_made(tmp_path: Path, given: str | None) -> None:
    (tmp_path / "text").write_text("#!/bin/sh\n")
    (tmp_path / "program").write_bytes(b"\x7fELF\x02\x01\x01\0\0\0\0\0")
    runtime = None if given is None else tmp_path / given
    with pytest.raises(Stop, match="needs the program that stands at its beginning"):
        make_appimage(Version(tmp_path, SOURCE), runtime, tmp_path / "work", tmp_path)
    assert not list(tmp_path.glob("*.AppImage"))


def test_an_appimage_starts_its_own_assent_whatever_another_one_left_in_the_environment(tmp_path: Path) -> None:
    assert _begun(tmp_path, 'echo own "$@"', APPDIR=str(tmp_path / "another")) == "own a b\n"


def _begun(folder: Path, script: str, **environment: str) -> str:
    """What a script in the place of Assent says, started as an AppImage starts it."""
    begin, started = folder / "AppRun", folder / "usr/lib/assent/bin/assent"
    started.parent.mkdir(parents=True)
    for path, text in ((begin, START), (started, f"#!/bin/sh\n{script}\n")):
        path.write_text(text)
        path.chmod(0o755)
    variables = {"PATH": os.defpath, **environment}
    done = subprocess.run([begin, "a b"], env=variables, capture_output=True, text=True, timeout=WAIT_S)
    assert done.stderr == ""
    return done.stdout


@pytest.mark.spec("R-FS-10")
def test_a_folder_beside_an_appimage_does_not_take_the_place_of_the_persons_own(tmp_path: Path) -> None:
    image = str(tmp_path / "Assent.AppImage")
    said = 'echo "$HOME ${XDG_CONFIG_HOME-none}"'
    kept = {"HOME": "/home/ida", "XDG_CONFIG_HOME": "/home/ida/.config"}
    person = pwd.getpwuid(os.getuid()).pw_dir
    beside = _begun(tmp_path / "a", said, APPIMAGE=image, HOME=f"{image}.home", XDG_CONFIG_HOME=f"{image}.config")
    assert beside == f"{person} none\n"
    assert _begun(tmp_path / "b", said, APPIMAGE=image, **kept) == "/home/ida /home/ida/.config\n"
    assert _begun(tmp_path / "c", said, HOME="/home/ida") == "/home/ida none\n"


@pytest.mark.parametrize(("place", "apart"), [("$(mktemp -d)", True), ("$TMPDIR/appimage_extracted_1", False)])
def test_two_starts_of_an_appimage_are_extracted_into_a_folder_each(tmp_path: Path, place: str, apart: bool) -> None:
    program = tmp_path / "image"
    program.write_text(WHERE.replace("\n", f"\nAPPDIR={place}\n", 1))
    assert starts_apart(["sh", str(program)]) is apart


def test_the_flatpak_names_the_folder_by_its_digest_and_turns_its_kind(tmp_path: Path) -> None:
    folder = tmp_path / "assent-1.2.3-linux-x86_64.tar.xz"
    folder.write_bytes(b"packed")
    manifest = json.loads(make_flatpak(SOURCE, folder, tmp_path).read_text())
    (module,) = manifest["modules"]
    (archive,) = module["sources"]
    digest = subprocess.run(["sha256sum", folder], capture_output=True, text=True, check=True).stdout.split()[0]
    assert (archive["path"], archive["sha256"]) == (folder.name, digest)
    build = tmp_path / "versions/1.2.3/lib/python3.11/site-packages/resources/build.json"
    build.parent.mkdir(parents=True)
    build.write_text(SOURCE.described("folder"))
    subprocess.run(["sh", "-c", module["build-commands"][0]], cwd=tmp_path, check=True)
    assert build.read_text() == SOURCE.described("flatpak")
    assert build_from_plain(json.loads(build.read_text())).kind == "flatpak"


def test_the_folder_starts_its_version_by_its_own_path_wherever_it_was_moved(tmp_path: Path) -> None:
    version = Version(tmp_path / "version", SOURCE)
    start = version.prefix / "bin" / "assent"
    start.parent.mkdir(parents=True)
    start.write_text('#!/bin/sh\necho "$0 $@"\n')
    start.chmod(0o755)
    build = version.packages / "resources/build.json"
    _laid(version.packages, ["resources/build.json", "assent-1.2.3.dist-info/RECORD"])
    build.write_text(SOURCE.described("wheel"))
    lay_folder(version, tmp_path / "assent")
    moved = (tmp_path / "assent").rename(tmp_path / "some where else")
    done = subprocess.run([moved / "assent", "--home", "a b"], capture_output=True, text=True)
    assert (done.stdout, done.stderr) == (f"{moved}/versions/1.2.3/bin/assent --home a b\n", "")
    written = moved / "versions/1.2.3/lib" / NAME / "site-packages/resources/build.json"
    assert build_from_plain(json.loads(written.read_text())).kind == "folder"
    assert build_from_plain(json.loads(build.read_text())).kind == "wheel", "the one that it is made of stays"


def test_bytecode_is_compared_with_no_source_and_the_same_in_every_place(tmp_path: Path) -> None:
    """Also that of what the compiling itself loads, and of what was compiled before."""
    made: list[dict[str, bytes]] = []
    for place in ("here", "a/longer/place"):
        version = Version(tmp_path / place, SOURCE)
        _laid(version.packages, ["desktop/__init__.py", "desktop/one.py"])
        (version.packages / "desktop/__init__.py").write_text("x = 1\n")
        (version.packages / "desktop/one.py").write_text("def one():\n    return 'a name', __file__\n")
        py_compile.compile(str(version.packages / "desktop/one.py"))
        assert len(compared_bytecode(tmp_path / place)) == 1
        version.python.parent.mkdir(parents=True)
        version.python.symlink_to(sys.executable)
        compile_all(version.python, version.prefix, version.prefix / "lib" / NAME)
        assert compared_bytecode(tmp_path / place) == []
        made.append({path.name: path.read_bytes() for path in version.packages.rglob("*.pyc")})
    assert len(made[0]) == 2
    assert made[0] == made[1]


def _started(tmp_path: Path, tools: dict[str, str], loader: str = LOADER) -> "subprocess.CompletedProcess[str]":
    """The launcher of a version, on a system with these tools and no others."""
    (tmp_path / "tools").mkdir()
    for name in ("readlink", "dirname"):
        (tmp_path / "tools" / name).symlink_to(f"/usr/bin/{name}")
    for name, text in {"uname": "echo x86_64", **tools}.items():
        (tmp_path / "tools" / name).write_text(f"#!/bin/sh\n{text}\n")
    start = tmp_path / "assent"
    start.write_text(launcher((ROOT / LAUNCHER).read_text("utf-8"), (2, 35), loader, "python9"))
    (tmp_path / "python9").write_text('#!/bin/sh\necho "started $@"\n')
    for path in (start, tmp_path / "python9", *(tmp_path / "tools" / name for name in ("uname", *tools))):
        path.chmod(0o755)
    environment = {"PATH": str(tmp_path / "tools")}
    return subprocess.run([start, "--home", "a b"], env=environment, capture_output=True, text=True, timeout=WAIT_S)


@pytest.mark.parametrize("libc", ["glibc 2.35", "glibc 2.36", "glibc 2.100", "glibc 3.0", "glibc 2.40.9000"])
def test_a_version_starts_where_glibc_is_new_enough(tmp_path: Path, libc: str) -> None:
    done = _started(tmp_path, {"getconf": f"echo '{libc}'"})
    assert (done.returncode, done.stdout, done.stderr) == (0, "started -I -m desktop --home a b\n", "")


def test_a_version_starts_where_nothing_tells_the_c_library(tmp_path: Path) -> None:
    """As in a Flatpak, or on a system that has its programs elsewhere: the loader is there, so it is glibc."""
    done = _started(tmp_path, {})
    assert (done.returncode, done.stdout, done.stderr) == (0, "started -I -m desktop --home a b\n", "")


@pytest.mark.spec("R-PKG-1")
@pytest.mark.parametrize(
    ("tools", "said"),
    [
        ({"getconf": "echo glibc 2.31"}, "needs glibc 2.35 or newer; this system has 2.31."),
        ({"getconf": "echo glibc 1.99"}, "needs glibc 2.35 or newer; this system has 1.99."),
        ({"getconf": "exit 1"}, "needs a Linux with glibc 2.35 or newer, and this one has another C library."),
        ({"getconf": "echo musl"}, "needs a Linux with glibc 2.35 or newer, and this one has another C library."),
        ({"uname": "echo aarch64"}, "is for computers of the kind x86_64, and this one is aarch64."),
        ({"uname": "echo i686"}, "is for computers of the kind x86_64, and this one is i686."),
    ],
)
def test_on_a_computer_that_does_not_fit_it_says_what_it_needs(
    tmp_path: Path, tools: dict[str, str], said: str
) -> None:
    _refused(_started(tmp_path, tools), said)


@pytest.mark.spec("R-PKG-1")
def test_where_only_the_kernel_has_64_bits_it_says_so(tmp_path: Path) -> None:
    loader = str(tmp_path / "ld.so")
    _refused(_started(tmp_path, {"getconf": "echo glibc 2.36"}, loader), f"of 64 bits, and {loader} is not here.")


def _refused(done: "subprocess.CompletedProcess[str]", said: str) -> None:
    assert (done.returncode, done.stdout) == (2, "")
    first, step = done.stderr.splitlines()
    assert first.startswith("assent: This Assent ")
    assert first.endswith(said)
    assert step.startswith("  Install Assent's wheel with pipx or uv instead")
