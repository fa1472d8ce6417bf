"""A server's question, judged: the few plain fields that a person may be asked for, and what they typed (R-MCP-4).

The schema comes from a stranger. What is not in the tables below is refused, whatever it would mean, and so is a field
that asks for a password or a key: those belong into a browser, never into a form. Values are checked as they are typed
and once more before they are sent.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import date, datetime
from typing import Any
from urllib.parse import urlsplit

from desktop.domain.errors import ToolFailure
from desktop.domain.servers.questions import AnswerValue, AskedField, AskedFormat, AskedKind
from desktop.tools.mcp.offered import plain

FIELDS_MAX = 20
MESSAGE_MAX = 4_000
NAME_MAX, LABEL_MAX, WORDS_MAX = 100, 200, 600
CHOICES_MAX, TICKS_MAX, CHOICE_MAX = 100, 30, 200
"""Choices of which one is taken, or several; characters of each."""
ALL_CHOICES_MAX = 200
"""Of a whole form."""
TEXT_MAX = 4_000
URL_MAX = 2_000

_OF_ALL = frozenset({"type", "title", "description", "default"})
_FORM = frozenset({"type", "properties", "required", "title", "description", "$schema", "additionalProperties"})
_KEYS: Mapping[AskedKind, frozenset[str]] = {
    "text": _OF_ALL | {"minLength", "maxLength", "format"},
    "number": _OF_ALL | {"minimum", "maximum"},
    "integer": _OF_ALL | {"minimum", "maximum"},
    "boolean": _OF_ALL,
    "one": _OF_ALL | {"enum", "enumNames", "oneOf"},
    "many": _OF_ALL | {"items", "minItems", "maxItems"},
}
_PLAIN: Mapping[str, AskedKind] = {
    "string": "text",
    "number": "number",
    "integer": "integer",
    "boolean": "boolean",
    "array": "many",
}
_FORMATS: tuple[AskedFormat, ...] = ("email", "uri", "date", "date-time")
_SECRET = re.compile(
    r"pass[-_ ]?(?:word|wd|phrase|code|key)|\bpwd?\b|\bpin\b|secret(?!ar)|credential|bearer|authorization|"
    r"\btokens?\b|\bkeys?\b|api[-_ ]?key|"
    r"\bcvv\b|\bcvc\b|\botp\b|\b[12]fa\b|\bmfa\b|mnemonic|seed[-_ ]phrase|one[-_ ]time[-_ ]code|verification[-_ ]code|"
    r"kennwort|passwort|zugangscode|geheimzahl|mots? de passe|code d.acc[eè]s|contrase[nñ]a|\bclave\b|\bsenhas?\b|"
    r"palavra[- ]passe|\bparola\b|parola d.ordine|wachtwoord|has[lł]o|heslo|lösenord|adgangskode|passord|salasana|"
    r"jelsz[oó]|[sş]ifre|mật khẩu|kata sandi|парол[ья]|код доступа|секрет|ключ|密码|密碼|口令|密钥|パスワード|暗証番号|"
    r"비밀번호|암호|كلمة (?:المرور|السر)|סיסמה|पासवर्ड|รหัสผ่าน",
    re.IGNORECASE,
)
_SECRET_WORDS = re.compile(
    r"p[a@][s$]{2}[-_\s]*(?:w[o0]rd|wd|phrase|code|key)|\bpwd?\b|secret(?!ar)|credential|mnemonic|"
    r"(?:seed|recovery|unlock)[-_\s]*(?:phrase|words?\b)|"
    r"(?:api|access|private|secret|auth|bearer|refresh)[-_\s]*(?:key|token)|\bpin[-\s](?:code|number)|"
    r"\b(?:your|ihre?|deine?|votre|su|tu|sua|il tuo)\s(?:[\w.+'-]+\s){0,2}(?:pin|tan|keys?)\b|"
    r"\b(?:your|the|an?)\s(?:[\w.+'-]+\s){0,2}(?:token|otp|cvv|cvc)\b(?!\s(?:count|limit|budget))|"
    r"\b(?:enter|type|paste|provide|give|send)\s(?:[\w.+'-]+\s){0,2}(?:token|pin|otp|cvv|cvc)\b|"
    r"\b(?:[a-z][a-z0-9]*ai|github|gitlab|ssh|gpg|pgp|licen[cs]e|host)[-_\s]+(?:key|token)\b|"
    r"(?:one[-_\s]*time|verification|recovery|backup|security|log[-\s]?in|sign[-\s]?in|auth(?:entic\w+)?|2fa|mfa|"
    r"(?:\d|four|six|eight)[-\s]digit)[-_\s]+codes?\b|\b[12]fa\b|\bmfa\b|\botp\?|"
    r"kennwort|pa(?:ss|ß)wort|zugangscode|geheimzahl|mots? de passe|contrase[nñ]a|\bsenhas?\b|palavra[- ]passe|"
    r"parola d.ordine|wachtwoord|\bhas[lł]o\b|\bheslo\b|lösenord|adgangskode|passord|salasana|jelsz[oó]|[sş]ifre|"
    r"mật khẩu|kata sandi|парол[ья]|код доступа|"
    r"密码|密碼|口令|密钥|パスワード|暗証番号|비밀번호|암호|كلمة (?:المرور|السر)|סיסמה|पासवर्ड|รหัสผ่าน",
    re.IGNORECASE,
)
"""In a sentence, where "key" is an ordinary word."""
_SPELLED = re.compile(r"(?<![^\W_])([^\W_])[\s.*_-](?=[^\W_](?![^\W_]))")
"""A letter that stands alone, and what parts it from the next one."""
_LOOK_ALIKES = str.maketrans("аеорсхуіѕԁԝкαορνκικ", "aeopcxyisdwkaopvkik")
"""Letters of other alphabets that are read as ours."""
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|[_./-]+")
_HOST = re.compile(r"[A-Za-z0-9._-]+|[0-9A-Fa-f:.]+")
_EMAIL = re.compile(r"[^\s@<>()\[\],;:\"]{1,64}@[A-Za-z0-9](?:[A-Za-z0-9.-]{0,251}[A-Za-z0-9])?")
_URI = re.compile(r"[A-Za-z][A-Za-z0-9+.-]{0,40}:[^\s<>\"{}|\\^`]{1,2000}")
_DATE = re.compile(r"\d{4}-\d\d-\d\d")
_MOMENT = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:\.\d{1,6})?)?(?:Z|[+-]\d\d:\d\d)?", re.IGNORECASE)


class Refused(ToolFailure):
    """A question that no person is asked; the text says why."""

    code = "mcp.question_refused"


def words_of(message: Any) -> str:
    """What a server asks, in its own words. Raises Refused."""
    if not isinstance(message, str) or not message.strip():
        raise Refused("It asked a question without words.")
    if len(message) > MESSAGE_MAX:
        raise Refused(f"Its question has {len(message):,} characters, {MESSAGE_MAX:,} are allowed.")
    return plain(message, MESSAGE_MAX)


def page_of(url: Any) -> str:
    """The page that a server wants opened. Raises Refused."""
    if not isinstance(url, str) or not 0 < len(url) <= URL_MAX or any(ord(one) < 33 for one in url):
        raise Refused("The address of the page that it wants opened cannot be used.")
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname, parts.port
    except ValueError:
        raise Refused("The address of the page that it wants opened cannot be used.") from None
    here = host in ("localhost", "127.0.0.1", "::1")
    if parts.scheme != "https" and not (parts.scheme == "http" and here):
        raise Refused("It wants a page opened that is not protected (https://).")
    if parts.username is not None or not host:
        raise Refused("The address of the page that it wants opened hides where it leads.")
    if not _HOST.fullmatch(host):  # a browser may read such a one otherwise
        raise Refused("The address of the page that it wants opened can be mistaken for another.")
    return url


def fields_of(schema: Any) -> tuple[AskedField, ...]:
    """The fields of a form. Raises Refused."""
    if not isinstance(schema, Mapping) or schema.get("type") != "object":
        raise Refused("Its form is no form.")
    properties, required = schema.get("properties"), schema.get("required", [])
    if not isinstance(properties, Mapping) or not isinstance(required, list):
        raise Refused("Its form is no form.")
    if unknown := sorted(map(str, set(schema) - _FORM)):
        raise Refused(f"Its form holds what a form may not: {plain(unknown[0], NAME_MAX)}.")
    if not isinstance(schema.get("additionalProperties", False), bool):
        raise Refused("Its form holds what a form may not: additionalProperties.")
    if len(properties) > FIELDS_MAX:
        raise Refused(f"Its form has {len(properties):,} fields, {FIELDS_MAX} are allowed.")
    if not set(map(str, required)) <= set(map(str, properties)):
        raise Refused("Its form wants a field that is not there.")
    found = tuple(_field(str(name), part, name in required) for name, part in properties.items())
    if (choices := sum(len(one.choices) for one in found)) > ALL_CHOICES_MAX:
        raise Refused(f"Its form has {choices:,} choices in all, {ALL_CHOICES_MAX} are allowed.")
    return found


def _read(*texts: str) -> list[str]:
    """As they are, and as a person reads them: wide letters and those that look like ours are ours, what nobody sees is
    not there, and letters that stand apart are a word."""
    seen = ("".join(letter for letter in one if unicodedata.category(letter) != "Cf") for one in texts)
    wide = [unicodedata.normalize("NFKC", one) for one in seen]
    ours = [*wide, *(one.translate(_LOOK_ALIKES) for one in wide)]
    return [*ours, *(_SPELLED.sub(r"\1", one) for one in ours)]


def refuse_secrets(message: str, fields: tuple[AskedField, ...]) -> None:
    """A question whose own words ask for a password is refused, however the field is called into which it would be
    typed; one that is only answered by a choice or a day asks for none. Raises Refused."""
    typed_in = (one for one in fields if one.kind in ("text", "number", "integer"))
    free = any(one.format not in ("email", "date", "date-time") for one in typed_in)
    if free and any(map(_SECRET_WORDS.search, _read(message))):
        raise Refused("Its question asks for what looks like a password or a key.")


def _field(name: str, part: Any, required: bool) -> AskedField:
    shown = plain(name, NAME_MAX)
    if not name.strip() or len(name) > NAME_MAX or shown != name:
        raise Refused("A field of its form has a name that cannot be shown.")
    if not isinstance(part, Mapping):
        raise Refused(f"The field {shown} is no field.")
    kind = _kind(part)
    if kind is None:
        raise Refused(f"The field {shown} is not plain: {_named_type(part)}.")
    if unknown := sorted(map(str, set(part) - _KEYS[kind])):
        raise Refused(f"The field {shown} says what a form may not: {plain(unknown[0], NAME_MAX)}.")
    label = _text(part, "title", LABEL_MAX, shown) or shown
    words = _text(part, "description", WORDS_MAX, shown)
    if any(_SECRET.search(_HUMP.sub(" ", one)) for one in _read(name, label)) or any(
        map(_SECRET_WORDS.search, _read(words))
    ):
        raise Refused(f"The field {shown} asks for what looks like a password or a key.")
    low, high, shortest, longest = _bounds(part, kind, shown)
    form, choices = _format(part, shown), _choices(part, kind, shown)
    made = AskedField(name, kind, label, required, words, form, shortest, longest, low, high, choices)
    return _with_default(made, part.get("default"))


def _kind(part: Mapping[str, Any]) -> AskedKind | None:
    kind = part.get("type")
    found = _PLAIN.get(kind) if isinstance(kind, str) else None
    return "one" if found == "text" and ("enum" in part or "oneOf" in part) else found


def _named_type(part: Mapping[str, Any]) -> str:
    kind = part.get("type")
    return plain(kind, 40) if isinstance(kind, str) else "its type is not said, or not one"


def _text(part: Mapping[str, Any], key: str, size: int, name: str) -> str:
    value = part.get(key, "")
    if not isinstance(value, str) or len(value) > size:
        raise Refused(f"The field {name} has a {key} that is no text, or a very long one.")
    return plain(value, size).strip()


def _format(part: Mapping[str, Any], name: str) -> AskedFormat:
    wanted = part.get("format", "")
    found = next((one for one in ("", *_FORMATS) if one == wanted), None)
    if found is None:
        raise Refused(f"The field {name} wants a text of a kind that is not known.")
    return found


def _bounds(part: Mapping[str, Any], kind: AskedKind, name: str) -> tuple[float | None, float | None, int, int]:
    """(least, greatest, shortest, longest)."""
    low, high = (_bound(part, key, name) for key in ("minimum", "maximum"))
    small, large = ("minLength", "maxLength") if kind == "text" else ("minItems", "maxItems")
    shortest, longest = (_bound(part, key, name) for key in (small, large))
    most = TEXT_MAX if kind == "text" else CHOICES_MAX
    least = int(shortest or 0)
    greatest = most if longest is None else min(most, int(longest))
    if (low is not None and high is not None and low > high) or not 0 <= least <= greatest:
        raise Refused(f"The field {name} has bounds between which nothing is.")
    return low, high, least, greatest


def _bound(part: Mapping[str, Any], key: str, name: str) -> float | None:
    value = part.get(key)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value) or abs(value) > 1e15:
        raise Refused(f"The field {name} has a bound that is no number.")
    return value


def _choices(part: Mapping[str, Any], kind: AskedKind, name: str) -> tuple[tuple[str, str], ...]:
    if kind not in ("one", "many"):
        return ()
    holder = part if kind == "one" else part.get("items")
    allowed = {"enum", "anyOf", "type"} if kind == "many" else set(holder or ())
    if not isinstance(holder, Mapping) or not set(holder) <= allowed or holder.get("type", "string") != "string":
        raise Refused(f"The field {name} does not say what may be chosen.")
    titled = holder.get("oneOf" if kind == "one" else "anyOf")
    values, titles = _titled(titled, name) if titled is not None else (holder.get("enum"), part.get("enumNames"))
    if titled is not None and "enum" in holder:
        raise Refused(f"The field {name} says twice what may be chosen.")
    titles = values if titles is None else titles
    if not isinstance(values, list) or not isinstance(titles, list) or len(titles) != len(values):
        raise Refused(f"The field {name} does not say what may be chosen.")
    most = CHOICES_MAX if kind == "one" else TICKS_MAX
    if not 1 <= len(values) <= most:
        raise Refused(f"The field {name} has {len(values):,} choices, 1 to {most} are allowed.")
    if not all(isinstance(one, str) and len(one) <= CHOICE_MAX for one in (*values, *titles)):
        raise Refused(f"The field {name} has a choice that is no text, or a very long one.")
    if len(set(values)) != len(values) or len(set(map(_seen, titles))) != len(titles):
        raise Refused(f"The field {name} has two choices that look the same.")
    return tuple((value, _seen(title) or "(nothing)") for value, title in zip(values, titles, strict=True))


def _titled(choices: Any, name: str) -> tuple[list[Any], list[Any]]:
    good = isinstance(choices, list) and all(isinstance(c, Mapping) and set(c) <= {"const", "title"} for c in choices)
    if not good:
        raise Refused(f"The field {name} does not say what may be chosen.")
    return [c.get("const") for c in choices], [c.get("title", c.get("const")) for c in choices]


def _seen(title: str) -> str:
    return " ".join(plain(title, CHOICE_MAX).split())


def _with_default(made: AskedField, default: Any) -> AskedField:
    """The field with the server's proposal. One that does not fit is left out: a person fills it in."""
    if default is None:
        return made
    try:
        value = checked(made, default)
    except ValueError:
        return made
    kept = plain(value, TEXT_MAX) if isinstance(value, str) and made.kind == "text" else value
    return replace(made, default=kept)


