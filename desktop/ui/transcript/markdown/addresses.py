"""Addresses of the web that stand in a text as they are, found by GitHub's rules.

Qt finds them too, but takes the full stop behind one into its link, and some with brackets or a colon it does not find.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from desktop.ui.transcript.markdown.model import TextRun

_ADDRESS = re.compile(r"(?<![^\s*_~(])(?:https?://[\w-]+\.|www\.)[\w-]+[^\s<]*", re.IGNORECASE)
_BEHIND = "?!.,:;*_~'\"…。，、；：！？）」』】”’"
"""Signs that end a sentence or a quotation, and not an address."""
_ENTITY = re.compile(r"&[A-Za-z0-9]{1,30};$")


def with_addresses(text: str, runs: Sequence[TextRun], source: str) -> tuple[TextRun, ...]:
    """The runs of a text, in which each address is a link, to its end or to the ``>`` that the source has behind it."""
    if "://" not in text and "www." not in text.lower():
        return tuple(runs)
    found: list[TextRun] = []
    at = 0
    for run in runs:
        found += _linked(text, TextRun(at, run.start))
        bracketed = run.href and f"<{text[run.start : run.end]}>" in source
        found += [run] if bracketed else _linked(text, run)
        at = run.end
    return (*found, *_linked(text, TextRun(at, len(text))))


def _linked(text: str, run: TextRun) -> Iterator[TextRun]:
    """A run in parts, of which those that look like all text are left out. A link with words of its own stays."""
    at, shown = run.start, text[run.start : run.end]
    if not run.code and not run.math and run.href in ("", shown, f"http://{shown}"):
        for match in _ADDRESS.finditer(text, run.start, run.end):
            address = _without_end(match[0])
            yield from _part(replace(run, start=at, end=match.start(), href=""))
            at = match.start() + len(address)
            yield replace(run, start=match.start(), end=at, href=address if "://" in address else f"http://{address}")
    yield from _part(replace(run, start=at, href="" if at > run.start else run.href))


def _part(run: TextRun) -> Iterator[TextRun]:
    if run.start < run.end and not run.plain:
        yield run


def _without_end(address: str) -> str:
    """Without what follows an address: signs, an entity, and brackets that were not opened in it."""
    while True:
        kept = _ENTITY.sub("", address).rstrip(_BEHIND)
        if kept.endswith(")") and kept.count(")") > kept.count("("):
            kept = kept[:-1]
        if kept == address:
            return address
        address = kept
