"""Mounts as ways out, run as a process in a mount namespace of its own (``unshare -m``): argv[1] is an empty folder.

Prints JSON: for each attack whether it got anything, by files and by each kind of confinement.
"""

import asyncio
import json
import os
import subprocess
import sys
from contextlib import closing
from pathlib import Path

from desktop.domain.errors import BoundaryViolation, ToolFailure
from desktop.domain.runs.cancellation import CancellationToken
from desktop.domain.safety import ProcessSpec
from desktop.safety.boundary.opening import PathWalker
from desktop.safety.confinement.process import GroupRunner
from desktop.safety.confinement.select import Kind, SystemConfinement
from tests.unit.safety.world import World

# name: (what is mounted, where, the file to read there); {o}utside, {s}sh, {d}ata, {w}orkspace, {r}oot of the world,
# {t}he top of the file system that it lies on ("/", where /tmp is none of its own) and the way from there {i}nto it
ATTACKS = {
    "a folder outside": ("{o}", "{w}/m", "secret.txt"),
    "a folder in a folder outside": ("{o}/deep", "{w}/m", "secret.txt"),
    "a file outside": ("{o}/secret.txt", "{w}/file.txt", ""),
    "a denied folder": ("{s}", "{w}/m", "id_rsa"),
    "a folder in a denied folder": ("{s}/deep", "{w}/m", "key"),
    "a denied file": ("{s}/id_rsa", "{w}/file.txt", ""),
    "what holds a denied folder": ("{r}", "{w}/m", "person/.ssh/id_rsa"),
    "everything": ("{t}", "{w}/m", "{i}/person/.ssh/id_rsa"),
    "the app's data": ("{d}", "{w}/m", "assent.db"),
    "the app's home": ("{d}/..", "{w}/m", "data/assent.db"),
    "a denied folder, elsewhere": ("{s}", "{o}/m", "id_rsa"),
    "a folder in a denied folder, elsewhere": ("{s}/deep", "{o}/m", "key"),
}
CANARIES = ("PRIVATE", "OUTSIDE", "CONVERSATIONS")


def bound(source: str, target: str) -> None:
    """Mount it, making what it is laid over."""
    if os.path.isdir(source):
        os.makedirs(target, exist_ok=True)
    else:
        Path(target).touch()
    subprocess.run(["mount", "--bind", source, target], check=True)


def by_files(world: World, path: str) -> bool:
    """Read and write, by both ways to open."""
    got = ""
    for walker in (PathWalker(True), PathWalker(False)):
        for use in ("read", "write"):
            try:
                if use == "read":
                    with world.files(walker).open_read(path) as stream:
                        got += stream.read(100).decode()
                else:
                    world.files(walker).write_atomic(os.path.join(os.path.dirname(path), "planted"), b"x")
                    got += CANARIES[0] if not inside(world, path) else ""
            except (BoundaryViolation, ToolFailure):
                pass
    return any(canary in got for canary in CANARIES)


def inside(world: World, path: str) -> bool:
    """Whether the folder of the path is the workspace itself: planting there is no escape."""
    return os.path.dirname(path) == str(world.workspace)


def by_command(world: World, kind: Kind, path: str) -> bool | None:
    """Read what is denied, and write, from inside; what is outside and not denied may be read."""
    with closing(SystemConfinement(world.policy, lambda: world.settings, kinds=(kind,))) as confinement:
        if confinement.probe().kind != kind:
            return None
        command = f"cat '{path}'; echo planted > '{path}' && echo WRITTEN; echo x > '{os.path.dirname(path)}/planted'"
        command += " && echo MADE"
        spec = ProcessSpec(("sh", "-c", command), str(world.workspace), {"PATH": "/usr/bin:/bin"})
        outcome = asyncio.run(GroupRunner().run(confinement.wrap(spec), CancellationToken()))
    made = "MADE" in outcome.output and not inside(world, path)
    return made or any(word in outcome.output for word in ("PRIVATE", "CONVERSATIONS", "WRITTEN"))


def main() -> None:
    world = World(Path(sys.argv[1]))
    os.environ["HOME"] = str(world.person)
    for folder, name, text in ((world.ssh, "key", "PRIVATE"), (world.outside, "secret.txt", "OUTSIDE")):
        (folder / "deep").mkdir()
        (folder / "deep" / name).write_text(text)
    places = {"o": world.outside, "s": world.ssh, "d": world.home / "data", "w": world.workspace, "r": world.root}
    points = {line.split()[4] for line in Path("/proc/self/mountinfo").read_text().splitlines()}
    top = next(folder for folder in world.root.parents if str(folder) in points)
    places |= {"t": top, "i": world.root.relative_to(top)}
    originals = {p: p.read_text() for p in world.root.rglob("*") if p.is_file()}
    found: dict[str, dict[str, bool | None]] = {}
    for name, (source, target, inner) in ATTACKS.items():
        source, target, inner = (text.format(**places) for text in (source, target, inner))
        bound(os.path.realpath(source), target)
        path = os.path.join(target, inner.lstrip("/")) if inner else target
        for place, text in originals.items():
            place.write_text(text)
        assert any(canary in Path(path).read_text() for canary in CANARIES), (name, path)
        found[name] = {
            "files": by_files(world, path),
            "bubblewrap": by_command(world, "bubblewrap", path),
            "landlock": by_command(world, "landlock", path),
        }
        subprocess.run(["umount", target], check=True)
    found["allowed"] = friendly(world)
    print(json.dumps(found))


def friendly(world: World) -> dict[str, bool | None]:
    """What may be mounted: a file system of its own, and one allowed folder in another. True where that is refused."""
    (world.workspace / "own").mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "none", str(world.workspace / "own")], check=True)
    (world.workspace / "a").mkdir()
    bound(str(world.workspace / "a"), str(world.workspace / "b"))
    refused = {}
    for name in ("own", "b"):
        try:
            world.files().write_atomic(f"{name}/new.txt", b"x")
            refused[name] = False
        except BoundaryViolation:
            refused[name] = True
    return refused


main()
