"""Odd machines and bad homes: what a stranger may have, tried with the installed package.

Each ends in one of two ways: it works as ever, or it says in words what stands in the way, with the next step, in a
window of its own, and ends with 2. Never a traceback, and never a home that is worse than before.
"""

import contextlib
import os
import shutil
import signal
import sqlite3
import subprocess
import tempfile
import time
from collections.abc import Mapping
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

from trials.course import FIRST_START_S, START_S, Bench, Trial, contents, first_answer
from trials.desktop import Desktop, needed, running_desktop, wait_until
from trials.person import Started
from trials.trees import HOME, NUMBER, TrialFailed, own

AGENT_HOME = f"{HOME}/.agent"
NO_BUS = {"DBUS_SESSION_BUS_ADDRESS": "", "QT_LINUX_ACCESSIBILITY_ALWAYS_ON": ""}
REFUSED = 2
SFTP = "/usr/lib/openssh/sftp-server"
FULL_AT_ONCE, FULL_SOON = 100_000, 3_000_000
"""Bytes of a disk on which the home's folders have no room, and of one that the first chat fills."""


def no_bus(bench: Bench) -> Mapping[str, Any]:
    """Without D-Bus nobody reads the window: the keys alone lead to the demo's answer, and the database shows it."""
    fresh(bench)
    with bench.app("no-bus", **NO_BUS) as app:
        app.painted(START_S)
        _demo_by_keys(bench, app)
        _logged_out(bench, app)
    return {"answers": True}


def keyring(bench: Bench) -> Mapping[str, Any]:
    """With a keyring that is there and open, `--check` finds it; without one it says so, and nothing is broken."""
    without = _checked(bench)
    with running_desktop(keyring=True) as desktop:
        tree = bench.installed.tree
        session = type(tree)(tree.root, desktop.environment, desktop.shared)
        command = [*bench.installed.command, "--check"]
        done = session.tried(command, **bench.installed.kind.values)
        found = next((line for line in done.stdout.splitlines() if line.startswith("Keyring:")), "")
    if done.returncode or not found.startswith("Keyring: ok"):
        raise TrialFailed(f"with a keyring: {done.returncode} {done.stdout[-1500:]}")
    return {"without": without["Keyring"], "with": found.removeprefix("Keyring: ")}


def no_screen(bench: Bench) -> Mapping[str, Any]:
    """No screen: a sentence and 2; what needs none works."""
    done = _run(bench, DISPLAY="", XDG_RUNTIME_DIR="", **NO_BUS)
    said = in_words(done.stdout, done.returncode)
    answered = _run(bench, "--version", DISPLAY="", XDG_RUNTIME_DIR="", **NO_BUS)
    if answered.returncode:
        raise TrialFailed(f"--version: {answered.stdout}")
    return {"says": said}


def no_gpu(bench: Bench) -> Mapping[str, Any]:
    """A screen that draws no OpenGL, and no graphics card: the window needs neither."""
    fresh(bench)
    with running_desktop(gl=False) as desktop:
        plain = on(bench, desktop)
        with plain.app("no-gpu") as app:
            app.painted(START_S)
            app.click("Start the demo", "push button")
            app.insist("Allow once", "push button")
            app.find("Send", "push button")
            said = app.said
            plain.ended(app)
    return {"says": said.strip()}


def no_fonts(bench: Bench) -> Mapping[str, Any]:
    """No font on the system: the window's text is the app's own."""
    fresh(bench)
    fonts = [word for place in ("/usr/share/fonts", "/usr/local/share/fonts") for word in ("--tmpfs", place)]
    with bench.app("no-fonts", more=fonts) as app:
        app.painted(START_S)
        app.find("Start the demo", "push button")
        app.picture().save(app.log.with_suffix(".png"))
        said = app.said
        bench.ended(app)
    return {"says": said.strip()}


def no_runtime_folders(bench: Bench) -> Mapping[str, Any]:
    """No XDG variable at all, and no HOME: the password file says where home is."""
    fresh(bench)
    bare = {"XDG_RUNTIME_DIR": "", "HOME": "", "USER": "", "LANG": "", **NO_BUS}
    with bench.app("no-xdg", **bare) as app:
        app.painted(START_S)
        _demo_by_keys(bench, app)
        _logged_out(bench, app)
    return {"answers": True}


def read_only_home(bench: Bench) -> Mapping[str, Any]:
    """A home on a file system that cannot be written, with chats in it."""
    fresh(bench)
    first_answer(bench)
    before = contents(bench.home)
    said = _refusal(bench, "read-only", more=["--ro-bind", str(bench.home), AGENT_HOME])
    if contents(bench.home) != before:
        raise TrialFailed("the home is not what it was")
    return {"says": said}


def read_only_user(bench: Bench) -> Mapping[str, Any]:
    """Nothing of the user's can be written, and there is no home yet."""
    fresh(bench)
    return {"says": _refusal(bench, "read-only-user", more=["--ro-bind", str(bench.installed.tree.home), str(HOME)])}


