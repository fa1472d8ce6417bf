"""The course of one kind: installed, started to the demo's end, upgraded over old homes, downgraded, removed."""

import hashlib
import shutil
import sqlite3
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from trials.desktop import Desktop
from trials.kinds import Installed
from trials.person import Started, started
from trials.trees import TrialFailed, own

ROOT = Path(__file__).resolve().parents[2]
OLD_HOMES = ROOT / "tests" / "upgrade" / "data"
TOO_NEW = 9999
"""A format of the database that no version has."""
FIRST_START_S, START_S = 600.0, 60.0
"""Far above what may be: the figure says how long it took."""


@dataclass
class Row:
    """What came of one trial."""

    trial: str
    kind: str
    suite: str
    well: bool = False
    figures: dict[str, Any] = field(default_factory=dict)
    said: str = ""


@dataclass
class Bench:
    """An installed kind with the session it is used in, and where pictures and logs go. ``older``: a package of
    an earlier version, in the tree; "": there is none."""

    installed: Installed
    desktop: Desktop
    out: Path
    older: str = ""

    @property
    def home(self) -> Path:
        """Assent's home of the ordinary user, seen from outside."""
        return self.installed.tree.home / ".agent"

    @contextmanager
    def app(self, name: str, *words: str, **options: Any) -> Iterator[Started]:
        """The app, started as a stranger does; a picture of the screen stays when something goes wrong."""
        kind = self.installed.kind
        command = [*self.installed.command, *words]
        log = self.out / f"{kind.name.replace(' ', '-')}-{name}.log"
        with started(self.installed.tree, self.desktop, command, log, **{**kind.values, **options}) as app:
            try:
                yield app
            except TrialFailed:
                app.picture().save(log.with_suffix(".png"))
                logs = self.home / "logs"
                if logs.is_dir():  # what crashed says where in there, and the home may go with the trial
                    shutil.copytree(logs, log.with_suffix(".logs"), dirs_exist_ok=True)
                raise

    def ended(self, app: Started) -> None:
        """Close it and hold it against an orderly end."""
        code = app.close()
        if code != 0:
            raise TrialFailed(f"it ended with {code}: {app.said[-800:]}")
        reports = sorted((self.home / "logs").glob("crash*"))
        if reports:
            raise TrialFailed(f"it left a crash report: {reports[0].read_text(errors='replace')[:1500]}")


Trial = Callable[[Bench], Mapping[str, Any]]


def first_answer(bench: Bench) -> Mapping[str, Any]:
    """A new user: first window, the demo, its answer, its question, its end; then what it costs, and a second start."""
    with bench.app("first") as app:
        figures: dict[str, Any] = {"first window s": round(app.painted(FIRST_START_S), 2)}
        app.find("Start the demo", "push button")
        figures["first page s"] = round(app.seconds, 2)
        pressed = app.seconds
        app.click("Start the demo", "push button")
        figures["answer s"] = round(app.read("script that plays a model") - pressed, 2)
        app.insist("Allow once", "push button")
        app.find("Send", "push button")
        figures |= {f"{name} MB": mb for name, mb in app.memory_mb().items()}
        if not (bench.home / "workspace" / "demo" / "first-light.md").is_file():
            raise TrialFailed("what was allowed was not written")
        app.picture().save(app.log.with_suffix(".png"))
        bench.ended(app)
    with bench.app("second") as app:
        figures["next window s"] = round(app.painted(START_S), 2)
        app.read("script that plays a model")
        bench.ended(app)
    return figures


def upgraded(bench: Bench) -> Mapping[str, Any]:
    """A home that each earlier format left behind: its chat is there, and the database is whole afterwards."""
    latest, opened = len(list(OLD_HOMES.glob("*.db"))), 0
    begun = time.monotonic()
    for old in sorted(OLD_HOMES.glob("*.db")):
        with _home_of(bench, old):
            with bench.app(f"upgrade-{old.stem}") as app:
                app.painted(START_S)
                app.read("A long talk")
                bench.ended(app)
            before, after = _look_into(old), _look_into(bench.home / "data" / "assent.db")
            if after[1:] != before[1:] or not after[0] > latest - 1:
                raise TrialFailed(f"{old.stem}: format, check, messages were {before} and are {after}")
        opened += 1
    return {"old homes opened": opened, "all s": round(time.monotonic() - begun, 1)}


