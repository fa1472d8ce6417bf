"""The icon of the menu: the mark on its plate, as the window has it, drawn from the app's own icon and theme."""

import json
import re
from collections.abc import Iterator
from pathlib import Path

import resvg_py

RESOURCES = Path(__file__).resolve().parents[2] / "resources"
SIDES = (16, 24, 32, 48, 64, 128, 256, 512)
"""Pixels of the pictures beside the drawing, for desktops that scale none or read no SVG."""


def drawing() -> str:
    """The icon as SVG, in the colours of the light theme."""
    colors = json.loads((RESOURCES / "theme/tokens.json").read_text("utf-8"))["color"]["light"]
    shapes = re.findall(r"<path [^>]*/>", (RESOURCES / "icons/mark.svg").read_text("utf-8"))
    ink, tick = shapes[:-1], shapes[-1]
    return (
        '<svg xmlns="http://www.w3.org/2000/svg" width="128" height="128" viewBox="0 0 25 25">'
        f'<rect width="25" height="25" rx="5.5" fill="{colors["surface"]}"/>'
        '<g transform="translate(2.5 2.5)" fill="none" stroke-width="1.5" stroke-linecap="round" '
        f'stroke-linejoin="round" stroke="{colors["text"]}">{"".join(ink)}'
        f'{tick.replace("<path ", f"""<path stroke="{colors["accent"]}" """)}</g></svg>\n'
    )


def pictures() -> Iterator[tuple[int, bytes]]:
    """(side, PNG) for each size."""
    svg = drawing()
    for side in SIDES:
        yield side, bytes(resvg_py.svg_to_bytes(svg_string=svg, width=side, height=side, skip_system_fonts=True))