# -- what a person typed ----------------------------------------------------------------------------------------------


def typed(asked: AskedField, raw: str) -> AnswerValue | None:
    """The value of what stands in a field of text; None: nothing does. Raises ValueError with a sentence."""
    text = raw if asked.kind == "text" and not asked.format else raw.strip()
    if not text.strip():
        if asked.required:
            raise ValueError("This has to be filled in.")
        return None
    if asked.kind in ("number", "integer"):
        return checked(asked, _number(asked, text))
    if asked.format == "date-time":
        return checked(asked, _moment(text))
    return checked(asked, text)


def checked(asked: AskedField, value: Any) -> AnswerValue:
    """The value as it may be sent. Raises ValueError with a sentence."""
    return _CHECKS[asked.kind](asked, value)


def answers(fields: tuple[AskedField, ...], content: Mapping[str, Any]) -> dict[str, AnswerValue]:
    """All values, checked once more. Raises ValueError."""
    known = {one.name: one for one in fields}
    if not set(content) <= set(known):
        raise ValueError("A value belongs to no field.")
    if missing := [one.label for one in fields if one.required and one.name not in content]:
        raise ValueError(f"{missing[0]} has to be filled in.")
    return {name: checked(known[name], value) for name, value in content.items()}


def _number(asked: AskedField, text: str) -> int | float:
    plain_text = text.replace("\u2212", "-")
    try:
        return int(plain_text) if asked.kind == "integer" else float(plain_text)
    except ValueError:
        words = "A whole number, such as 12" if asked.kind == "integer" else "A number, such as 0.5"
        raise ValueError(words) from None


