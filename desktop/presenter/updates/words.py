"""How updates stand, as the page of Settings shows it. Pure."""

from __future__ import annotations

import time
from collections.abc import Callable

from desktop.domain.installation import Installation
from desktop.domain.loading.lazy_dataclass import dataclass
from desktop.domain.updates.numbers import is_newer
from desktop.domain.updates.rights import Right, RightChange
from desktop.presenter.common.words import clock
from desktop.services.updates.memory import OfferedVersion
from desktop.services.updates.state import UpdateState

NO_PLACE = "This build of Assent names no place where new versions could be looked for, so nothing is looked for."
ANOTHERS = "The folder of Assent belongs to somebody else here, who updates it."
FACTS = 12
"""Facts that are named of what is gone. What is new is named whole: nothing grave stands behind "and 3 more"."""
_SAYS = {"knows": "", "skill": "May call: ", "setting": "Is "}
"""Before the facts of a new right whose words say nothing of them, by what it is about."""
_MONTHS = "January February March April May June July August September October November December".split()


@dataclass(frozen=True, slots=True)
class RightRow:
    """One line of what a new version may do otherwise."""

    category: str
    """read, network, write or admin; "" for what it may no longer do."""
    title: str
    """What it is."""
    detail: str
    """What holds it, or what came and went."""


@dataclass(frozen=True, slots=True, kw_only=True)
class UpdateView:
    """All that the page shows. Empty texts are not shown."""

    can_look: bool = False
    """Whether there is a switch at all."""
    is_on: bool = False
    """Whether it is on."""
    installed: str = ""
    """How this Assent is updated where that is not done from here."""
    command: str = ""
    """What does it in a terminal."""
    status: str = ""
    """When was looked last, and what came of it."""
    problem: str = ""
    """Why it did not work."""
    fell_back: str = ""
    """That a version did not start."""
    title: str = ""
    """The name of the new version."""
    about: str = ""
    """Its size and its day."""
    rows: tuple[RightRow, ...] = ()
    """What it may do otherwise."""
    news: tuple[str, ...] = ()
    """What is new, a line each."""
    waits: str = ""
    """Which runs are waited for."""
    progress: str = ""
    """How far it is."""
    share: float = 0.0
    """The same, from 0 to 1."""
    actions: tuple[str, ...] = ()
    """Of skip, later, update, stop, take_up, restart: those that there are now."""
    ready: str = ""
    """That another version starts the next time."""
    back: str = ""
    """The version that can be gone back to, in a sentence."""
    back_label: str = ""
    """What goes back to it."""
    line: str = ""
    """What is said of it elsewhere, in a few words."""


@dataclass(frozen=True, slots=True)
class UpdateFacts:
    """What the words depend on beside how updates stand."""

    version: str
    """The number of this version."""
    can_look: bool
    """Whether the build names a place."""
    can_install: bool
    """Whether new versions are laid down from here."""
    is_on: bool
    """Whether it is switched on."""
    installation: Installation
    """How this Assent came here."""
    title_of: Callable[[str], str]
    """The title of a thread."""
    running: tuple[str, ...]
    """Threads with a run at work."""


def view_of(state: UpdateState, around: UpdateFacts, rows: tuple[RightRow, ...]) -> UpdateView:
    """What the page shows; ``rows`` are those of its differences."""
    offer = state.offer
    wanted = offer if offer is not None and offer.version != state.starts else None
    told, command = ("", "") if around.can_install else how_updated(around, offer)
    return UpdateView(
        can_look=around.can_look,
        is_on=around.is_on,
        installed=told,
        command=command,
        status=_status(state, around),
        problem=state.problem,
        fell_back=_fell_back(state, around),
        title=f"Assent {wanted.version}" if wanted is not None else "",
        about=_about(wanted, around) if wanted is not None else "",
        rows=rows if wanted is not None else (),
        news=wanted.news if wanted is not None else (),
        waits=_waits(state.waits_for if state.phase == "waiting" else (), around),
        progress=_progress(state),
        share=min(1.0, state.done / state.total) if state.total else 0.0,
        actions=_actions(state, around, wanted),
        ready=_ready(state, around),
        back=_back(state, around),
        back_label=_back_label(state, around),
        line=_line(state, wanted),
    )


def _about(offer: OfferedVersion, around: UpdateFacts) -> str:
    kept = " Chats are kept, and one step back stays possible." if around.can_install else ""
    return f"You have {around.version}. {size_words(offer.size)}, from {day_words(offer.date)}.{kept}"


def size_words(size: int) -> str:
    """``41 MB``; less than one is one."""
    return f"{max(1, round(size / 1_000_000)):,} MB"


def day_words(date: str) -> str:
    """``20 November`` for 2026-11-20; what is no day is said as it stands."""
    try:
        day = time.strptime(date, "%Y-%m-%d")
    except ValueError:
        return date
    this_year = time.localtime().tm_year == day.tm_year
    return f"{day.tm_mday} {_MONTHS[day.tm_mon - 1]}" + ("" if this_year else f" {day.tm_year}")


def rows_of(differences: tuple[RightChange, ...]) -> tuple[RightRow, ...]:
    """What a version may do otherwise, a line each."""
    return tuple(_row(one) for one in differences)


def _row(one: RightChange) -> RightRow:
    right = one.right
    if one.change == "gone":
        return RightRow("", right.title, "")
    words = _row_changed(one)
    if one.before is None:
        return words
    return RightRow(words.category, words.title, f"{words.detail} {_said_before(right, one.before)}".strip())


def _said_before(right: Right, before: Right) -> str:
    """What stood there in other words."""
    texts = ((right.title, before.title), (right.detail, before.detail))
    said = " ".join(_sentence(old) for new, old in texts if new != old and old)
    return f"Until now it said: “{said}”" if said else "Until now nothing more was said of it."


