"""The list as one plain text, for the packages: who, under which licence, and every text once."""

from __future__ import annotations

from pathlib import Path

from .components import Component
from .listing import read_list

RULE = "-" * 80


def notices(folder: Path, product: str) -> str:
    """All of ``resources/licences`` to be read in an editor."""
    rows = read_list(folder)
    said = [
        f"What {product} is made of, besides its own code: {len(rows)} parts of other makers.",
        "Each is named with its licence, and where that asks for it with the place of its source. The texts follow.",
        "",
        RULE,
        "",
    ]
    for row in rows:
        said += [*_row(row), ""]
    for name in sorted({text for row in rows for text in row.texts}):
        said += [RULE, name, RULE, "", (folder / "texts" / f"{name}.txt").read_text("utf-8").rstrip(), ""]
    return "\n".join(said)


def debian_copyright(folder: Path, product: str, own: str) -> str:
    """The file ``copyright`` of a Debian package, in the form that its policy calls 1.0. ``own`` is our licence."""
    said = [
        "Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/",
        f"Upstream-Name: {product}",
        "",
        "Files: *",
        f"Copyright: the authors of {product}",
        f"License: {own}",
        "",
    ]
    rows = read_list(folder)
    for row in rows:
        said += [
            f"Files: {_place(row)}",
            f"Copyright: {_folded(row.copyright or 'see the texts')}",
            f"License: {_short(row)}",
            f"Comment: {_folded(', '.join(filter(None, [row.name, row.version, row.source, ' '.join(row.texts)])))}",
            "",
        ]
    for name in sorted({_short(row) for row in rows}):
        said += [f"License: {name}", " The texts named in the comments lie below resources/licences/texts.", ""]
    return "\n".join(said)


def _short(row: Component) -> str:
    """An expression as one word, as these files want it."""
    return row.licence.replace(" ", "-").replace("(", "").replace(")", "")


def _row(row: Component) -> list[str]:
    inside = f", in {', '.join(row.inside)}" if row.inside else ""
    said = [f"{row.name} {row.version}".strip() + f" ({row.kind}{inside})", f"  Licence: {row.licence}"]
    if " OR " in row.licence:
        said.append(f"  Taken up: {' AND '.join(row.used)}")
    said += [f"  {line}" for line in row.copyright.splitlines()]
    if row.source:
        said.append(f"  Source: {row.source}")
    said.append(f"  Texts: {', '.join(row.texts)}")
    return said


def _place(row: Component) -> str:
    return "third-party/" + "/".join(filter(None, ["+".join(row.inside), row.name.replace(" ", "-"), row.version]))


def _folded(text: str) -> str:
    """One field of a Debian file: further lines begin with a space."""
    return "\n ".join(line.strip() or "." for line in text.splitlines()) or "."
