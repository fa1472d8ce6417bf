"""The desktop around it: menu entry, icons, links, manual, completions, notifications and the desktop's file dialog.

Everything is asked of the tools that desktops use, in the tree, about what the package has put there.
"""

import contextlib
import os
import pty
import select
import sqlite3
import subprocess
import time
from collections.abc import Iterator, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

from PIL import Image

from trials.course import FIRST_START_S, Bench, Trial
from trials.desktop import WAIT_S, wait_until
from trials.odd import beside, fresh
from trials.person import Started, started
from trials.trees import HOME, TrialFailed

ID = "app.assent.Assent"
SHARE = {"deb": "/usr/share", "rpm": "/usr/share", "folder": f"{HOME}/assent/versions/current/share"}
OWN_SHARE = f"{HOME}/.local/share"
BY_HAND = ("folder", "appimage", "appimage extracted")
"""Kinds that come into the menu by ``assent menu add``."""
NO_ADDRESS = "url-homepage-missing"
"""What newer versions of AppStream warn of: nobody has named an address of Assent's own yet."""
SEARCH = "Search help"
"""What stands above the pages of help, and nowhere else."""
HOSTILE = (
    "assent:run/rm",
    "assent:approve/1",
    "assent:allow",
    "assent:send/hello",
    "assent:chats?text=hello",
    "assent:chat/../../etc/passwd",
    "assent://settings/general?set=1",
    "assent:" + "a" * 5000,
)
BASH = (
    "source /usr/share/bash-completion/bash_completion; _completion_loader assent; "
    'COMP_WORDS=(assent men); COMP_CWORD=1; _assent; echo "${COMPREPLY[@]}"'
)
ZSH = (
    "PS1=; fpath=(SHARE/zsh/site-functions SHARE/zsh/vendor-completions $fpath); autoload -U compinit; "
    "compinit -u -D; echo rea''dy\n",
    "assent men\t",
)
"""What a person types: a line that ends in `ready`, then the beginning of a command and the tab key."""
FISH = "set -p fish_complete_path SHARE/fish/vendor_completions.d; complete -C 'assent men'"
ATTACH = "Attach files, documents or images"
"""The button, and the title of what it opens."""
PORTALS = (
    "/usr/libexec/xdg-desktop-portal-gtk & sleep 2; "
    "XDG_CURRENT_DESKTOP=GNOME /usr/libexec/xdg-desktop-portal & sleep 4; exec "
)


def in_the_menu(bench: Bench) -> Mapping[str, Any]:
    """Entry, icons and AppStream data are what the specifications ask for, where desktops look for them."""
    kind = bench.installed.kind.name
    if kind not in (*SHARE, *BY_HAND):
        return {"menu": "none is brought"}
    tree = bench.installed.tree
    tree.apt("desktop-file-utils", "appstream", "xdg-utils", "librsvg2-bin")
    added = _menu(bench, "add") if kind in BY_HAND else []
    share = OWN_SHARE if kind in BY_HAND else SHARE[kind]
    tree.run(["desktop-file-validate", f"{share}/applications/{ID}.desktop"])
    icons = _icons(tree.root / share.lstrip("/"))
    tree.run(["rsvg-convert", "-o", "/tmp/icon.png", f"{share}/icons/hicolor/scalable/apps/{ID}.svg"])
    brought = SHARE.get(kind, "")
    if brought:
        said = tree.tried(["appstreamcli", "validate", "--no-net", f"{brought}/metainfo/{ID}.metainfo.xml"]).stdout
        wrong = [line for line in said.splitlines() if line.startswith(("E:", "W:")) and NO_ADDRESS not in line]
        if wrong:
            raise TrialFailed(f"AppStream: {wrong}")
    starts = next(line for line in _entry(tree.root / share.lstrip("/")) if line.startswith("Exec="))
    return {"entries": len(added), "icons": icons, "starts": starts}


