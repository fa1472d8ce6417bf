"""A stranger at the window: sees what a screen reader says and what the screen shows, and has a mouse and keys."""

import contextlib
import os
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from PIL import Image, ImageGrab

from tests.harness.screen_reader import SHOWING, Node, Reader, accessibility_bus
from trials.desktop import AS_USER, WAIT_S, Desktop, as_user, needed, wait_until
from trials.entering import ENTRANCES
from trials.trees import Tree, TrialFailed

ROWS = 12
"""Of a list as many are read as a person looks at."""
PLAIN = 0.985
"""Of a picture the part that one colour may have until something is painted on it."""


class Started:
    """A program that runs in a tree, with its window."""

    def __init__(self, tree: Tree, desktop: Desktop, command: list[str], log: Path) -> None:
        self.desktop, self.log = desktop, log
        self.begun = time.monotonic()
        with log.open("wb") as file:
            self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=file, stderr=file)
        self._reader: Reader | None = None

    @property
    def seconds(self) -> float:
        """Since it was started."""
        return time.monotonic() - self.begun

    @property
    def said(self) -> str:
        """What it wrote on its terminal."""
        return self.log.read_text(errors="replace")

    def window(self) -> str:
        """The X window, or nothing while there is none."""
        if self.process.poll() is not None:
            raise TrialFailed(f"it ended ({self.process.returncode}) before its window came: {self.said[-1500:]}")
        found = self._xdotool("search", "--onlyvisible", "--name", "^Assent|Assent$", failing=True)
        return found.split()[0] if found else ""

    def painted(self, limit_s: float = WAIT_S) -> float:
        """Seconds from its start until the window stands and something is on it."""
        wait_until(lambda: self.window() and self._something_shown(), "a window with something on it", limit_s)
        return self.seconds

    def picture(self) -> Image.Image:
        """The screen as it is."""
        with as_user():
            return ImageGrab.grab(xdisplay=self.desktop.environment["DISPLAY"])

    def _something_shown(self) -> bool:
        picture = self.picture()
        colours = picture.getcolors(picture.width * picture.height) or []
        return bool(colours) and max(count for count, _ in colours) < PLAIN * picture.width * picture.height

    def _xdotool(self, *words: str, failing: bool = False) -> str:
        done: Any = subprocess.run(  # type: ignore[call-overload]
            [needed("xdotool"), *words],
            env={"PATH": os.environ["PATH"], **self.desktop.environment},
            capture_output=True,
            text=True,
            timeout=WAIT_S,
            **AS_USER,
        )
        if done.returncode != 0 and not failing:
            raise TrialFailed(f"xdotool {' '.join(words)}: {done.stderr.strip()}")
        return str(done.stdout)

    # -- what it reads ------------------------------------------------------------------------------------------------

    def seen(self) -> list[Node]:
        """Everything that shows in its windows, dialogs last."""
        if self._reader is None:
            with as_user():
                self._reader = Reader(accessibility_bus(self.desktop.environment), rows=ROWS)
        found = []
        registry = ("org.a11y.atspi.Registry", "/org/a11y/atspi/accessible/root")
        for name, path in self._reader.children(*registry):
            for at in self._reader.children(name, path):
                found += [one for one in self._reader.node(*at).walk() if SHOWING in one.states]
        return found

    def words(self) -> str:
        """All that is said in the window, a name a line."""
        return "\n".join(one.name for one in self._seen_now() if one.name)

    def find(self, name: str, role: str = "", limit_s: float = WAIT_S) -> Node:
        """What is called so, as soon as it shows."""
        found: list[Node] = []

        def there() -> bool:
            found[:] = [one for one in self._seen_now() if one.name == name and role in ("", one.role)]
            return bool(found)

        try:
            wait_until(there, f"{role or 'something'} called {name!r}", limit_s)
        except TrialFailed as failure:
            raise TrialFailed(f"{failure}; it reads: {self.words()[:1500]!r}; it said: {self.said[-800:]}") from None
        return found[-1]

    def _seen_now(self) -> list[Node]:
        code = self.process.poll()
        if code is not None:
            raise TrialFailed(f"it ended ({code}) while it was read: {self.said[-1500:]}")
        try:
            return self.seen()
        except (LookupError, TypeError, OSError, ValueError):  # what is read goes while it is read
            return []

    def read(self, text: str, limit_s: float = WAIT_S) -> float:
        """Waits until these words stand somewhere; seconds since it was started."""
        try:
            wait_until(lambda: text in self.words(), f"the words {text!r}", limit_s)
        except TrialFailed as failure:
            raise TrialFailed(f"{failure}; it reads: {self.words()[:1500]!r}; it said: {self.said[-800:]}") from None
        return self.seconds

    def read_one_of(self, *texts: str) -> str:
        """The first of these words that stands somewhere."""
        found: list[str] = []

        def there() -> bool:
            words = self.words()
            found[:] = [text for text in texts if text in words]
            return bool(found)

        wait_until(there, f"one of {texts}")
        return found[0]

    # -- what it does -------------------------------------------------------------------------------------------------

    def click(self, name: str, role: str = "", limit_s: float = WAIT_S) -> None:
        """Click on what is called so."""
        x, y, width, height = self.find(name, role, limit_s).box
        self._xdotool("mousemove", str(x + width // 2), str(y + height // 2), "click", "1")

    def insist(self, name: str, role: str = "") -> None:
        """Click until it is gone: a button that has just come under the pointer is deaf for a moment."""
        self.click(name, role)

        def gone() -> bool:
            left = [one for one in self._seen_now() if one.name == name and role in ("", one.role)]
            if left:
                self.click(name, role)
            return not left

        wait_until(gone, f"the end of {name!r}")

    def type(self, text: str) -> None:
        """Type at a person's speed."""
        self._xdotool("windowfocus", "--sync", self.window(), "type", "--delay", "12", text)

    def key(self, *keys: str) -> None:
        """Press keys, such as Return or ctrl+k. Without a window manager nobody else gives the window the keys."""
        self._xdotool("windowfocus", "--sync", self.window(), "key", *keys)

    def type_into(self, title: str, text: str) -> None:
        """Type into a window that is called so, which may be another program's."""
        found = self._xdotool("search", "--onlyvisible", "--name", title).split()[0]
        self._xdotool("windowfocus", "--sync", found, "type", "--delay", "12", text)

    def look_away(self) -> None:
        """The keys go to nobody, as when another program is in front."""
        root = self._xdotool("search", "--maxdepth", "0", "").split()[0]
        self._xdotool("windowfocus", root)

    def close(self, limit_s: float = WAIT_S) -> int:
        """Quit by the keys that every page has; the exit code."""
        self.key("ctrl+q")
        try:
            return self.process.wait(limit_s)
        except subprocess.TimeoutExpired:
            raise TrialFailed(f"it did not end after its window was closed; it reads: {self.words()[:800]!r}") from None

    def end(self) -> None:
        """However the trial went, nothing of it is left."""
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()

    # -- what it costs ------------------------------------------------------------------------------------------------

    def inside(self) -> int:
        """The app's process: the first below those by which it came into the tree."""
        return next(pid for pid in _below(self.process.pid) if not _cmdline(pid).startswith(ENTRANCES))

    def memory_mb(self) -> dict[str, float]:
        """Proportional memory of the app's process and of all of them, in MB."""
        each = {pid: _pss_mb(pid) for pid in _below(self.process.pid)}
        names = {pid: _cmdline(pid) for pid in each}
        app = max((mb for pid, mb in each.items() if not names[pid].startswith(ENTRANCES)), default=0.0)
        return {"app": round(app, 1), "all": round(sum(each.values()), 1)}


def _below(pid: int) -> Iterator[int]:
    yield pid
    with contextlib.suppress(OSError):
        for task in Path(f"/proc/{pid}/task").iterdir():
            for child in (task / "children").read_text().split():
                yield from _below(int(child))


def _cmdline(pid: int) -> str:
    with contextlib.suppress(OSError):
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
    return ""


def _pss_mb(pid: int) -> float:
    with contextlib.suppress(OSError):
        for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
            if line.startswith("Pss:"):
                return int(line.split()[1]) / 1024
    return 0.0


@contextlib.contextmanager
def started(tree: Tree, desktop: Desktop, command: list[str], log: Path, **options: Any) -> Iterator[Started]:
    """A program started in the tree by the ordinary user; whatever happens it is ended."""
    program = Started(tree, desktop, tree.command(command, **options), log)
    try:
        yield program
    finally:
        program.end()


Look = Callable[[Started], None]
Facts = Mapping[str, Any]
