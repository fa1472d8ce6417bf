"""How a secret looks when a program repeats it in another writing: what redaction has to recognise (R-SEC-4).

Covered: as it is, in capitals, in small letters and with both exchanged (from 12 characters on: shorter ones would be
ordinary words), in full width; escaped for JSON (also twice), Python, HTML, XML and URLs (also twice), as far as needed
or every letter; in base64 and base32 (by itself, and inside a longer text at any of the places where it can begin) and
in base64 of base64; in hexadecimal with the usual signs between the bytes, as quoted-printable, in octal escapes, as a
list of decimal numbers; as UTF-16, and backwards. Whoever looks leaves out white space and signs that are not seen.
What a program encrypts, packs, writes in another of a hundred ways or mixes is not: redaction is defence in depth.
"""

from __future__ import annotations

import base64
import json
import urllib.parse
from collections.abc import Iterable, Iterator

MIN_SECRET = 6
"""Characters; a shorter value would eat ordinary words."""

_HEX_BETWEEN = ("", ":", "-", ", 0x")
_HEX_BEFORE = ("\\x", "%", "0x", "=", "%25")
_MIN_OTHER_CASE = 12
_FULL_WIDTH = {code: code + 0xFEE0 for code in range(0x21, 0x7F)}


def spellings(value: str) -> set[str]:
    """Every writing of ``value`` that is long enough to be looked for; nothing for a value that is too short."""
    if len(value) < MIN_SECRET:
        return set()
    raw = value.encode("utf-8", "surrogatepass")
    found = {value, value[::-1], "\0".join(value), base64.b32encode(raw).decode()}
    found |= {*_escaped(value), *_hexadecimal(raw), *_base64(raw)}
    found |= _base64(value.encode("utf-16-le", "surrogatepass")) | _base64(base64.b64encode(raw).rstrip(b"="))
    found |= {value.translate(_FULL_WIDTH), *_letter_by_letter(value, raw)}
    if len(value) >= _MIN_OTHER_CASE:
        found |= {value.upper(), value.lower(), value.swapcase()}
    return {text for text in (text.rstrip("=") for text in found) if len(text) >= MIN_SECRET} | {value}


def _escaped(value: str) -> Iterator[str]:
    once = json.dumps(value)[1:-1]
    yield once
    yield json.dumps(once)[1:-1]
    yield once.replace("/", "\\/")
    yield json.dumps(value, ensure_ascii=False)[1:-1]
    yield repr(value)[1:-1]
    for escaped in _html(value):
        yield escaped
        yield escaped.replace("&#x27;", "&#39;")
        yield escaped.replace("&#x27;", "&apos;")
    for safe in ("", "/", "/:@!$&'()*+,;="):
        quoted = _quoted(value, safe)
        yield quoted
        yield _small_percent(quoted)
        yield _quoted(quoted, safe)
    yield urllib.parse.quote_plus(value, errors="replace")


def _html(value: str) -> tuple[str, str]:
    """With and without the quotes. The standard library's ``html`` does the same, and holds 1 MB of names of signs."""
    plain = value.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return plain.replace('"', "&quot;").replace("'", "&#x27;"), plain


def _letter_by_letter(value: str, raw: bytes) -> Iterator[str]:
    units = value.encode("utf-16-be", "surrogatepass").hex()
    escaped = [units[at : at + 4] for at in range(0, len(units), 4)]
    yield "".join(f"\\u{unit}" for unit in escaped)
    yield "".join(f"\\u{unit.upper()}" for unit in escaped)
    yield "".join(f"&#{ord(letter)};" for letter in value)
    yield "".join(f"&#x{ord(letter):x};" for letter in value)
    yield "".join(f"&#x{ord(letter):X};" for letter in value)
    yield "".join(f"\\{byte:03o}" for byte in raw)
    for between in ("", " ", ",", ", "):
        yield between.join(str(byte) for byte in raw)


def _quoted(value: str, safe: str) -> str:
    return urllib.parse.quote(value, safe=safe, errors="replace")


def _small_percent(quoted: str) -> str:
    head, *rest = quoted.split("%")
    return head + "".join(f"%{part[:2].lower()}{part[2:]}" for part in rest)


def _hexadecimal(raw: bytes) -> Iterator[str]:
    pairs = [f"{byte:02x}" for byte in raw]
    for between in _HEX_BETWEEN:
        joined = between.join(pairs)
        yield joined
        yield joined.upper().replace("0X", "0x")
    for before in _HEX_BEFORE:
        yield "".join(before + pair for pair in pairs)
        yield "".join(before + pair.upper() for pair in pairs)
    yield "".join(f"{byte:02x}00" for byte in raw)  # UTF-16 of what is ASCII


def _base64(raw: bytes) -> set[str]:
    """By itself, and the part of it that is the same wherever in a longer text it begins: after 0, 1 or 2 bytes of a
    group of three."""
    found = {base64.b64encode(raw).decode()}
    for before in range(3):
        encoded = base64.b64encode(b"\0" * before + raw).decode()
        start = (before * 8 + 5) // 6
        end = (before + len(raw)) * 8 // 6
        found.add(encoded[start:end])
    return found | {text.translate(_URL) for text in found}


_URL = str.maketrans("+/", "-_")


def of_all(values: Iterable[str]) -> list[str]:
    """The spellings of several values, the longest first."""
    return sorted({text for value in values for text in spellings(value)}, key=len, reverse=True)
