"""Single values of a definition: names, icons, variables (R-DEF-2, R-DEF-9, R-DEF-10, R-DEF-15)."""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from desktop.domain.definitions import DefinitionProblem

PROMPT = re.compile(r"[a-z0-9](?:[a-z0-9_-]{0,62}[a-z0-9])?")
TOOL = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9_-]{0,63})")
VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,63}")
MAX_LABEL = 80
MAX_TEXT = 1000
MAX_PROMPT_TEXT = 50_000
"""Characters of a prompt in an agent's file. A longer one is a skill."""
MAX_ENVIRONMENT = 50
MAX_VALUE = 2000

_SECRET_NAME = re.compile(
    r"token|secret|passw|passphrase|authorization|credential|cookie|private|webhook", re.IGNORECASE
)
_SECRET_WORDS = frozenset("pass pwd auth pat pin creds otp jwt bearer".split())
"""Words that are a secret where they stand alone in a name: ``DB_PASS``, not ``BYPASS``."""
_NO_KEYS = re.compile(r"(?:mon|don|tur|hot|hoc|joc|whis)keys?|key(?:board|word|note|stroke|map|frame)s?")
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
_WORKING_FOLDER = "PWD"
_SECRET_VALUE = re.compile(
    r"\b(?:sk|pk|rk|gsk|xai|hf|ghp|gho|ghs|ghu|github_pat|glpat|pplx|nvapi|AIza|xox[abpr])[-_]?[A-Za-z0-9_-]{16,}"
    r"|\b(?:AKIA|ASIA)[A-Z0-9]{12,}|(?<![A-Za-z0-9_-])eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]+"
    r"|-----BEGIN[ A-Z]*PRIVATE KEY-----"
    r"|\b(?:npm_|pypi-|dop_v1_|doo_v1_|SG\.|shpat_|sq0[a-z]{3}-|dckr_pat_|ntn_|figd_|lin_api_|tvly-|sntrys_|r8_|"
    r"ctx7sk-|xapp-|xox[cdes]-)[A-Za-z0-9_.%-]{16,}"
    r"|\b(?:AccountKey|SharedAccessKey|SharedAccessSignature)=[A-Za-z0-9+/=%]{12,}"
    r"|://hooks\.slack\.com/services/\S+|[?&](?:api_?key|access_token|auth|key|sig|signature|token)=[^&\s]{8,}"
    r"|\b(?:bearer|basic)\s+[A-Za-z0-9._~+/=-]{12,}|[a-z]://[^\s:/@]*:[^\s/@]+@|\$\{keyring:",
    re.IGNORECASE,
)
_NOT_SHOWN = ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp")
_JOINERS = "\u200c\u200d\ufe0f"
"""Part of how some languages and pictures are written; they order nothing and hide nothing long."""


def odd_text(value: str) -> str:
    """What a text holds that a person could not see, or "": control characters, what turns the direction of writing."""
    for character in value:
        if character not in "\n\t" + _JOINERS and unicodedata.category(character) in _NOT_SHOWN:
            return f"a character that cannot be seen (U+{ord(character):04X})"
    return ""


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


def icon_url(icon: str, resources: Path) -> str:
    """What an icon is when it is shown (R-DEF-10): an address of the web as it is, a path as the URL of that file below
    ``resources``; "" for none, and for a file that is not there or leads out. Blocks."""
    if not icon.startswith("/"):
        return icon
    root = resources.resolve()
    try:
        path = (root / unquote(icon).lstrip("/")).resolve()
    except (OSError, ValueError):
        return ""
    return path.as_uri() if path.is_relative_to(root) and path.is_file() else ""


def environment_text(value: Any) -> str | None:
    """A value of ``tenvs`` as text: what is no text as its JSON (D-6). None for what has none, or is too long."""
    try:
        text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, allow_nan=False)
    except (ValueError, TypeError, RecursionError):
        return None
    return text if len(text) <= MAX_VALUE and not odd_text(text) else None


def environment_problems(given: Mapping[Any, Any], path: str = "") -> list[DefinitionProblem]:
    """What keeps variables from being those of a thread (R-DEF-15, D-6), each at its place below ``path``."""
    found = [] if len(given) <= MAX_ENVIRONMENT else [
        DefinitionProblem(path, "field.length", f"there are {len(given)} variables; {MAX_ENVIRONMENT} is the most")
    ]  # fmt: skip
    for key, value in list(given.items())[:MAX_ENVIRONMENT]:
        name = str(key)
        at = f"{path}.{name[:60]}" if path else name[:60]
        if not VARIABLE.fullmatch(name):
            what = "a name here is letters, digits and underscores"
            found.append(DefinitionProblem(at, "environment.name", what))
        elif environment_text(value) is None:
            what = "a value here is text, or what JSON can say, of at most 2,000 characters"
            found.append(DefinitionProblem(at, "environment.value", what))
        elif looks_secret(name, value):
            what = "this looks like a secret, and this is no place for one: keep it in Settings, Keyring"
            found.append(DefinitionProblem(at, "environment.secret", what))
    return found


def looks_secret(name: str, value: Any) -> bool:
    """Whether a variable, or a field inside its value, is named like a secret, or holds what looks like one."""
    if _secret_name(name):
        return True
    if isinstance(value, Mapping):
        return any(looks_secret(str(key), one) for key, one in value.items())
    if isinstance(value, list):
        return any(looks_secret("", one) for one in value)
    return isinstance(value, str) and _SECRET_VALUE.search(value) is not None


def _secret_name(name: str) -> bool:
    if name == _WORKING_FOLDER:
        return False
    words = {word.lower() for word in _WORD.findall(name)}
    keys = any("key" in word and _NO_KEYS.fullmatch(word) is None for word in words)
    return keys or _SECRET_NAME.search(name) is not None or not words.isdisjoint(_SECRET_WORDS)
