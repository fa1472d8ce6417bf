"""What must not stand in a report that a person may pass on: secrets, who they are, where their files are.

``KINDS`` is the whole decision, in the order in which it is made: what is looked for, what stands there instead, and
what of it every computer has and may stay. In doubt too much of a line goes.
"""

from __future__ import annotations

import ipaddress
import re
import unicodedata
from collections.abc import Callable, Iterable

from desktop.domain.loading.lazy_dataclass import dataclass
from desktop.domain.safety import Redactor
from desktop.domain.text.scrub import REDACTED, scrub
from desktop.services.help.key_shapes import KEYS, RANDOM, SAID

MAX_TEXT = 60_000
"""Characters of a text that goes into a report; the rest is cut before it is masked, and said."""
ADDRESS, PATH, FILE, NAME = "<address>", "<path>", "<file>", "<name>"

_LINE, _END = r"\n\"'<>|;,)\]", r"\s\"'<>|:;,)\]"
"""What no path goes on with: where it may have spaces, and where not."""
_HOSTS = """
lan local localdomain home internal intranet corp private arpa box onion test example invalid localhost com net org edu
gov mil int info biz io dev app ai co me tv cloud tech site online xyz page wiki eu de at ch fr nl be lu it es pt uk ie
us ca mx br ar cl au nz jp cn kr in sg hk tw ru ua pl cz sk hu ro bg gr tr se no fi dk is ee lv lt il za
"""
"""Ends of names of computers; endings of files that are also such (``.py``, ``.so``, ``.md``) are not among them."""
_FILES = """
pdf docx? xlsx? pptx? odt ods odp rtf txt csv tsv epub html? eml msg zip tar gz 7z rar jpe?g png gif webp heic tiff? bmp
svg mp[34] mov wav m4a key pem p12 pfx kdbx gpg asc ovpn sqlite bak ics vcf tex
"""
"""Endings of files that are a person's own."""
_COMMON = frozenset("root user users admin assent linux debian ubuntu home localhost test".split())
"""Names that tell nothing of a person, and stand in other words."""
_SHORTEST = 2


@dataclass(frozen=True, slots=True)
class Person:
    """Whom a report must not name."""

    names: tuple[str, ...] = ()
    """The login, the parts of the full name, what the computer is called."""
    homes: tuple[str, ...] = ()
    """The person's home folder, in its spellings."""
    own: tuple[str, ...] = ()
    """Where Assent keeps what is the person's, in its spellings."""


@dataclass(frozen=True, slots=True)
class _MaskKind:
    """One kind of what is taken out."""

    what: str
    pattern: re.Pattern[str]
    instead: str | Callable[[re.Match[str]], str]


def _of(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE)


def _any(words: str) -> str:
    return "|".join(words.split())


def _kept_path(found: re.Match[str]) -> str:
    """Where every computer has the same."""
    same = re.match(r"/(?:usr|bin|sbin|lib\d*|proc|sys|dev)(?:/|$)", found[0]) and " " not in found[0]
    return found[0] if same and ".." not in found[0] else PATH


def _kept_address(found: re.Match[str]) -> str:
    """This computer itself, and what is no address though it has its letters, such as a time."""
    text = re.split("[%/]", found[0])[0]
    ends = text.rstrip(".")
    for tried in (ends, ends.rstrip(":"), ends.rpartition(":")[0]):  # with what stands behind it, such as a port
        try:
            address = ipaddress.ip_address(tried)
        except ValueError:
            continue
        return found[0] if address.is_loopback or address.is_unspecified else ADDRESS
    return ADDRESS if "%" in found[0] or "::" in found[0] else found[0]


