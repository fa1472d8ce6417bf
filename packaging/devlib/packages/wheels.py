"""sdist and wheel. The wheel is built from the sdist, as everybody else would who has only that."""

import os
import sys
import tarfile
from pathlib import Path

from .archive import normalise, pack
from .calling import call
from .source import Source

_SDIST = "import sys, setuptools.build_meta as backend; backend.build_sdist(sys.argv[1])"
_WHEEL = "import sys, setuptools.build_meta as backend; backend.build_wheel(sys.argv[1])"


def make_sdist(source: Source, work: Path, out: Path) -> Path:
    """``assent-VERSION.tar.gz`` in ``out``. What setuptools packed is packed once more, so that it is the same each
    time: its own archive has the times and the names of this machine."""
    raw = work / "raw"
    raw.mkdir(parents=True)
    _build(_SDIST, source.folder, raw, source.epoch)
    name = f"assent-{source.version}"
    unpacked = unpack_sdist(raw / f"{name}.tar.gz", work / "sdist")
    normalise(unpacked, source.epoch)
    made = out / f"{name}.tar.gz"
    pack(unpacked, made, source.epoch, top=name)
    return made


def make_wheel(source: Source, sdist: Path, work: Path, out: Path) -> Path:
    """``assent-VERSION-py3-none-any.whl`` in ``out``, from the sdist alone."""
    unpacked = unpack_sdist(sdist, work / "from-sdist")
    normalise(unpacked, source.epoch)
    _build(_WHEEL, unpacked, out, source.epoch)
    return out / f"assent-{source.version}-py3-none-any.whl"


def unpack_sdist(sdist: Path, into: Path) -> Path:
    """The one folder that is in it."""
    with tarfile.open(sdist) as archive:
        archive.extractall(into, filter="data")
    (top,) = into.iterdir()
    return top


def _build(code: str, folder: Path, out: Path, epoch: int) -> None:
    kept = {name: os.environ[name] for name in ("PATH", "HOME", "TMPDIR") if name in os.environ}
    environment = {**kept, "SOURCE_DATE_EPOCH": str(epoch), "PYTHONDONTWRITEBYTECODE": "1", "PYTHONHASHSEED": "0"}
    command = [sys.executable, "-c", code, str(out)]
    old = os.umask(0o022)
    try:
        call(command, "build the package", "Mend pyproject.toml, then run this again.", environment, folder)
    finally:
        os.umask(old)
