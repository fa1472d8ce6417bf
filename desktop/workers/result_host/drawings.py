"""Drawings (SVG) as pictures, with their words: what draws pages knows shapes, but no letters in them."""

from __future__ import annotations

import base64
import re
from collections.abc import Sequence
from pathlib import Path

import resvg_py

from desktop.workers.result_host import limits

SHARP = 2.0
_INSIDE = re.compile(r"<svg(?=[\s>])(?P<head>[^>]*+)>(?P<body>.*?)</svg\s*+>", re.IGNORECASE | re.DOTALL)
_SIZE = re.compile(r"\b(?P<name>width|height|viewBox)\s*+=\s*+[\"'](?P<value>[^\"']*+)[\"']", re.IGNORECASE)
_NUMBER = re.compile(r"\s*+(\d{1,6}(?:\.\d+)?)\s*+(?:px)?\s*+")
_VARIABLE = re.compile(r"(--[\w-]++)\s*+:\s*+([^;{}]++)")
_USED = re.compile(r"var\(\s*+(--[\w-]++)\s*+(?:,\s*+([^()]*+))?+\)")
_STYLE = re.compile(r"<style[^>]*+>(.*?)</style", re.IGNORECASE | re.DOTALL)
_LATIN = re.compile(r"[\x00-\u052f\u1e00-\u22ff\u25a0-\u27bf]*+")


class Drawings:
    """``fonts``: files of our own, which are always there. ``readable``: whether those of the computer can be read."""

    def __init__(self, fonts: Sequence[Path], *, readable: bool) -> None:
        self._fonts = [str(path) for path in fonts]
        self._readable = readable
        self._count = 0

    def inside(self, page: str) -> str:
        """The page with each drawing that has words in it as a picture in its place."""
        css = "\n".join(_STYLE.findall(page))
        values = dict(_VARIABLE.findall(css))
        return _INSIDE.sub(lambda found: self._one(found, css, values), page)

    def picture(self, svg: str, scale: float, css: str = "") -> bytes:
        """A drawing as PNG. Raises ValueError for what is none."""
        latin = _LATIN.fullmatch(svg) is not None
        png: bytes = resvg_py.svg_to_bytes(
            svg_string=svg,
            zoom=scale,
            style_sheet=css or None,
            skip_system_fonts=latin or not self._readable,
            font_files=self._fonts,
            font_family="Inter",
            serif_family="Inter",
            sans_serif_family="Inter",
            cursive_family="Inter",
            fantasy_family="Inter",
            monospace_family="JetBrains Mono",
        )
        return png

    def _one(self, found: re.Match[str], css: str, values: dict[str, str]) -> str:
        size = size_of(found["head"])
        if "<text" not in found["body"].lower() or size is None or self._count >= limits.DRAWINGS:
            return _filled(found[0], values)
        self._count += 1
        width, height = size
        head = found["head"] if "xmlns=" in found["head"] else f'{found["head"]} xmlns="http://www.w3.org/2000/svg"'
        whole = f"<svg {head}>{found['body']}</svg>"
        drawn = _filled(whole, values)
        scale = min(SHARP, (limits.DRAWING_PIXELS / max(1.0, width * height)) ** 0.5)
        try:
            png = self.picture(drawn.replace("currentColor", _ink(found["head"])), scale, _plain(css, values))
        except (ValueError, TypeError):
            return found[0]
        data = base64.b64encode(png).decode("ascii")
        box = f'x="{_corner(found["head"])[0]}" y="{_corner(found["head"])[1]}" width="{width}" height="{height}"'
        return f'<svg {found["head"]}><image {box} href="data:image/png;base64,{data}"/></svg>'


def size_of(head: str) -> tuple[float, float] | None:
    """How large a drawing is in its own units: by its box, else by its width and height."""
    having = {one["name"].lower(): one["value"] for one in _SIZE.finditer(head)}
    numbers = _numbers(having.get("viewbox", ""))
    if len(numbers) == 4 and numbers[2] > 0 and numbers[3] > 0:
        return numbers[2], numbers[3]
    wide, high = (_NUMBER.fullmatch(having.get(name, "")) for name in ("width", "height"))
    if wide is None or high is None or not float(wide[1]) or not float(high[1]):
        return None
    return float(wide[1]), float(high[1])


def _corner(head: str) -> tuple[float, float]:
    having = {one["name"].lower(): one["value"] for one in _SIZE.finditer(head)}
    numbers = _numbers(having.get("viewbox", ""))
    return (numbers[0], numbers[1]) if len(numbers) == 4 else (0.0, 0.0)


def _numbers(text: str) -> list[float]:
    try:
        return [float(one) for one in text.replace(",", " ").split()[:5]]
    except ValueError:
        return []


def _filled(drawing: str, values: dict[str, str]) -> str:
    """A drawing with the variables of its page filled in, which what draws it does not know."""
    return _USED.sub(lambda used: values.get(used[1], used[2] or "currentColor").strip(), drawing)


def _ink(head: str) -> str:
    found = re.search(r"\bcolor\s*[:=]\s*[\"']?([#\w]+)", head)
    return found[1] if found is not None else "#1f2328"


def _plain(css: str, values: dict[str, str]) -> str:
    """The page's own rules, with its variables filled in."""
    return _USED.sub(lambda used: values.get(used[1], used[2] or "").strip(), css)[:200_000]
