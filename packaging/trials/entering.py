"""Two ways into a tree. bubblewrap's is the shorter one, but who comes by it can never become another user: programs
such as `fusermount3`, which mount for ordinary users, are root for a moment. What needs those enters by ``unshare``.

Mounts are written once, in bubblewrap's own words.
"""

import shlex
from collections.abc import Iterator, Mapping, Sequence

BUBBLEWRAP = ("--unshare-pid", "--die-with-parent", "--clearenv", "--cap-add", "ALL")
UNSHARE = ("unshare", "--mount", "--propagation", "private", "--pid", "--fork", "--kill-child=KILL")
DEVICES = (
    ("null", 1, 3),
    ("zero", 1, 5),
    ("full", 1, 7),
    ("random", 1, 8),
    ("urandom", 1, 9),
    ("tty", 5, 0),
    ("fuse", 10, 229),
)
ENTRANCES = ("bwrap", "unshare")
"""What the first processes of a program in a tree are called; they are none of it."""


def by_bubblewrap(
    root: str, mounts: Sequence[str], environment: Mapping[str, str], folder: str, words: Sequence[str], network: bool
) -> list[str]:
    """The whole command; ``folder`` is where it starts."""
    settings = [word for name, value in environment.items() for word in ("--setenv", name, value)]
    apart = [] if network else ["--unshare-net"]
    return ["bwrap", "--bind", root, "/", *mounts, *BUBBLEWRAP, *apart, *settings, "--chdir", folder, "--", *words]


def by_unshare(
    root: str, mounts: Sequence[str], environment: Mapping[str, str], folder: str, words: Sequence[str], network: bool
) -> list[str]:
    """The same, for who may become another user."""
    lines = [f"mount --bind {root} {root}", *_mounting(root, list(mounts)), f"cd {root}", "pivot_root . mnt"]
    lines += ["umount --lazy /mnt", f"cd {folder}", 'exec env -i "$@"']
    settings = [f"{name}={value}" for name, value in environment.items()]
    return [*UNSHARE, *([] if network else ["--net"]), "--", "sh", "-ec", "\n".join(lines), "enter", *settings, *words]


def _devices(place: str) -> Iterator[str]:
    """As a real machine has them: there, everybody may open the one for file systems of their own."""
    yield f"mount -t tmpfs -o nosuid,mode=755 tmpfs {place}"
    for name, major, minor in DEVICES:
        yield f"mknod -m 666 {place}/{name} c {major} {minor}"
    yield f"mkdir {place}/pts {place}/shm\nln -s pts/ptmx {place}/ptmx\nln -s /proc/self/fd {place}/fd"
    yield f"mount -t devpts -o newinstance,ptmxmode=666,mode=620 devpts {place}/pts"
    yield f"mount -t tmpfs -o nosuid,nodev,mode=1777 tmpfs {place}/shm"


def _mounting(root: str, words: list[str]) -> Iterator[str]:
    options = ["nosuid", "nodev"]
    while words:
        kind = words.pop(0).removeprefix("--")
        if kind in ("perms", "size"):
            options.append(f"{'mode' if kind == 'perms' else kind}={words.pop(0)}")
            continue
        source = words.pop(0) if kind in ("bind", "ro-bind") else ""
        inside = words.pop(0)
        place = shlex.quote(f"{root}{inside}")
        if kind == "proc":
            yield f"mount -t proc proc {place}"
        elif kind == "dev":
            yield from _devices(place)
        elif kind == "tmpfs":
            yield f"mkdir -p {place}\nmount -t tmpfs -o {','.join(options)} tmpfs {place}"
        else:
            quoted = shlex.quote(source)
            folder, name = shlex.quote(f"{root}{inside}".rpartition("/")[0]), place
            yield f"if [ -d {quoted} ]; then mkdir -p {name}; else mkdir -p {folder}; [ -e {name} ] || : > {name}; fi"
            yield f"mount --bind {quoted} {place}"
            if kind == "ro-bind":
                yield f"mount -o remount,bind,ro {place}"
        options = ["nosuid", "nodev"]