def home_of_another(bench: Bench) -> Mapping[str, Any]:
    """The home belongs to root, closed; then open for reading."""
    said = []
    for mode in (0o700, 0o755):
        fresh(bench)
        bench.home.mkdir(mode=mode)
        bench.home.chmod(mode)
        said.append(_refusal(bench, f"another-{mode:o}"))
        if list(bench.home.iterdir()):
            raise TrialFailed("something was written into it")
    return {"closed": said[0], "open": said[1]}


def home_is_a_file(bench: Bench) -> Mapping[str, Any]:
    """Where the home should be lies a file."""
    fresh(bench)
    bench.home.write_text("precious")
    own(bench.home)
    said = _refusal(bench, "a-file")
    if bench.home.read_text() != "precious":
        raise TrialFailed("the file was changed")
    return {"says": said}


def full_disk(bench: Bench) -> Mapping[str, Any]:
    """No room for the home; then room that the start or the first chat uses up: it goes on, or says so."""
    fresh(bench)
    tiny = ["--perms", "0777", "--size", str(FULL_AT_ONCE), "--tmpfs", AGENT_HOME]
    with bench.app("full-at-once", more=tiny) as app:
        at_once = _told(app, "full", end=False)
        app.click("Quit", "push button")
        app.process.wait(START_S)
    with tempfile.TemporaryDirectory(prefix="assent-full-") as name:
        size = f"size={FULL_SOON},mode=700,uid={NUMBER},gid={NUMBER}"
        subprocess.run(["mount", "-t", "tmpfs", "-o", size, "tmpfs", name], check=True)
        try:
            with bench.app("full-soon", more=["--bind", name, AGENT_HOME]) as app:
                app.painted(START_S)
                app.click("Start the demo", "push button")
                filler = Path(name) / "filler"
                app.read("script that plays a model")
                with contextlib.suppress(OSError), filler.open("wb") as file:
                    while True:
                        file.write(bytes(4096))
                        file.flush()
                app.insist("Allow once", "push button")
                soon = _told(app, "full", end=False)
                app.picture().save(app.log.with_suffix(".png"))
                filler.unlink()
                code = app.close()
            with bench.app("full-after", more=["--bind", name, AGENT_HOME]) as app:
                app.painted(START_S)
                app.read("script that plays a model")
                app.close()
        finally:
            subprocess.run(["umount", "--lazy", name], check=False)
    return {"at once": at_once, "soon": soon, "code": code}


def network_home(bench: Bench) -> Mapping[str, Any]:
    """The home on another machine's disk, by SFTP: no sockets, other locks. Kept in memory it works; where every read
    goes to the other machine, no memory is shared, and that is said."""
    fresh(bench)
    kept = _far(bench, "network", "")
    if kept != "the demo's answer":
        raise TrialFailed(f"on a network disk: {kept}")
    direct = _far(bench, "network-direct", ",direct_io")
    if "network" not in direct:
        raise TrialFailed(f"on a network disk without shared memory: {direct}")
    return {"kept in memory": kept, "direct": direct}


def _far(bench: Bench, name_of: str, more: str) -> str:
    with tempfile.TemporaryDirectory(prefix="assent-far-") as name:
        far, near, server = Path(name) / "far", Path(name) / "near", Path(name) / "server"
        Path(name).chmod(0o755)
        far.mkdir(mode=0o700)
        near.mkdir()
        server.write_text(f"#!/bin/sh\nexec setpriv --reuid {NUMBER} --regid {NUMBER} --clear-groups {SFTP}\n")
        server.chmod(0o755)
        own(far)
        options = f"ssh_command={server},allow_other{more}"
        subprocess.run([needed("sshfs"), f"far:{far}", str(near), "-o", options], check=True, capture_output=True)
        try:
            with bench.app(name_of, more=["--bind", str(near), AGENT_HOME]) as app:
                app.painted(START_S)
                text = _demo_or_words(app)
                _logged_out(bench, app)
        finally:
            subprocess.run(["fusermount", "-u", "-z", str(near)], check=False)
    return text


def twice(bench: Bench) -> Mapping[str, Any]:
    """Started again with the same home: the first comes to the front and goes on, the second ends in words."""
    fresh(bench)
    with bench.app("twice") as app:
        app.painted(START_S)
        app.find("Start the demo", "push button")
        done = second_start(bench, app)
        said = in_words(done.stdout, done.returncode)
        app.click("Start the demo", "push button")
        app.read("script that plays a model")  # by processes that start now, from files that are still there
        bench.ended(app)
    return {"says": said}


ODD: list[Trial] = [
    no_bus,
    keyring,
    no_screen,
    no_gpu,
    no_fonts,
    no_runtime_folders,
    read_only_home,
    read_only_user,
    home_of_another,
    home_is_a_file,
    full_disk,
    network_home,
    twice,
]


# -- what they share ------------------------------------------------------------------------------------------------


def on(bench: Bench, desktop: Desktop) -> Bench:
    """The same on another screen."""
    tree = replace(bench.installed.tree, screen=desktop.environment, shared=desktop.shared)
    return replace(bench, desktop=desktop, installed=replace(bench.installed, tree=tree))


