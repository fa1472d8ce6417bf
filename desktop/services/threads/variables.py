"""The variables of a thread: their names, their values as text, and what looks like a secret (R-DEF-15, D-6)."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from desktop.domain.definitions import DefinitionProblem
from desktop.domain.loading.lazy_pattern import lazy_pattern
from desktop.domain.text.hidden_characters import odd_text

VARIABLE = lazy_pattern(r"[A-Za-z_][A-Za-z0-9_]{0,63}")
MAX_ENVIRONMENT = 50
MAX_VALUE = 2000

_SECRET_NAME = lazy_pattern(
    r"token|secret|passw|passphrase|authorization|credential|cookie|private|webhook", re.IGNORECASE
)
_SECRET_WORDS = frozenset("pass pwd auth pat pin creds otp jwt bearer".split())
"""Words that are a secret where they stand alone in a name: ``DB_PASS``, not ``BYPASS``."""
_NO_KEYS = lazy_pattern(r"(?:mon|don|tur|hot|hoc|joc|whis)keys?|key(?:board|word|note|stroke|map|frame)s?")
_WORD = lazy_pattern(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
_WORKING_FOLDER = "PWD"
_SECRET_VALUE = lazy_pattern(
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


def environment_text(value: Any) -> str | None:
    """A value of ``tenvs`` as text: what is no text as its JSON (D-6). None for what has none, or is too long."""
    try:
        text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, allow_nan=False)
    except (ValueError, TypeError, RecursionError):
        return None
    return text if len(text) <= MAX_VALUE and not odd_text(text) else None


def environment_problems(given: Mapping[Any, Any], path: str = "") -> list[DefinitionProblem]:
    """What keeps variables from being those of a thread (R-DEF-15, D-6), each at its place below ``path``."""
    found = (
        []
        if len(given) <= MAX_ENVIRONMENT
        else [
            DefinitionProblem(path, "field.length", f"there are {len(given)} variables; {MAX_ENVIRONMENT} is the most")
        ]
    )
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
