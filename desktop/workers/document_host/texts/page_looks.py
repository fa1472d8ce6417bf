"""Which parts of a page nobody sees: by what its style sheet and its tags say, without a browser.

It is not exact, and errs on the side of marking: what is marked is still read.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping

from desktop.domain.loading.lazy_dataclass import dataclass
from desktop.workers.document_host.looks import TOO_SMALL, UNKNOWN, WHITE, hex_of, lost_on
from desktop.workers.web_host.tags import Tag, tags

RULES, SHEET, DEPTH = 5_000, 1_000_000, 5_000
"""Rules of style sheets, their characters, and elements inside each other; what is deeper counts as hidden."""
STEPS = 5_000_000
"""Elements that rules are held against in all."""
FAR, SMALL = 900.0, 2.0
"""Pixels to the side at which nothing is seen, and of letters that nobody can read."""
_VOID = frozenset("area base br col embed hr img input link meta param source track wbr".split())
_BLOCKS = frozenset(
    "address article aside blockquote div dl fieldset figure footer form h1 h2 h3 h4 h5 h6 header hr main nav ol p pre "
    "section table ul".split()
)
_ENDS = {
    "li": ("li",),
    "td": ("td", "th"),
    "th": ("td", "th"),
    "tr": ("td", "th", "tr"),
    "dt": ("dt", "dd"),
    "dd": ("dt", "dd"),
    "option": ("option",),
}
"""What an element ends that was not closed."""
_COMMENT = re.compile(r"/\*.*?(?:\*/|$)", re.DOTALL)
_ASIDE = ("left", "right", "top", "bottom", "margin-left", "margin-top", "text-indent")
_CLIPPED = re.compile(
    r"rect\(\s*[01](?:px)?[\s,]+[01](?:px)?[\s,]|inset\(\s*(?:50|100)%|circle\(\s*0|scale\(\s*0(?:\.0+)?\s*[,)]"
)
_PART = re.compile(r"[.#]?[\w-]+|\*")
_AT_MOST = re.compile(r"max-width\s*:\s*([\d.]+\s*[a-z]*)", re.IGNORECASE)
_DARK = re.compile(r"prefers-color-scheme\s*:\s*dark", re.IGNORECASE)
SMALL_SCREEN = 1_000
"""Pixels in width: less is no page beside a chat, but a telephone."""
_LENGTH = re.compile(r"(-?\d*\.?\d+)\s*(px|pt|em|rem|vw|vh|cm|in|%)?")
_PIXELS = {"pt": 4 / 3, "em": 16.0, "rem": 16.0, "vw": 12.8, "vh": 8.0, "cm": 37.8, "in": 96.0}
_RGB = re.compile(r"rgba?\(\s*(\d{1,3})[\s,]+(\d{1,3})[\s,]+(\d{1,3})(?:[\s,/]+([\d.]+%?))?\s*\)")
_COLOURS = {"white": WHITE, "black": "000000", "snow": "fffafa", "ivory": "fffff0", "whitesmoke": "f5f5f5"}


@dataclass(frozen=True, slots=True)
class _Rule:
    """One selector of a rule, with what it says."""

    parts: tuple[frozenset[str], ...]
    """What each element on the way down has to be: ``p``, ``.note``, ``#top``."""
    says: tuple[tuple[str, str], ...]
    """Properties and their values."""


@dataclass(frozen=True, slots=True)
class _OpenTag:
    """An element that is open."""

    name: str
    """Of its tag."""
    known: frozenset[str]
    """What selectors call it."""
    colour: str
    """Of its letters."""
    ground: str
    """What it stands on."""
    why: str
    """Why nothing in it is seen, whatever it holds, or ""."""
    faint: str = ""
    """Why its own letters are not seen, which what it holds may give another colour or ground, or ""."""