KINDS: tuple[_MaskKind, ...] = (
    _MaskKind("a key of a service", KEYS, REDACTED),
    _MaskKind("what is called a key or a password", SAID, lambda found: f"{found['keep']}{REDACTED}"),
    _MaskKind(
        "an address with its scheme",
        _of(r"\b[a-z][a-z0-9+.-]{1,20}:/{2,3}[^\s\"'<>]+|//[^\s/@]{0,100}:[^\s/@]{1,200}@\S*"),
        ADDRESS,
    ),
    _MaskKind(
        "an e-mail address, or an account at a computer",
        _of(r"(?<![^\s\"'<>,;:@])[^\s\"'<>,;:@]+(?::[^\s@/]{0,200})?@[^\s\"'<>,;@]+"),
        ADDRESS,
    ),
    _MaskKind("a share of a network", _of(rf"\\\\[^{_LINE}]{{2,}}|(?<![\w:/.])//[\w.-]+(?:/[^{_END}]*)*"), PATH),
    _MaskKind(
        "a path of Windows",
        _of(rf"(?<![a-z])[a-z]:[\\/][^{_LINE}]+|%\w{{2,30}}%[^{_LINE}]*|\\[^\s\\]+\\[^{_LINE}]+"),
        PATH,
    ),
    _MaskKind("an account of Windows", _of(r"(?<![\w\\])[\w.-]{1,64}\\[\w.$-]{1,64}"), NAME),
    _MaskKind("a path with its signs escaped", _of(r"(?<![\w.~-])[\w.~-]{0,200}%(?:2F|5C)\S*"), PATH),
    _MaskKind(
        "a path",
        _of(
            rf"(?<![\w/.>~])(?:/[^/{_LINE}]{{1,200}}(?=/))+/[^{_END}/]*"
            rf"|(?<![\w/.>~])/[\w.-]*[\w-](?=[{_END}]|$)|(?<![\w/.>~])\.\.?/[^{_END}]+"
        ),
        _kept_path,
    ),
    _MaskKind("the folder of somebody", _of(r"(?<![\w/])~\w[\w.-]*"), NAME),
    _MaskKind("a file of a person's own", _of(rf"(?<![^{_END}\\])[^{_END}\\]+\.(?:{_any(_FILES)})(?!\w)"), FILE),
    _MaskKind(
        "what lies below a folder",
        _of(rf"(?<=~)(?:/[^{_END}]+)+|(?<=<Assent's home>)/(?!data\b|logs\b)[^{_END}]+"),
        "/…",
    ),
    _MaskKind(
        "an address of a card",
        _of(r"(?<![\w:.-])(?:[0-9a-f]{2}[:-]){5}[0-9a-f]{2}(?![\w:-])|\b(?:[0-9a-f]{4}\.){2}[0-9a-f]{4}\b"),
        ADDRESS,
    ),
    _MaskKind(
        "an address of IPv6",
        _of(r"(?<![\w:.])(?=[0-9a-f.]{0,15}:[0-9a-f.]{0,15}:)[0-9a-f:.]{2,}(?:%[\w.-]+)?(?:/\d{1,3})?"),
        _kept_address,
    ),
    _MaskKind("an address of IPv4", _of(r"(?<![\w.])(?:\d{1,3}\.){3}\d{1,3}(?![\w]|\.\d)"), _kept_address),
    _MaskKind(
        "a computer by name", _of(rf"(?<![\w.])(?:[^\W_][\w-]{{0,62}}\.)+(?:{_any(_HOSTS)})(?![\w-]|\.\w)"), ADDRESS
    ),
    _MaskKind(
        "a computer and its port", _of(r"(?<![\w./])(?=[\w-]{0,63}[a-z])[\w-]{1,63}:\d{2,5}(?![\w.]|:\d)"), ADDRESS
    ),
    _MaskKind("what looks made by chance", RANDOM, REDACTED),
)
"""In the order in which they are looked for; secrets that Assent knows go before them, folders and names as told."""


class ReportMask:
    """``mask`` takes out of a text what a report must not have. What the person writes there is theirs."""

    def __init__(self, redactor: Redactor, person: Person) -> None:
        self._redactor = redactor
        self._folders = [
            *((one, "<Assent's home>") for one in _longest_first(person.own)),
            *((one, "~") for one in _longest_first(person.homes)),
        ]
        words = [name for name in person.names if len(name) >= _SHORTEST and name.casefold() not in _COMMON]
        named = "|".join(re.escape(_plain(word)) for word in _longest_first(words))
        self._names = re.compile(rf"(?<![^\W_])(?:{named})(?![^\W_])", re.IGNORECASE) if named else None

    def mask(self, text: str) -> str:
        """The text without secrets, addresses, names and paths of this person."""
        text = self._redactor.redact_text(_plain(text[:MAX_TEXT]))
        text = scrub(text, limit=MAX_TEXT)
        for folder, instead in self._folders:
            text = re.sub(rf"{re.escape(_plain(folder))}(?=[/\\\s\"'.,:;)\]]|$)", instead, text)
        for kind in KINDS:
            text = kind.pattern.sub(kind.instead, text)
        return self._names.sub(NAME, text) if self._names is not None else text

    def without_keys(self, text: str) -> str:
        """What a person has written, without the keys that Assent knows, and what looks like one."""
        return KEYS.sub(REDACTED, self._redactor.redact_text(text))


def _plain(text: str) -> str:
    """Letters in one spelling, without what cannot be seen between them."""
    composed = unicodedata.normalize("NFKC", text)
    return "".join(letter for letter in composed if unicodedata.category(letter) != "Cf")


def _longest_first(texts: Iterable[str]) -> list[str]:
    return sorted({text.rstrip("/\\") for text in texts if len(text.strip("/\\")) >= _SHORTEST}, key=len, reverse=True)
