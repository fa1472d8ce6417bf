"""Bare Debian trees: made once, copied for a trial by an overlay, and entered as root or as an ordinary user.

Who is in a tree sees it as the whole machine, but for the screen and the session bus, which stand outside: so a tree
has the libraries that the package brings, and no others. bubblewrap turns the root around (``pivot_root``): in a plain
``chroot`` the kernel refuses the user namespaces by which the app confines what it starts.
"""

import contextlib
import os
import shutil
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from trials.entering import by_bubblewrap, by_unshare

NAME, NUMBER = "stranger", 1000
"""The ordinary user in each tree, and outside of it."""
HOME = Path("/home") / NAME
RESOLVER = Path("/etc/resolv.conf")
TRUSTED, CERTIFICATES = Path("/etc/ssl/certs/ca-certificates.crt"), Path("/run/certificates.crt")
"""What this machine trusts, and where a tree finds it: a bare tree trusts nobody."""
QUIET = ("-o", "Acquire::Check-Valid-Until=false", "-o", "Acquire::Check-Date=false", "-o", "Dpkg::Use-Pty=0")
PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
LONGEST_S = 900.0


class TrialFailed(Exception):
    """What did not go as a stranger would expect it, in words."""


@dataclass(frozen=True)
class Tree:
    """A tree that a trial may change; ``screen`` is what the user's session has, by name."""

    root: Path
    screen: Mapping[str, str]
    shared: Sequence[Path] = ()

    @property
    def home(self) -> Path:
        """The user's home, seen from outside."""
        return self.root / HOME.relative_to("/")

    def command(
        self,
        words: Sequence[str],
        *,
        root: bool = False,
        network: bool = True,
        setuid: bool = False,
        more: Sequence[str] = (),
        **values: str,
    ) -> list[str]:
        """The command that runs ``words`` in the tree. ``setuid``: for who starts programs that become root;
        ``more``: further mounts, in bubblewrap's words; ``values``: further environment, one that is empty is taken
        away."""
        mounts = ["--proc", "/proc", "--dev", "/dev", "--perms", "1777", "--tmpfs", "/tmp", "--tmpfs", "/run"]
        for place, inner in ((RESOLVER, RESOLVER), (TRUSTED, CERTIFICATES)):
            mounts += ["--ro-bind", str(place.resolve()), str(inner)] if place.exists() else []
        for place in self.shared:
            mounts += ["--bind", str(place), str(place)]
        environment = {"PATH": PATH, "LANG": "C.UTF-8", "SSL_CERT_FILE": str(CERTIFICATES)}
        environment |= {"PIP_CERT": str(CERTIFICATES), "DEBIAN_FRONTEND": "noninteractive"}
        if root:
            environment |= {"HOME": "/root", "USER": "root"}
        else:
            environment |= {"HOME": str(HOME), "USER": NAME, **self.screen}
        given = {name: value for name, value in {**environment, **values}.items() if value}
        person = ["--reuid", str(NUMBER), "--regid", str(NUMBER), "--init-groups", "--inh-caps=-all"]
        bounds = [] if setuid else ["--bounding-set=-all"]
        by = [] if root else ["setpriv", *person, *bounds, "--"]
        enter = by_unshare if setuid else by_bubblewrap
        return enter(str(self.root), [*mounts, *more], given, "/root" if root else str(HOME), [*by, *words], network)

    def run(self, words: Sequence[str], *, root: bool = False, limit_s: float = LONGEST_S, **options: Any) -> str:
        """What the command says. Raises TrialFailed when it fails."""
        done = self.tried(words, root=root, limit_s=limit_s, **options)
        if done.returncode != 0:
            raise TrialFailed(f"`{' '.join(words)}` failed ({done.returncode}): {done.stdout[-1500:]}")
        return done.stdout

    def tried(
        self, words: Sequence[str], *, root: bool = False, limit_s: float = LONGEST_S, **options: Any
    ) -> subprocess.CompletedProcess[str]:
        """The command, and how it ended; its complaints are in what it says."""
        command = self.command(words, root=root, **options)
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "stdin": subprocess.DEVNULL}
        return subprocess.run(command, text=True, errors="replace", timeout=limit_s, **pipes)  # type: ignore[call-overload, no-any-return]

    def apt(self, *packages: str) -> None:
        """Install Debian's packages, as root."""
        self.run(["apt-get", *QUIET, "update", "-q"], root=True)
        self.run(["apt-get", *QUIET, "install", "-y", "-q", "--no-install-recommends", *packages], root=True)

    def give(self, source: Path, place: str) -> None:
        """Copy a file or folder to an absolute place in the tree, for everybody to read."""
        target = self.root / place.lstrip("/")
        target.parent.mkdir(parents=True, exist_ok=True)
        if source.is_dir():
            shutil.copytree(source, target, dirs_exist_ok=True)
        else:
            shutil.copy(source, target)
        own(target)


def own(place: Path) -> None:
    """Give a place with everything in it to the ordinary user."""
    os.chown(place, NUMBER, NUMBER, follow_symlinks=False)
    for folder, folders, files in os.walk(place):
        for name in (*folders, *files):
            os.chown(Path(folder) / name, NUMBER, NUMBER, follow_symlinks=False)


def base_tree(store: Path, suite: str, mirror: str, packages: Sequence[str] = ()) -> Path:
    """The folder of a bare tree of this suite with these packages and the ordinary user in it; made when it is not
    there. A half-made one has another name."""
    name = "+".join([suite, *packages])
    place = store / "trees" / name
    if place.is_dir():
        return place
    making = place.with_name(f"{name}.making")
    shutil.rmtree(making, ignore_errors=True)
    making.parent.mkdir(parents=True, exist_ok=True)
    options = [f"--aptopt={QUIET[at + 1]}" for at in range(0, len(QUIET), 2) if QUIET[at + 1].startswith("Acquire")]
    options += [f"--include={','.join(packages)}"] if packages else []
    user = f"useradd --create-home --uid {NUMBER} --shell /bin/bash {NAME}"
    options += [f'--customize-hook=chroot "$1" {user}', '--customize-hook=touch "$1/etc/resolv.conf"']
    command = ["mmdebstrap", "--variant=minbase", *options, suite, str(making), *([mirror] if mirror else [])]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode != 0:
        raise TrialFailed(f"mmdebstrap could not make {name}: {done.stdout[-1500:]}")
    making.rename(place)
    return place


@contextlib.contextmanager
def copied(base: Path, store: Path, screen: Mapping[str, str], shared: Sequence[Path] = ()) -> Iterator[Tree]:
    """A copy of a tree that costs nothing: what is changed lies beside it, and is gone afterwards."""
    place = store / "copies" / f"{base.name}-{os.getpid()}-{time.monotonic_ns()}"
    upper, work, merged = place / "upper", place / "work", place / "merged"
    for folder in (upper, work, merged):
        folder.mkdir(parents=True)
    layers = f"lowerdir={base},upperdir={upper},workdir={work}"
    subprocess.run(["mount", "-t", "overlay", "overlay", "-o", layers, str(merged)], check=True)
    try:
        yield Tree(merged, screen, shared)
    finally:
        subprocess.run(["umount", "--lazy", str(merged)], check=False)
        shutil.rmtree(place, ignore_errors=True)