def _sentence(text: str) -> str:
    return text if text.endswith((".", "!", "?")) else f"{text}."


def _row_changed(one: RightChange) -> RightRow:
    right = one.right
    if one.change == "other":
        return RightRow(right.category, right.title, f"Said in other words. {right.detail}".strip())
    if one.change == "less":
        less = f"No longer {_named(one.lost)}." if one.lost else "Asks more often now."
        return RightRow("", right.title, f"{less} {right.detail}" if one.before is not None else less)
    if one.change == "more":
        newly = f"Newly: {', '.join(one.added)}. " if one.added else "A graver category than before. "
        return RightRow(right.category, right.title, f"{newly}{right.detail}".strip())
    facts = f" {_SAYS[kind]}{', '.join(right.facts)}." if (kind := right.id.partition(":")[0]) in _SAYS else ""
    return RightRow(right.category, right.title, f"{right.detail}{facts if right.facts else ''}".strip())


def _named(facts: tuple[str, ...]) -> str:
    more = f" and {len(facts) - FACTS} more" if len(facts) > FACTS else ""
    return ", ".join(facts[:FACTS]) + more


def _waits(threads: tuple[str, ...], around: UpdateFacts) -> str:
    if not threads:
        return ""
    first = f"“{around.title_of(threads[0])}”"
    more = f" and {len(threads) - 1} more" if len(threads) > 1 else ""
    return f"Waits for {'one run' if len(threads) == 1 else f'{len(threads)} runs'}: {first}{more}"


def _progress(state: UpdateState) -> str:
    if state.phase == "fetching":
        return f"Fetching: {size_words(state.done)} of {size_words(state.total)}"
    return "Unpacking and checking" if state.phase == "unpacking" else ""


def _actions(state: UpdateState, around: UpdateFacts, offer: OfferedVersion | None) -> tuple[str, ...]:
    if state.phase in ("fetching", "unpacking", "waiting"):
        return ("stop",)
    if state.starts and offer is None:
        return ("restart",)
    if offer is None:
        return ()
    if state.skipped:
        return ("take_up",)
    return ("skip", "later", "update") if around.can_install else ("skip", "later")


def _ready(state: UpdateState, around: UpdateFacts) -> str:
    if not state.starts:
        return ""
    first = f"Assent {state.starts} is laid down and starts the next time that you open Assent."
    return f"{first} {_waits(around.running, around)}." if around.running else first


def _back(state: UpdateState, around: UpdateFacts) -> str:
    if not state.previous:
        return ""
    said = f"{state.previous} is kept on this computer."
    if state.previous_reads:
        return said
    reads = "It cannot read the chats as this version keeps them: it says so and can start without them. They stay, and"
    return f"{said} {reads} are there again when you come back to {around.version}."


def _back_label(state: UpdateState, around: UpdateFacts) -> str:
    """Who went back has the newer one there."""
    if state.phase != "resting" or not state.previous:
        return ""
    return "Switch to it" if is_newer(state.previous, around.version) else "Go back to it"


def _fell_back(state: UpdateState, around: UpdateFacts) -> str:
    if not state.fell_back:
        return ""
    return f"Assent {state.fell_back} did not start on this computer, so {around.version} was started again."


def _status(state: UpdateState, around: UpdateFacts) -> str:
    if not around.can_look:
        return NO_PLACE
    if not around.is_on:
        return ""
    if state.phase == "looking":
        return "Looking…"
    if not state.looked:
        return ""
    today = time.strftime("%Y-%m-%d", time.localtime(state.looked)) == time.strftime("%Y-%m-%d")
    when = (
        f"at {clock(state.looked)}"
        if today
        else f"on {day_words(time.strftime('%Y-%m-%d', time.localtime(state.looked)))}"
    )
    newest = f" {around.version} is the newest." if state.offer is None and not state.problem else ""
    return f"Last looked {when}.{newest}"


def _line(state: UpdateState, offer: OfferedVersion | None) -> str:
    if state.fell_back:
        return f"Assent {state.fell_back} did not start"
    if state.starts and offer is None:
        return f"Assent {state.starts} starts the next time"
    if offer is None or state.skipped or state.later or state.phase not in ("resting", "looking"):
        return ""
    return f"Assent {offer.version} can be looked at"


def how_updated(around: UpdateFacts, offer: OfferedVersion | None) -> tuple[str, str]:
    """How an Assent of this kind is updated where that is not done from here, and the command for it."""
    new = offer.version if offer is not None else "NEW"
    kind, where = around.installation.kind, around.installation.code
    by = f" by {around.installation.installer}" if around.installation.installer else ""
    kinds = {
        "checkout": ("This Assent runs from a checkout of its source, which git updates.", f"git -C {where} pull"),
        "wheel": (f"This Assent was installed as a Python package{by}. Install the newer file in the same way.", ""),
        "deb": (
            "This Assent is a package of your system. A newer one is installed over it.",
            f"sudo apt install ./assent_{new}_amd64.deb",
        ),
        "rpm": (
            "This Assent is a package of your system. A newer one is installed over it.",
            f"sudo dnf install ./assent-{new}-1.x86_64.rpm",
        ),
        "appimage": ("This Assent is one file. Put the newer one in its place.", ""),
        "flatpak": ("This Assent is a Flatpak, which your system updates.", "flatpak update"),
        "windows": ("A newer installer puts Assent in over this one. Quit Assent first.", ""),
        "macos": ("Put the newer Assent into Applications, in the place of this one.", ""),
        "folder": (ANOTHERS if around.can_look else "Unpack the newer archive beside this one, or over it.", ""),
    }
    return kinds.get(kind, ("", ""))
