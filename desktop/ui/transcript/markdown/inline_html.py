"""The few HTML tags and marks beside Markdown that models write, as Markdown: nothing of them acts, nothing is fetched.

A line break, keys, the two tags of a folding part, comments and references to footnotes. All other tags stay text.
"""

from __future__ import annotations

import re

from desktop.domain.loading.lazy_pattern import lazy_pattern

_CODE = r"(?P<code>(?P<ticks>`+)(?!`).+?(?<!`)(?P=ticks)(?!`)|\\[<\[])"
_COMMENT = r"<!--(?!-?>)(?>(?:(?!-->).)*)-->"
_TAGS = lazy_pattern(
    rf"{_CODE}|(?P<comment>{_COMMENT})"
    r"|(?P<br>[ \t]*<br[ \t]*/?>[ \t]*\n?)"
    r"|<kbd>(?P<kbd>[^<>`\n]{1,80})</kbd>"
    r"|<summary>[ \t]*(?P<summary>[^<>\n]{1,300}?)[ \t]*</summary>[ \t]*(?P<end>\n?)"
    r"|(?P<fold></?details(?:[ \t]+open)?[ \t]*>\n?)"
    r"|\[\^(?P<note>[^\s\]\[^]{1,40})\](?!\()",
    re.DOTALL | re.IGNORECASE,
)
_RAISED = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")
FOLDS = lazy_pattern(rf"(?>\s+|</?details(?:[ \t]+open)?[ \t]*>|{_COMMENT})++", re.DOTALL | re.IGNORECASE)
"""A paragraph of nothing but what is not drawn."""


def without_html(source: str) -> str:
    """Inline Markdown in which those tags are said in Markdown. Code and escaped signs stay as they are."""
    if "<" not in source and "[^" not in source:
        return source
    return _TAGS.sub(_said, source)


def note_mark(label: str) -> str:
    """How a footnote is numbered: a raised number, or its name."""
    return label.translate(_RAISED) if label.isascii() and label.isdigit() else f"[{label}]"


def _said(found: re.Match[str]) -> str:
    if found["code"]:
        return found[0]
    if found["br"]:
        return "\\\n"
    if found["kbd"]:
        return f"`{found['kbd'].strip()}`" if found["kbd"].strip() else found[0]
    if found["summary"]:
        return f"▾ **{found['summary']}**" + ("\\\n" if found["end"] else "")
    if found["note"]:
        mark = note_mark(found["note"])
        return mark.replace("[", "\\[")
    return ""