def links(bench: Bench) -> Mapping[str, Any]:
    """`xdg-open assent:…` opens the window at a place, of the Assent that runs or of a new one, and never acts."""
    if bench.installed.kind.name not in (*SHARE, *BY_HAND):
        return {"links": "not known to the desktop"}
    fresh(bench)
    with bench.app("links") as app:
        app.painted(FIRST_START_S)
        app.click("Start the demo", "push button")
        app.find("Allow once", "push button")
        before = _done(bench)
        _open(bench, app, "assent:help/keyring")
        app.find(SEARCH)
        app.picture().save(app.log.with_suffix(".png"))
        for link in HOSTILE:
            _open(bench, app, link)
        time.sleep(2)  # whatever they might do has been done by then
        if _done(bench) != before:
            raise TrialFailed(f"a link acted: {before} became {_done(bench)}")
        _open(bench, app, "assent:chats")
        app.insist("Allow once", "push button")  # the question still waits
        app.find("Send", "push button")
        bench.ended(app)
    log = bench.out / f"{bench.installed.kind.name.replace(' ', '-')}-link-starts.log"
    words = ["xdg-open", "assent:help/keyring"]
    with started(bench.installed.tree, bench.desktop, words, log, **bench.installed.kind.values) as app:
        app.painted(FIRST_START_S)
        app.find(SEARCH)
        bench.ended(app)
    return {"hostile links without effect": len(HOSTILE)}


def manual_and_completion(bench: Bench) -> Mapping[str, Any]:
    """`man assent` shows the manual; bash, zsh and fish complete a command."""
    share = SHARE.get(bench.installed.kind.name, "")
    if not share:
        return {"manual": "none is brought"}
    tree = bench.installed.tree
    tree.apt("man-db", "bash-completion", "zsh", "fish")
    page = ["man", "assent"] if share == "/usr/share" else ["man", f"{share}/man/man1/assent.1.gz"]
    manual = tree.run([*page], MANPAGER="cat", MANWIDTH="80")
    if "SYNOPSIS" not in manual or "menu" not in manual:
        raise TrialFailed(f"the manual reads {manual[:800]!r}")
    said = {
        "bash": tree.run(["bash", "-c", BASH], XDG_DATA_DIRS=f"{share}:/usr/share"),
        "zsh": _typed(tree.command(["zsh", "-f", "-i"]), ZSH[0].replace("SHARE", share), ZSH[1]),
        "fish": tree.run(["fish", "-c", FISH.replace("SHARE", share)], PATH=f"{HOME}/assent:/usr/bin:/bin"),
    }
    wrong = {shell: text[-300:] for shell, text in said.items() if "menu" not in text}
    if wrong:
        raise TrialFailed(f"not completed: {wrong}")
    return {"manual lines": manual.count("\n"), "completed by": " ".join(said)}


def notified(bench: Bench) -> Mapping[str, Any]:
    """A request that waits while one is elsewhere: the desktop's notification has our name and icon, a press shows the
    window and allows nothing."""
    fresh(bench)
    bench.installed.tree.apt("dunst", "hicolor-icon-theme")
    with _dunst(bench) as log, bench.app("notified") as app:
        app.painted(FIRST_START_S)
        app.click("Start the demo", "push button")
        app.look_away()

        def shown() -> str:
            return log.read_text(errors="replace") if "waits for your answer" in log.read_text(errors="replace") else ""

        wait_until(shown, f"a notification; dunst said {log.read_text(errors='replace')[-800:]!r}")
        said = shown()
        time.sleep(1)  # it is drawn by then
        app.picture().save(app.log.with_suffix(".shown.png"))
        if ID not in said or "appname: 'Assent'" not in said:
            raise TrialFailed(f"the notification is {said[-1500:]!r}")
        beside(bench, app, "dunstctl", "action", "0")
        app.find("Allow once", "push button")
        if (bench.home / "workspace" / "demo" / "first-light.md").exists():
            raise TrialFailed("the press on a notification allowed something")
        app.insist("Allow once", "push button")  # on the page of approvals, to which it has led
        app.click("Chats", "page tab")
        app.find("Send", "push button")
        bench.ended(app)
    return {"notification": " ".join(line.strip() for line in said.splitlines() if "appname" in line or "icon" in line)}


def file_dialog(bench: Bench) -> Mapping[str, Any]:
    """Where the desktop has a portal for files, its dialog is the one that opens, and what is chosen comes back."""
    fresh(bench)
    tree = bench.installed.tree
    tree.apt("xdg-desktop-portal", "xdg-desktop-portal-gtk")
    chosen = tree.home / "Downloads" / "chosen.txt"
    chosen.write_text("hello\n")
    command = ["sh", "-c", f'{PORTALS} "$@"', "portals", *bench.installed.command]
    log = bench.out / f"{bench.installed.kind.name.replace(' ', '-')}-portal.log"
    values = {"QT_QPA_PLATFORMTHEME": "xdgdesktopportal"}
    with started(tree, bench.desktop, command, log, **{**bench.installed.kind.values, **values}) as app:
        app.painted(FIRST_START_S)
        app.click("Start the demo", "push button")
        app.insist("Allow once", "push button")
        app.find("Send", "push button")
        app.click(ATTACH, "push button")
        with contextlib.suppress(TrialFailed):
            app.find(ATTACH, "file chooser")  # as GTK calls it; Qt's own is a dialog
        app.picture().save(log.with_suffix(".dialog.png"))
        app.find(ATTACH, "file chooser", 1.0)
        app.type_into(ATTACH, f"{HOME}/Downloads/chosen.txt\n")
        app.read("chosen.txt")
        app.picture().save(log.with_suffix(".png"))
        app.close()
    return {"dialog": "the portal's"}


