"""Files in an order, with rights, owners and times that do not depend on who packs them, where and when."""

import gzip
import lzma
import os
import tarfile
from collections.abc import Iterator
from pathlib import Path
from typing import IO, cast

EVERYBODY_READS, EVERYBODY_RUNS = 0o644, 0o755


def normalise(tree: Path, epoch: int) -> None:
    """Rights and times of everything in a folder: 0755 for folders and programs, else 0644."""
    for path in [tree, *tree.rglob("*")]:
        if not path.is_symlink():
            runs = path.is_dir() or path.stat().st_mode & 0o100
            path.chmod(EVERYBODY_RUNS if runs else EVERYBODY_READS)
        os.utime(path, (epoch, epoch), follow_symlinks=False)


def pack(tree: Path, out: Path, epoch: int, *, top: str) -> None:
    """A folder as ``top/`` in an archive: .tar.gz or .tar.xz, as its name says."""
    with out.open("wb") as file, _compressed(file, out.name) as stream:
        with tarfile.open(fileobj=stream, mode="w", format=tarfile.GNU_FORMAT) as archive:
            for path in [tree, *_sorted(tree)]:
                inside = path.relative_to(tree).as_posix()
                member = archive.gettarinfo(str(path), top if inside == "." else f"{top}/{inside}")
                member.uid = member.gid = 0
                member.uname = member.gname = "root"
                member.mtime = epoch
                if member.islnk():  # a second name of a file is packed as a file
                    member.type, member.linkname, member.size = tarfile.REGTYPE, "", path.stat().st_size
                if member.isreg():
                    with path.open("rb") as content:
                        archive.addfile(member, content)
                else:
                    archive.addfile(member)


def _compressed(file: IO[bytes], name: str) -> IO[bytes]:
    if name.endswith(".gz"):
        return cast(IO[bytes], gzip.GzipFile(filename="", mode="wb", compresslevel=9, fileobj=file, mtime=0))
    return cast(IO[bytes], lzma.LZMAFile(file, "wb", preset=4))


def _sorted(tree: Path) -> Iterator[Path]:
    yield from sorted(tree.rglob("*"), key=lambda path: path.relative_to(tree).as_posix())