def _moment(text: str) -> str:
    """A moment with its zone; one that was typed without is of this computer's zone."""
    if not _MOMENT.fullmatch(text):
        raise ValueError("A day and a time, such as 2026-04-01 14:30")
    try:
        found = datetime.fromisoformat(text.replace(" ", "T").upper())
    except ValueError:
        raise ValueError("There is no such moment.") from None
    try:
        return (found if found.tzinfo is not None else found.astimezone()).isoformat()
    except (ValueError, OverflowError, OSError):
        raise ValueError("There is no such moment.") from None


def _check_text(asked: AskedField, value: Any) -> AnswerValue:
    if not isinstance(value, str):
        raise ValueError("This has to be a text.")
    if not asked.shortest <= len(value) <= asked.longest:
        raise ValueError(_length(asked, "letters"))
    if any(one != "\n" and not one.isprintable() for one in value):
        raise ValueError("This holds a letter that nobody can see.")
    match asked.format:
        case "email" if not _EMAIL.fullmatch(value):
            raise ValueError("An e-mail address, such as ida@harbour.example")
        case "uri" if not _URI.fullmatch(value):
            raise ValueError("An address, such as https://harbour.example/quay")
        case "date":
            _check_date(value)
        case "date-time":
            return _moment(value)
    return value