def fresh(bench: Bench) -> None:
    """No home, as for a new user."""
    if bench.home.is_dir():
        shutil.rmtree(bench.home)
    bench.home.unlink(missing_ok=True)


def _run(bench: Bench, *words: str, **options: Any) -> "subprocess.CompletedProcess[str]":
    installed = bench.installed
    options = {**installed.kind.values, **options}
    return installed.tree.tried([*installed.command, *words], limit_s=FIRST_START_S, **options)


def second_start(bench: Bench, app: Started) -> "subprocess.CompletedProcess[str]":
    """A second start among the same processes: it looks for the first one by its number."""
    return beside(bench, app, *bench.installed.command)


def beside(bench: Bench, app: Started, *command: str) -> "subprocess.CompletedProcess[str]":
    """A program that the same person starts on the same machine, as from a terminal beside the window."""
    words = ["nsenter", "--target", str(app.inside()), "--pid", "--mount", "--root", f"--wdns={HOME}"]
    values = {**bench.desktop.environment, **bench.installed.kind.environment}
    session = [f"{name}={value}" for name, value in values.items()]
    words += ["setpriv", "--reuid", str(NUMBER), "--regid", str(NUMBER), "--init-groups"]
    words += ["env", "-i", f"HOME={HOME}", "PATH=/usr/local/bin:/usr/bin:/bin", "LANG=C.UTF-8", *session, *command]
    pipes: Any = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
    return subprocess.run(words, timeout=START_S, **pipes)


def in_words(said: str, code: int) -> str:
    """What a refusal says. Raises TrialFailed for anything else."""
    if code != REFUSED or "Traceback" in said or not said.strip():
        raise TrialFailed(f"no refusal in words: {code}: {said[-1500:]}")
    return said.strip()


def _refusal(bench: Bench, name: str, **options: Any) -> str:
    """Started from the desktop, where no terminal is, it says in a window what stands in the way."""
    with bench.app(name, **options) as app:
        said = _told(app, "")
        if not app.said.strip():
            raise TrialFailed("the terminal is told nothing")
    return said


def _told(app: Started, word: str, *, end: bool = True) -> str:
    """The words of the window that refuses. ``end``: it is closed, and the process ends with 2."""

    def there() -> str:
        return next((line for line in app.words().splitlines() if len(line) > 40 and word in line), "")

    wait_until(there, f"a sentence with {word!r}; it reads {app.words()[:800]!r}; it said {app.said[-800:]!r}")
    said = there()
    app.picture().save(app.log.with_suffix(".png"))
    if end:
        app.key("Return")
        code = app.process.wait(START_S)
        in_words(app.said, code)
    return said


def _demo_by_keys(bench: Bench, app: Started) -> None:
    """The first page's best way on has the keys; then what is answered is in the database."""
    database = bench.home / "data" / "assent.db"
    app.picture().save(app.log.with_suffix(".first.png"))

    def answered() -> bool:
        if not database.exists():
            return False
        if not _chats(database):
            app.key("Return")
            time.sleep(1)
        with contextlib.suppress(sqlite3.Error), closing(sqlite3.connect(f"file:{database}?mode=ro", uri=True)) as file:
            ((found,),) = file.execute("SELECT count(*) FROM messages WHERE role = 'assistant'")
            return bool(found)
        return False

    wait_until(answered, f"an answer in the database; it said {app.said[-800:]!r}")
    app.picture().save(app.log.with_suffix(".png"))


def _chats(database: Path) -> int:
    with contextlib.suppress(sqlite3.Error), closing(sqlite3.connect(f"file:{database}?mode=ro", uri=True)) as file:
        ((found,),) = file.execute("SELECT count(*) FROM threads")
        return int(found)
    return 0


def _logged_out(bench: Bench, app: Started) -> None:
    """The desktop ends what is still open, as it does at a logout."""
    os.kill(app.inside(), signal.SIGTERM)
    code = app.process.wait(START_S)
    if code or "Traceback" in app.said or list((bench.home / "logs").glob("crash*")):
        raise TrialFailed(f"it ended with {code}: {app.said[-800:]}")


def _demo_or_words(app: Started) -> str:
    """The demo's answer, or whatever sentence stands in its way."""

    def there() -> str:
        words = app.words()
        if "script that plays a model" in words:
            return "the demo's answer"
        if "Start the demo" in words:
            app.click("Start the demo", "push button")
        return next((line for line in words.splitlines() if "database" in line), "")

    wait_until(there, f"an answer or a reason; it reads {app.words()[:800]!r}")
    app.picture().save(app.log.with_suffix(".png"))
    return there()


def _checked(bench: Bench) -> dict[str, str]:
    """What ``--check`` says, by the name of each line."""
    done = _run(bench, "--check")
    if done.returncode:
        raise TrialFailed(f"--check: {done.stdout[-1500:]}")
    return dict(line.split(": ", 1) for line in done.stdout.splitlines() if ": " in line)
