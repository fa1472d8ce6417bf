"""Which look an element of an SVG has: by its attributes, by the picture's own style sheet, by what is around it; and
the colour of the theme that stands for one of the picture.

Of style sheets only what such pictures need is read: names, classes, ids and attributes, one inside the other.
"""

from __future__ import annotations

import colorsys
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from xml.etree.ElementTree import Element

from desktop.domain.fences.drawing import Paint

INHERITED = frozenset(
    "fill stroke stroke-width stroke-dasharray font-size font-weight font-style text-anchor visibility color".split()
)
READ = INHERITED | {
    "display",
    "opacity",
    "fill-opacity",
    "stroke-opacity",
    "dominant-baseline",
    "marker-end",
    "marker-start",
}
"""The properties that are looked at."""
RULES = 4_000
_RULE = re.compile(r"([^{}@]+)\{([^{}]*)\}")
_COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
_COMPOUND = re.compile(r'([*\w-]*)((?:[.#][\w-]+|\[[\w-]+(?:="?[^"\]]*"?)?\])*)$')
_PART = re.compile(r'([.#])([\w-]+)|\[([\w-]+)(?:="?([^"\]]*)"?)?\]')
Look = dict[str, str]


@dataclass(frozen=True, slots=True)
class _Compound:
    """What one element has to be."""

    tag: str
    classes: tuple[str, ...]
    ident: str
    attributes: tuple[tuple[str, str], ...]

    def fits(self, element: Element, classes: frozenset[str]) -> bool:
        if self.tag and self.tag != local(element):
            return False
        if self.ident and element.get("id") != self.ident:
            return False
        if not classes.issuperset(self.classes):
            return False
        return all(element.get(name) == value if value else name in element.attrib for name, value in self.attributes)


@dataclass(frozen=True, slots=True)
class _Selector:
    """``last`` is the element, ``around`` what stands around it from the inside out; ``weight`` how much it counts."""

    last: _Compound
    around: tuple[_Compound, ...]
    weight: tuple[int, int, int, int]
    look: Look


@dataclass(slots=True)
class Chain:
    """An element with all that are around it."""

    element: Element
    classes: frozenset[str]
    outer: Chain | None
    look: Look = field(default_factory=dict)


def local(element: Element) -> str:
    """An element's name without its namespace."""
    name = element.tag if isinstance(element.tag, str) else ""
    return name.rpartition("}")[2]


class StyleSheet:
    """The rules of all ``style`` elements of a picture."""

    def __init__(self, texts: Iterable[str]) -> None:
        self._by_class: dict[str, list[_Selector]] = {}
        self._others: list[_Selector] = []
        count = 0
        for text in texts:
            for selectors, body in _RULE.findall(_COMMENT.sub("", text)):
                look = declared(body)
                for selector in selectors.split(","):
                    made = _selector(selector, look, count)
                    count += 1
                    if made is not None and look and count < RULES:
                        self._add(made)

    def _add(self, selector: _Selector) -> None:
        names = selector.last.classes
        (self._by_class.setdefault(names[0], []) if names else self._others).append(selector)

    def enter(self, element: Element, outer: Chain | None) -> Chain:
        """The element with the look that it has in this place."""
        made = Chain(element, frozenset(element.get("class", "").split()), outer)
        look = {name: value for name, value in outer.look.items() if name in INHERITED} if outer else {}
        look |= {name: value for name, value in element.attrib.items() if name in READ}
        for selector in sorted(self._fitting(made), key=lambda one: one.weight):
            look |= selector.look
        look |= declared(element.get("style", ""))
        made.look = {
            name: outer.look.get(name, "") if value == "inherit" and outer else value for name, value in look.items()
        }
        return made

    def _fitting(self, chain: Chain) -> list[_Selector]:
        asked = [one for name in chain.classes for one in self._by_class.get(name, ())]
        asked += self._others
        return [
            one for one in asked if one.last.fits(chain.element, chain.classes) and _around(one.around, chain.outer)
        ]


def _around(wanted: tuple[_Compound, ...], chain: Chain | None) -> bool:
    """Whether what is wanted around an element is there, in this order from the inside out."""
    for compound in wanted:
        while chain is not None and not compound.fits(chain.element, chain.classes):
            chain = chain.outer
        if chain is None:
            return False
        chain = chain.outer
    return True


