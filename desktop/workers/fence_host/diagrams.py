"""Mermaid diagrams as drawings. ``mmdr`` reads and lays them out; it knows no file, no network and no browser, and has
limits of its own on how much one diagram may be."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from desktop.domain.fences.drawing import Drawing
from desktop.domain.loading.lazy import lazy_module
from desktop.workers.fence_host.svg import reading
from desktop.workers.fence_host.undrawn import NotDrawn

# Not on every system.
if TYPE_CHECKING:
    import mmdr
else:
    mmdr = lazy_module("mmdr")

LONGEST = 20_000
"""Characters of a diagram that is drawn."""
_LOOK = (
    "%%{init: {'theme': 'base', 'look': 'classic', 'securityLevel': 'strict', "
    "'flowchart': {'padding': 10, 'nodeSpacing': 36, 'rankSpacing': 40}, "
    "'sequence': {'actorFontSize': 14, 'messageFontSize': 14, 'noteFontSize': 14, "
    "'height': 40, 'width': 130, 'actorMargin': 44, 'messageMargin': 30, 'boxMargin': 8}, "
    "'themeVariables': {'fontSize': '14px', 'primaryColor': '#ffffff', 'primaryTextColor': '#111111', "
    "'primaryBorderColor': '#666666', 'lineColor': '#666666', 'textColor': '#111111', 'mainBkg': '#ffffff', "
    "'clusterBkg': '#f0f0f0', 'clusterBorder': '#cccccc', 'edgeLabelBackground': '#ffffff', "
    "'actorLineColor': '#cccccc', 'labelBoxBorderColor': '#cccccc'}}}%%\n"
)
"""In the picture's own colours what ``svg.styles`` makes colours of the theme of: white the pane, greys its greys."""
_HEAD = re.compile(r"\A\s*---[ \t]*\n(.*?\n)---[ \t]*(?:\n|\Z)", re.DOTALL)
_DIRECTIVE = re.compile(r"%%\{.*?\}%%", re.DOTALL)
_KIND = re.compile(r"^[ \t]*([A-Za-z][\w-]*)", re.MULTILINE)
_TITLE = re.compile(r"^title:[ \t]*(.+)$", re.MULTILINE)
_SCRIPT = re.compile(r"<[^<>]{0,400}>")
_TAG = re.compile(r"</?(?:b|i|u|em|strong|small|sub|sup|code|span|div|p|center|font)(?:\s[^<>]*)?/?>", re.IGNORECASE)
_BREAK = re.compile(r"<br\s*/?>", re.IGNORECASE)
WORDS = {
    "flowchart": "flowchart",
    "graph": "flowchart",
    "sequenceDiagram": "sequence diagram",
    "classDiagram": "class diagram",
    "stateDiagram": "state diagram",
    "stateDiagram-v2": "state diagram",
    "erDiagram": "entity relationship diagram",
    "gantt": "Gantt chart",
    "pie": "pie chart",
    "gitGraph": "git graph",
    "journey": "user journey",
    "mindmap": "mind map",
    "timeline": "timeline",
}


def load() -> None:
    """The library, where it is there, before nothing can be opened any more."""
    try:
        mmdr.render("flowchart LR\na-->b").svg()
    except ImportError:
        return


def drawn(source: str) -> Drawing:
    """Raises NotDrawn."""
    if len(source) > LONGEST:
        raise NotDrawn(f"It is longer than {LONGEST:,} characters.")
    body, title = _body(source)
    kind = next((match[1] for match in _KIND.finditer(re.sub(r"%%.*", "", body))), "")
    try:
        svg = mmdr.render(f"{_LOOK}{body}").svg()
    except ImportError:
        raise NotDrawn("Diagrams cannot be drawn on this system.") from None
    except ValueError as error:
        raise NotDrawn(_why(str(error))) from None
    try:
        drawing = reading.read(svg)
    except reading.PictureTooLarge:
        raise NotDrawn("It has too many parts to be drawn.") from None
    if not drawing.marks:
        raise NotDrawn("There is nothing in it to draw.")
    name = WORDS.get(kind, "diagram")
    words = ", ".join(dict.fromkeys(reading.words_of(drawing)))[:4_000]
    return replace(drawing, kind="mermaid", spoken=f"{name}{f' {title}' if title else ''}: {words}")


def _body(source: str) -> tuple[str, str]:
    """The diagram without what says how it is to look, which is the theme's, and its title."""
    head = _HEAD.match(source)
    body = source[head.end() :] if head else source
    title = _TITLE.search(head[1]) if head else None
    body = _DIRECTIVE.sub("", body)
    body = _SCRIPT.sub(lambda tag: "<br/>" if _BREAK.fullmatch(tag[0]) else _harmless(tag[0]), body)
    return body, title[1].strip(" \"'")[:200] if title else ""


def _harmless(text: str) -> str:
    """Tags around words are left out, and the words stay; so does what is none: ``<<interface>>``, ``<|--``."""
    return "" if _TAG.fullmatch(text) else text


def _why(told: str) -> str:
    """What the library says, as a sentence that quotes no more than a line."""
    if "resource limit" in told:
        return "It has too many parts to be laid out."
    told = re.sub(r"^Diagram parse error \([^)]*\): ", "", told)
    told = re.sub(r"\s+", " ", told).split(" expected", 1)[0].rstrip(" ;:,.")
    return f"It cannot be read: {told[:1].lower()}{told[1:200]}."