def _check_date(value: str) -> None:
    if not _DATE.fullmatch(value):
        raise ValueError("A day, such as 2026-04-01")
    try:
        date.fromisoformat(value)
    except ValueError:
        raise ValueError("There is no such day.") from None


def _check_number(asked: AskedField, value: Any) -> AnswerValue:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise ValueError("This has to be a number.")
    if asked.kind == "integer" and value != int(value):
        raise ValueError("This has to be a whole number.")
    if asked.low is not None and value < asked.low:
        raise ValueError(f"{asked.low:g} or more")
    if asked.high is not None and value > asked.high:
        raise ValueError(f"{asked.high:g} or less")
    return int(value) if asked.kind == "integer" else value


def _check_boolean(_: AskedField, value: Any) -> AnswerValue:
    if not isinstance(value, bool):
        raise ValueError("This has to be yes or no.")
    return value


def _check_one(asked: AskedField, value: Any) -> AnswerValue:
    if value not in [known for known, _ in asked.choices]:
        raise ValueError("Choose one.")
    return str(value)


def _check_many(asked: AskedField, value: Any) -> AnswerValue:
    known = [one for one, _ in asked.choices]
    if not isinstance(value, list) or not all(one in known for one in value) or len(set(value)) != len(value):
        raise ValueError("Choose among these.")
    if not asked.shortest <= len(value) <= asked.longest:
        raise ValueError(_length(asked, "of these"))
    return list(value)


def _length(asked: AskedField, of: str) -> str:
    if asked.shortest == asked.longest:
        return f"Exactly {asked.shortest:,} {of}"
    if asked.shortest and asked.longest < (TEXT_MAX if asked.kind == "text" else CHOICES_MAX):
        return f"{asked.shortest:,} to {asked.longest:,} {of}"
    return f"{asked.shortest:,} {of} or more" if asked.shortest else f"{asked.longest:,} {of} at most"


_CHECKS: Mapping[AskedKind, Callable[[AskedField, Any], AnswerValue]] = {
    "text": _check_text,
    "number": _check_number,
    "integer": _check_number,
    "boolean": _check_boolean,
    "one": _check_one,
    "many": _check_many,
}
