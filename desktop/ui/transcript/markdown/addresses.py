"""Addresses of the web that stand in a text as they are, found by GitHub's rules, and places in documents.

Qt finds them too, but takes the full stop behind one into its link, and some with brackets or a colon it does not find.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from desktop.domain.files.documents import CITATION
from desktop.ui.transcript.markdown.model import TextRun

_ADDRESS = re.compile(r"(?<![^\s*_~(])(?:https?://[\w-]+\.|www\.)[\w-]+[^\s<]*", re.IGNORECASE)
_BEHIND = "?!.,:;*_~'\"…。，、；：！？）」』】”’"
"""Signs that end a sentence or a quotation, and not an address."""
_HINT = re.compile(r"://|www\.|\.(?:pdf|docx|docm|xlsx|xlsm|pptx|pptm|odt|epub|x?html?|csv|tsv|ipynb)\s", re.IGNORECASE)
CITED = "document:"
"""Begins the link to a place in a document; no text of a model can have one otherwise."""
_ENTITY = re.compile(r"&[A-Za-z0-9]{1,30};$")


def with_addresses(text: str, runs: Sequence[TextRun], source: str) -> tuple[TextRun, ...]:
    """The runs of a text, in which each address is a link, to its end or to the ``>`` that the source has behind it."""
    if not _HINT.search(text):
        return tuple(runs)
    found: list[TextRun] = []
    at = 0
    for run in (*runs, TextRun(len(text), len(text))):
        if _HINT.search(text, at, run.start):
            found += _linked(text, TextRun(at, run.start))
        bracketed = run.href and f"<{text[run.start : run.end]}>" in source
        found += _linked(text, run) if not bracketed and _HINT.search(text, run.start, run.end) else [run]
        at = run.end
    return tuple(found[:-1])


def _linked(text: str, run: TextRun) -> list[TextRun]:
    """A run in parts, of which those that look like all text are left out. A link with words of its own stays."""
    shown = text[run.start : run.end]
    if run.code or run.math or run.href not in ("", shown, f"http://{shown}"):
        return [run]
    found, at = [], run.start
    for start, end, href in _places(text, run):
        found.append(replace(run, start=at, end=start))
        found.append(replace(run, start=start, end=end, href=href))
        at = end
    found.append(replace(run, start=at, href="") if found else run)
    return [part for part in found if part.start < part.end and not part.plain]


def _places(text: str, run: TextRun) -> list[tuple[int, int, str]]:
    """Where in a run something is named that can be opened, from the first on and none inside another."""
    found = []
    for match in _ADDRESS.finditer(text, run.start, run.end):
        address = _without_end(match[0])
        href = address if "://" in address else f"http://{address}"
        found.append((match.start(), match.start() + len(address), href))
    addresses, at = tuple(found), 0
    for match in CITATION.finditer(text, run.start, run.end):
        while at < len(addresses) and addresses[at][1] <= match.start():
            at += 1
        if at == len(addresses) or match.end() <= addresses[at][0]:
            found.append((match.start(), match.end(), f"{CITED}{match[0]}"))
    return sorted(found)


def _without_end(address: str) -> str:
    """Without what follows an address: signs, an entity, and brackets that were not opened in it."""
    while True:
        kept = _ENTITY.sub("", address).rstrip(_BEHIND)
        if kept.endswith(")") and kept.count(")") > kept.count("("):
            kept = kept[:-1]
        if kept == address:
            return address
        address = kept
