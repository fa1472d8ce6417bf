"""Orders that stand in the arguments of database clients, beside the queries (R-BLK-8)."""

from __future__ import annotations

import re
from collections.abc import Sequence

from desktop.safety.shell.syntax.words import Word

_SQLITE_READS = frozenset(
    ".tables .schema .fullschema .indexes .indices .databases .dbinfo .mode .headers .header .width .separator "
    ".nullvalue .show .stats .timer .timeout .eqp .explain .changes .echo .bail .print .help .quit .exit .dump "
    ".sha3sum .prompt .limit .version .parameter .lint .expert .binary .crlf .cd".split()
)
"""Only these, and only in full: the client takes any beginning of a name."""
_SQL = re.compile(
    r"writefile|edit\s*\(|load_extension|fts\d_tokenizer|\battach\b|\bvacuum\b.*\binto\b", re.IGNORECASE | re.DOTALL
)
_PSQL = re.compile(
    r"\\(?!d[a-zA-Z]*[S+]*(?:\s|$|;)|l\+?(?:\s|$)|(?:x|timing|conninfo|q|z|c|connect|pset|t|a|H|r|p|\?|h)\b)"
    r"|\bprogram\s+['$e]|\blo_(?:ex|im)port|\bcopy\b.*\b(?:to|from)\b|\bpg_(?:read|write|file|ls)\w*"
    r"|\|\s*\w+\s*$|\bload\s+'",
    re.IGNORECASE | re.DOTALL,
)
_MYSQL = re.compile(
    r"(?:^|;|\n)\s*(?:system|source|tee|pager|edit|nopager)\b|\\[!.TPe]|\binto\s+(?:out|dump)file\b|\bload_file\b"
    r"|\bload\s+data\b|\bsys_(?:exec|eval)\b",
    re.IGNORECASE | re.MULTILINE,
)


def orders_act(client: str, words: Sequence[Word]) -> bool:
    """Whether an argument makes the client start a program, or write or read a file besides the database."""
    if client == "sqlite":
        return any(_sqlite(word.text) for word in words)
    pattern = {"psql": _PSQL, "mysql": _MYSQL, "mariadb": _MYSQL}.get(client)
    return pattern is not None and any(pattern.search(_order(word.text)) for word in words)


def _order(text: str) -> str:
    """An option's value where it is glued to it."""
    found = re.match(r"-[A-Za-z0-9]*[ce]|--[\w-]+=", text)
    return text[found.end() :] if found else text


def _sqlite(text: str) -> bool:
    for line in text.split("\n"):
        name = line.split()[0] if line.lstrip().startswith(".") and line.split() else ""
        if name and "/" not in name and name not in _SQLITE_READS and name != ".":
            return True
    return _SQL.search(text) is not None