def _typed(command: list[str], first: str, text: str) -> str:
    """What a terminal shows once this was typed; what is not completed within a while stays as it is."""
    master, slave = pty.openpty()
    process = subprocess.Popen(command, stdin=slave, stdout=slave, stderr=slave, start_new_session=True)
    os.close(slave)
    shown = ""

    def until(end: str) -> None:
        nonlocal shown
        latest = time.monotonic() + WAIT_S
        while end not in shown and time.monotonic() < latest:
            if select.select([master], [], [], 1)[0]:
                shown += os.read(master, 4096).decode(errors="replace")

    try:
        os.write(master, first.encode())
        until("ready\r\n")
        os.write(master, text.encode())
        until("menu")
    finally:
        process.kill()
        process.wait()
        os.close(master)
    return shown


def out_of_the_menu(bench: Bench) -> Mapping[str, Any]:
    """What ``menu add`` wrote is gone after ``menu remove``, and a person's own entries are not."""
    if bench.installed.kind.name not in BY_HAND:
        return {"menu": "the package's own"}
    share = bench.installed.tree.root / OWN_SHARE.lstrip("/")
    other = share / "applications" / "other.desktop"
    other.write_text("[Desktop Entry]\n")
    removed = _menu(bench, "remove")
    left = [path for path in share.rglob(f"*{ID}*") if path.is_file()]
    if left or not removed or not other.exists():
        raise TrialFailed(f"still in the menu: {left}; removed: {removed}; another's is there: {other.exists()}")
    return {"removed": len(removed)}


INTEGRATION: list[Trial] = [in_the_menu, links, manual_and_completion, notified, file_dialog, out_of_the_menu]


def _menu(bench: Bench, act: str) -> list[str]:
    words = [*bench.installed.command, "menu", act]
    return bench.installed.tree.run(words, **bench.installed.kind.values).splitlines()


def _entry(share: Path) -> list[str]:
    return (share / "applications" / f"{ID}.desktop").read_text().splitlines()


def _icons(share: Path) -> int:
    found = sorted((share / "icons" / "hicolor").glob(f"*x*/apps/{ID}.png"))
    for path in found:
        side = int(path.parent.parent.name.split("x")[0])
        with Image.open(path) as picture:
            if picture.size != (side, side):
                raise TrialFailed(f"{path} is {picture.size}")
    if not found:
        raise TrialFailed("there is no icon")
    return len(found)


def _open(bench: Bench, app: Started, link: str) -> None:
    done = beside(bench, app, "xdg-open", link)
    if "Traceback" in done.stdout:
        raise TrialFailed(f"xdg-open {link[:60]}: {done.stdout[-1500:]}")


def _done(bench: Bench) -> dict[str, int]:
    """How much of everything there is in the database: what acts leaves a row."""
    with closing(sqlite3.connect(f"file:{bench.home / 'data' / 'assent.db'}?mode=ro", uri=True)) as file:
        tables = [name for (name,) in file.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        counts = {}
        for name in tables:
            with contextlib.suppress(sqlite3.Error):
                ((counts[name],),) = file.execute(f'SELECT count(*) FROM "{name}"')
        return counts


@contextlib.contextmanager
def _dunst(bench: Bench) -> Iterator[Path]:
    """A notification daemon that also prints what it shows."""
    log = bench.out / f"{bench.installed.kind.name.replace(' ', '-')}-dunst.log"
    settings = bench.installed.tree.home / "dunstrc"
    settings.write_text("[global]\nenable_recursive_icon_lookup = true\nicon_theme = hicolor\nmin_icon_size = 32\n")
    command = bench.installed.tree.command(["dunst", "-print", "-conf", f"{HOME}/dunstrc"])
    with log.open("wb") as file:
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=file, stderr=file)
    try:
        yield log
    finally:
        process.kill()
        process.wait()