class PageLooks:
    """Follows the tags of a page. ``why``: the reason why what comes now is not seen, or ""."""

    def __init__(self, source: str, sheet: str = "") -> None:
        self._rules: dict[str, list[_Rule]] = {}
        self._count = 0
        self._steps = self._deeper = 0
        self._open: list[_OpenTag] = []
        self._names: dict[str, int] = defaultdict(int)
        self.why = ""
        if "<style" in source[:SHEET].lower():
            sheet += "\n".join(tag.raw for tag in tags(source[:SHEET]) if isinstance(tag, Tag) and tag.name == "style")
        self._learn(sheet[:SHEET])

    def take(self, tag: Tag) -> None:
        """The next tag of the page."""
        if tag.closing:
            self._close(tag.name)
        elif tag.name not in _VOID and not tag.raw:
            self._end_unclosed(tag.name)
            if len(self._open) < DEPTH:
                self._open.append(self._made(tag))
                self._names[tag.name] += 1
            else:
                self._deeper += 1
        self.why = "Hidden, too deep inside" if self._deeper else self._shown_why(self._open[-1]) if self._open else ""

    def why_of(self, tag: Tag) -> str:
        """Why what stands in one tag alone, as in a field, is not seen, or ""."""
        return self._shown_why(self._made(tag))

    def _shown_why(self, tag: _OpenTag) -> str:
        return tag.why or tag.faint

    def _close(self, name: str) -> None:
        if self._deeper:
            self._deeper -= 1
            return
        if self._names[name]:
            while self._pop() != name:
                pass

    def _pop(self) -> str:
        name = self._open.pop().name
        self._names[name] -= 1
        return name

    def _end_unclosed(self, name: str) -> None:
        if name in _BLOCKS and self._open and self._open[-1].name == "p":
            self._pop()
        while self._open and self._open[-1].name in _ENDS.get(name, ()):
            self._pop()

    def _made(self, tag: Tag) -> _OpenTag:
        names = {f".{one}" for one in tag.get("class").split()[:50]} | {tag.name, "*"}
        known = frozenset(names | ({f"#{tag.get('id')}"} if tag.get("id") else set()))
        says = dict(self._said_of(known))
        for key in ("color", "bgcolor"):
            if tag.get(key):
                says["color" if key == "color" else "background-color"] = tag.get(key)
        says |= dict(_declared(tag.get("style")))
        above = self._open[-1] if self._open else _OpenTag("", frozenset(), "000000", WHITE, "")
        ground = _ground(says, above.ground)
        given = says.get("color", "")
        colour = (_colour(given) or UNKNOWN) if given else above.colour
        why = above.why or ("Hidden" if tag.has("hidden") else _unseen(says))
        faint = above.faint
        if (colour, ground) != (above.colour, above.ground):
            faint = "Hidden, transparent" if colour == CLEAR else lost_on(colour, ground)
        return _OpenTag(tag.name, known, colour, ground, why, faint)

    def _said_of(self, known: frozenset[str]) -> Iterator[tuple[str, str]]:
        for name in known:
            for rule in self._rules.get(name, ()):
                if rule.parts[-1] <= known and self._is_below(rule.parts[:-1]):
                    yield from rule.says

    def _is_below(self, parts: tuple[frozenset[str], ...]) -> bool:
        """Whether elements around are like these, in their order. On a page that asks too often, they are."""
        at = 0
        for wanted in parts:
            while at < len(self._open) and not wanted <= self._open[at].known:
                at += 1
                self._steps += 1
            if self._steps > STEPS:
                return True
            if at == len(self._open):
                return False
            at += 1
        return True

    def _learn(self, sheet: str) -> None:
        for selectors, says in _rules_in(_COMMENT.sub(" ", sheet)):
            declared = tuple(_declared(says))
            for selector in selectors.split(",") if declared else ():
                parts = tuple(frozenset(_PART.findall(one)) for one in selector.replace(">", " ").split())
                if not parts or not all(parts) or any(mark in selector for mark in ":[+~@") or self._count >= RULES:
                    continue
                self._count += 1
                key = min(parts[-1], key=lambda one: (one[0] != "#", one[0] != ".", one))
                self._rules.setdefault(key, []).append(_Rule(parts, declared))