def _selector(text: str, look: Look, number: int) -> _Selector | None:
    compounds = []
    for word in text.replace(">", " ").split():
        match = _COMPOUND.fullmatch(word)
        if match is None:
            return None
        classes, ident, attributes = [], "", []
        for kind, name, attribute, value in _PART.findall(match[2]):
            if kind == ".":
                classes.append(name)
            elif kind == "#":
                ident = name
            else:
                attributes.append((attribute, value))
        compounds.append(_Compound(match[1].strip("*"), tuple(classes), ident, tuple(attributes)))
    if not compounds:
        return None
    ids = sum(bool(one.ident) for one in compounds)
    names = sum(len(one.classes) + len(one.attributes) for one in compounds)
    return _Selector(
        compounds[-1], tuple(compounds[-2::-1]), (ids, names, sum(bool(one.tag) for one in compounds), number), look
    )


def declared(body: str) -> Look:
    """The properties of a declaration that are looked at."""
    found: Look = {}
    for part in body.split(";"):
        name, _, value = part.partition(":")
        name = name.strip().casefold()
        if name in READ and value.strip():
            found[name] = value.replace("!important", "").strip()
    return found


# ------------------------------------------------------------------------------------------------------------- colours

_NAMED = dict(
    pair.split("=")
    for pair in """
black=#000000 white=#ffffff red=#ff0000 green=#008000 blue=#0000ff yellow=#ffff00 orange=#ffa500 purple=#800080
pink=#ffc0cb gray=#808080 grey=#808080 navy=#000080 teal=#008080 lightblue=#add8e6 lightgreen=#90ee90
lightgrey=#d3d3d3 lightgray=#d3d3d3 lightyellow=#ffffe0 cyan=#00ffff magenta=#ff00ff brown=#a52a2a gold=#ffd700
aqua=#00ffff lime=#00ff00 silver=#c0c0c0 maroon=#800000 olive=#808000
""".split()
)
_FUNCTION = re.compile(r"(rgba?|hsla?)\(([^)]*)\)")
_HUES: tuple[tuple[float, Paint, Paint], ...] = (
    (20, "failed", "failed-soft"),
    (42, "side-b", "side-b-soft"),
    (70, "write", "write-soft"),
    (170, "accent-text", "accent-soft"),
    (205, "running", "running-soft"),
    (265, "side-a", "side-a-soft"),
    (345, "admin", "admin-soft"),
    (361, "failed", "failed-soft"),
)
"""Up to which hue a colour of a picture is which of the theme: as a line or words, and as a ground."""
GREY = 0.14
"""Saturation below which a colour is a grey."""


def rgb(text: str) -> tuple[float, float, float] | None:
    """Red, green and blue from 0 to 1; None for none, or for what is not known."""
    text = _NAMED.get(text.strip().casefold(), text.strip())
    if text.startswith("#") and len(text) in (4, 5, 7, 9):
        digits = text[1:]
        digits = "".join(digit * 2 for digit in digits[:3]) if len(digits) < 6 else digits[:6]
        try:
            return tuple(int(digits[at : at + 2], 16) / 255 for at in (0, 2, 4))  # type: ignore[return-value]
        except ValueError:
            return None
    match = _FUNCTION.fullmatch(text.casefold())
    if match is None:
        return None
    values = [float(value) for value in re.findall(r"-?\d+\.?\d*", match[2])[:4]]
    if len(values) < 3 or (len(values) > 3 and values[3] == 0):
        return None
    if match[1].startswith("rgb"):
        return tuple(min(1.0, max(0.0, value / 255)) for value in values[:3])  # type: ignore[return-value]
    hue, saturation, light = values[0] % 360 / 360, min(1, values[1] / 100), min(1, max(0, values[2] / 100))
    return colorsys.hls_to_rgb(hue, light, saturation)


def ground(text: str, small: bool) -> Paint:
    """The colour of the theme for an area: always one that the theme's text can be read on, unless it is ``small``."""
    found = rgb(text)
    if found is None:
        return ""
    hue, light, saturation = colorsys.rgb_to_hls(*found)
    if _grey(found, saturation):
        if light < 0.45 and small:
            return "text-2"
        return "surface" if light > 0.97 else "sunken"
    strong, soft = _of_hue(hue)
    return strong if small else soft


def ink(text: str, usual: Paint) -> Paint:
    """The colour of the theme for a line; ``usual`` for a grey one."""
    found = rgb(text)
    if found is None:
        return ""
    hue, light, saturation = colorsys.rgb_to_hls(*found)
    if _grey(found, saturation):
        return "border" if light > 0.9 else "border-strong" if light > 0.7 else usual
    return _of_hue(hue)[0]


def _grey(color: Mapping[int, float] | tuple[float, float, float], saturation: float) -> bool:
    return saturation < GREY or max(color) - min(color) < 0.06


def _of_hue(hue: float) -> tuple[Paint, Paint]:
    return next((strong, soft) for most, strong, soft in _HUES if hue * 360 < most)
