"""Single values of a definition: names, icons, variables (R-DEF-2, R-DEF-9, R-DEF-15)."""

from __future__ import annotations

import re
import unicodedata
from typing import Any
from urllib.parse import unquote, urlsplit

from desktop.domain.text.hidden_characters import odd_text

PROMPT = re.compile(r"[a-z0-9](?:[a-z0-9_-]{0,62}[a-z0-9])?")
TOOL = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9_-]{0,63})")
MAX_LABEL = 80
MAX_TEXT = 1000
MAX_PROMPT_TEXT = 50_000
"""Characters of a prompt in an agent's file. A longer one is a skill."""

_NOT_SHOWN = ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp")


def name_problem(name: Any) -> str:
    """What keeps a value from being the name of an agent, as a sentence, or ""."""
    if not isinstance(name, str) or not name.strip():
        return "name must be a text that is not empty"
    if len(name) > MAX_LABEL:
        return f"name has {len(name)} characters; {MAX_LABEL} is the most"
    if name != name.strip() or not name.isprintable() or odd_text(name):
        return "name must be one line, with nothing that cannot be seen, and no blank at either end"
    if any(character in "/\\:" for character in name) or name.startswith((".", "-")):
        return "name must not look like a path or an option: no / \\ or : in it, and no . or - at its beginning"
    return ""


def cleaned_icon(given: str) -> tuple[str, str]:
    """The icon without what surrounds it, and what is wrong with it (R-DEF-9): only a path below the resources and an
    address of the web are left. "" and "" for none."""
    icon = "".join(c for c in given if unicodedata.category(c) not in _NOT_SHOWN).strip()
    if not icon:
        return "", ""
    folded = icon.casefold()
    if folded.startswith(("https://", "http://")):
        return _web_icon(icon)
    if not icon.startswith("/"):
        return "", "icon must be a path that begins with / or an address that begins with https:// or http://"
    plain = unquote(unquote(icon))
    if plain.startswith("//") or "\\" in plain:
        return "", "icon must begin with a single / and name a file of the resources"
    if ".." in plain.split("/") or any(unicodedata.category(c) in _NOT_SHOWN for c in plain):
        return "", "icon must not lead out of the resources"
    return icon, ""


def _web_icon(icon: str) -> tuple[str, str]:
    try:
        host = urlsplit(icon).hostname
        secret = urlsplit(icon).password is not None or urlsplit(icon).username is not None
    except ValueError:
        host, secret = None, False
    if not host or secret or any(c.isspace() or c in "\\<>\"'`" for c in icon):
        return "", "icon is no address: it needs a host, and neither blanks nor a user name"
    return icon, ""


def frontmatter_problem(text: str) -> str:
    """Why a text cannot be written in place: what its frontmatter says would count for nothing; "" if it has none."""
    if text.lstrip().split("\n", 1)[0].rstrip() != "---":
        return ""
    return "it begins as a skill's file does, with ---, and the fields there count in a skill alone: save it as a skill"