def _rules_in(sheet: str) -> Iterator[tuple[str, str]]:
    """The selectors of each rule, and what it says; not those for paper or for reading aloud."""
    elsewhere: list[bool] = []
    for chunk in sheet.split("}"):
        *heads, says = chunk.split("{")
        if not heads:  # the end of a block of rules
            del elsewhere[-1:]
            continue
        elsewhere += [_is_elsewhere(head) for head in heads[:-1]]
        selectors = heads[-1].rpartition(";")[2].strip()
        if not selectors.startswith("@") and not any(elsewhere[:DEPTH]):
            yield selectors[:2_000], says[:8_000]


CLEAR = "clear"
"""A colour that draws nothing."""


def _is_elsewhere(media: str) -> bool:
    """Whether rules are for paper, for reading aloud, for a dark screen or for a small one."""
    widest = _AT_MOST.search(media)
    small = widest is not None and (_pixels(widest[1]) or 0) < SMALL_SCREEN
    return "print" in media or "speech" in media or _DARK.search(media) is not None or small


def _declared(text: str) -> Iterator[tuple[str, str]]:
    for one in text[:8_000].split(";"):
        name, _, value = one.partition(":")
        if value.strip():
            yield name.strip().lower(), value.replace("!important", "").strip().lower()


def _ground(says: Mapping[str, str], around: str) -> str:
    """What is behind an element: "" where that is no colour alone."""
    if says.get("background-image", "none") != "none":
        return UNKNOWN
    given = says.get("background-color") or says.get("background", "")
    if not given or given in ("none", "transparent", "inherit", "initial", "unset"):
        return around
    found = next((one for word in (given, *given.split()) if (one := _colour(word))), UNKNOWN)
    return around if found == CLEAR else found


def _colour(text: str) -> str:
    """Six digits, ``CLEAR``, or "" for what is not known."""
    text = text.strip().lower()
    if text == "transparent":
        return CLEAR
    if found := _RGB.fullmatch(text):
        if found[4] and _number(found[4].rstrip("%")) < 0.05:
            return CLEAR
        return "".join(f"{min(255, int(one)):02x}" for one in found.groups()[:3])
    short = re.fullmatch(r"#([0-9a-f])([0-9a-f])([0-9a-f])", text)
    return _COLOURS.get(text) or ("".join(one * 2 for one in short.groups()) if short else hex_of(text))


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return 1.0


def _pixels(text: str) -> float | None:
    found = _LENGTH.match(text)
    return float(found[1]) * _PIXELS.get(found[2] or "", 1.0) if found is not None else None


def _unseen(says: Mapping[str, str]) -> str:
    """Why an element with these properties is not seen, or ""."""
    if says.get("display") == "none" or says.get("visibility") in ("hidden", "collapse"):
        return "Hidden"
    if says.get("content-visibility") == "hidden" or _number(says.get("opacity", "1").rstrip("%")) < 0.05:
        return "Hidden"
    size = _pixels(says["font-size"]) if "font-size" in says else None
    if size is not None and 0 <= size <= SMALL and "%" not in says["font-size"]:
        return TOO_SMALL
    aside = [
        _pixels(says[key]) for key in ("left", "right", "top", "bottom", "margin-left", "margin-top") if key in says
    ]
    aside.append(_pixels(says.get("text-indent", "0")))
    if any(one is not None and one <= -FAR for one in aside) or (_pixels(says.get("left", "0")) or 0) > 10 * FAR:
        return "Hidden, beside the page"
    clip = says.get("clip", "") + says.get("clip-path", "") + says.get("transform", "")
    if re.search(
        r"rect\(\s*[01](?:px)?[\s,]+[01](?:px)?[\s,]|inset\(\s*(?:50|100)%|circle\(\s*0|scale\(\s*0(?:\.0+)?\s*[,)]",
        clip,
    ):
        return "Hidden"
    sides = [_pixels(says[key]) for key in ("width", "height", "max-height", "max-width") if key in says]
    small = any(one is not None and 0 <= one <= 1 for one in sides)
    return "Hidden" if small and says.get("overflow", "") in ("hidden", "clip") else ""