def downgraded(bench: Bench) -> Mapping[str, Any]:
    """A home of a version that is still to come: it is said, the file stays as it was, and so does all else."""
    with _home_of(bench, sorted(OLD_HOMES.glob("*.db"))[-1]):
        database = bench.home / "data" / "assent.db"
        with closing(sqlite3.connect(database)) as file:
            file.execute(f"PRAGMA user_version = {TOO_NEW}")
            file.execute("CREATE TABLE of_the_future (x)")
            file.commit()
        with (bench.home / "config.yaml").open("a") as config:
            config.write("\nof_the_future:\n  flux: 88\n")
        before = contents(bench.home)
        with bench.app("downgrade") as app:
            app.read("Your chats cannot be opened")
            said = next((line for line in app.words().splitlines() if "newer" in line.casefold()), "")
            app.picture().save(app.log.with_suffix(".png"))
            app.click("Quit", "push button")
            code = app.process.wait(START_S)
        after = contents(bench.home)
        lost = {name for name, there in before.items() if after.get(name) != there}
        if lost:
            raise TrialFailed(f"changed or lost: {sorted(lost)}")
    return {"says": said, "code": code, "files kept": len(before)}


def removed(bench: Bench) -> Mapping[str, Any]:
    """Taken off the machine: the program is gone, the home is as it was."""
    before = contents(bench.home)
    bench.installed.remove()
    if contents(bench.home) != before:
        raise TrialFailed("the home is not what it was")
    program = bench.installed.command[0]
    if program.startswith("/") or program == "assent":  # else it is somebody else's
        left = bench.installed.tree.tried(["sh", "-c", f"command -v {program}"]).stdout.strip()
        if left:
            raise TrialFailed(f"{left} is still there")
    return {"files kept": len(before)}


COURSE: list[Trial] = [first_answer, upgraded, downgraded, removed]


@contextmanager
def _home_of(bench: Bench, old: Path) -> Iterator[None]:
    """The home that the release left behind, in the place of the user's own, which comes back."""
    kept = bench.home.with_name(".agent-kept")
    if bench.home.exists():
        bench.home.rename(kept)
    data = bench.home / "data"
    data.mkdir(parents=True)
    bench.home.chmod(0o700)
    shutil.copy(old, data / "assent.db")
    head = old.with_name(f"{old.name}-audit-head")
    if head.exists():
        shutil.copy(head, data / "assent.db-audit-head")
    shutil.copy(old.with_suffix(".yaml"), bench.home / "config.yaml")
    own(bench.home)
    try:
        yield
    finally:
        shutil.rmtree(bench.home)
        if kept.exists():
            kept.rename(bench.home)


def _look_into(database: Path) -> tuple[int, str, int]:
    """Its format, SQLite's own check, and how many messages the chat in it has."""
    with closing(sqlite3.connect(f"file:{database}?mode=ro", uri=True)) as file:
        ((version,),) = file.execute("PRAGMA user_version")
        ((whole,),) = file.execute("PRAGMA integrity_check")
        ((messages,),) = file.execute("SELECT count(*) FROM messages WHERE thread_id = 'sample'")
        return version, whole, messages


def contents(folder: Path) -> dict[str, str]:
    """Of every file in a folder the hash, but for those that any start writes: logs, locks and what SQLite has open."""
    found = {}
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        if (
            path.is_file()
            and not name.startswith("logs/")
            and name != "data/lock"
            and not name.endswith(("-wal", "-shm"))
        ):
            found[name] = hashlib.sha256(path.read_bytes()).hexdigest()
    return found
