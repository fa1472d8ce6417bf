"""Addresses of web pages as a model writes them, read once and strictly: what is judged is what is fetched."""

from __future__ import annotations

import re
from urllib.parse import quote, urlsplit

from desktop.domain.loading.lazy_dataclass import dataclass
from desktop.domain.text.hidden_characters import has_hidden
from desktop.domain.web.nearness import Nearness, named

MAX_ADDRESS = 2_000
"""Characters of an address."""
_PORTS = {"http": 80, "https": 443}
_LABEL = re.compile(r"[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?")
_NUMBER = re.compile(r"(0x[0-9a-f]*|\d+)")
_KEPT = "!$&'()*+,;=:@/?%-._~[]|"
_CLOSED_PORTS = frozenset(
    {1, 7, 9, 11, 13, 15, 17, 19, 20, 21, 22, 23, 25, 37, 42, 43, 53, 69, 77, 79, 87, 95, 101, 102, 103, 104, 109, 110}
    | {111, 113, 115, 117, 119, 123, 135, 137, 139, 143, 161, 179, 389, 427, 465, 512, 513, 514, 515, 526, 530, 531}
    | {532, 540, 548, 554, 556, 563, 587, 601, 636, 989, 990, 993, 995, 1719, 1720, 1723, 2049, 3659, 4045, 5060}
    | {5061, 6000, 6566, 6665, 6666, 6667, 6668, 6669, 6697, 10080}
)
"""Ports on which something else than the web listens; browsers refuse the same."""


class BadWebAddress(Exception):
    """An address that is not fetched; the text says why, for the model and a person."""


@dataclass(frozen=True, slots=True)
class WebAddress:
    """An address of the web, in the one way of writing it that is fetched."""

    scheme: str
    """``http`` or ``https``."""
    name: str
    """The host as it is looked up: small letters of ASCII, or an IP address without brackets."""
    port: int
    """Its port."""
    target: str
    """Path and query as they are sent."""

    @property
    def host(self) -> str:
        """What rules and answers are about: the host, with its port unless it is the usual one of https."""
        shown = f"[{self.name}]" if ":" in self.name else self.name
        return shown if (self.scheme, self.port) == ("https", 443) else f"{shown}:{self.port}"

    @property
    def readable(self) -> str:
        """The name as its owner writes it, where that is another spelling, or ""."""
        if "xn--" not in self.name:
            return ""
        try:
            found = self.name.encode("ascii").decode("idna")
        except UnicodeError:
            return ""
        return found if found != self.name and not has_hidden(found) else ""

    @property
    def text(self) -> str:
        """The whole address."""
        shown = f"[{self.name}]" if ":" in self.name else self.name
        port = "" if self.port == _PORTS[self.scheme] else f":{self.port}"
        return f"{self.scheme}://{shown}{port}{self.target}"

    @property
    def query(self) -> str:
        """What stands behind the ``?``."""
        return self.target.partition("?")[2]

    @property
    def near(self) -> Nearness | None:
        """How near it is, as far as it says so itself; None: its name has to be looked up."""
        return named(self.name)

    def leads_on_to(self, other: WebAddress) -> bool:
        """Whether a redirect from here to there stays with the host: the same one, or the same name by https."""
        if (self.scheme, self.name, self.port) == (other.scheme, other.name, other.port):
            return True
        upgraded = (self.scheme, self.port, other.scheme, other.port) == ("http", 80, "https", 443)
        return upgraded and self.name == other.name


def read_address(text: str) -> WebAddress:
    """The address that a text gives. Raises BadWebAddress."""
    text = text.strip()
    if len(text) > MAX_ADDRESS:
        raise BadWebAddress(f"The address has more than {MAX_ADDRESS:,} characters.")
    if has_hidden(text) or any(letter.isspace() or letter == "\\" for letter in text):
        raise BadWebAddress("The address has a blank, a backslash or a character that cannot be seen.")
    try:
        parts = urlsplit(text)
        name, port = parts.hostname or "", parts.port
    except ValueError:
        raise BadWebAddress("That is no address of a web page.") from None
    scheme = parts.scheme.lower()
    if scheme not in _PORTS:
        said = f"{scheme}: is" if scheme else "Without https:// in front it is"
        raise BadWebAddress(f"{said} no address of the web; only http:// and https:// are read.")
    if "@" in parts.netloc:
        raise BadWebAddress("The address holds a name or a password (before an @), and is not sent.")
    port = _PORTS[scheme] if port is None else port
    if port in _CLOSED_PORTS or port == 0:
        raise BadWebAddress(f"Port {port} belongs to something else than the web.")
    target = quote(parts.path or "/", safe=_KEPT) + (f"?{quote(parts.query, safe=_KEPT)}" if parts.query else "")
    return WebAddress(scheme, _host(name), port, target)


def without_user(address: str) -> str:
    """The address without the user and the password that may stand in it, whatever else it is."""
    scheme, slashes, rest = address.partition("://") if "://" in address else ("", "", address)
    end = re.search(r"[/?#\\]", rest)
    at = end.start() if end else len(rest)
    return f"{scheme}{slashes}{rest[:at].rpartition('@')[2]}{rest[at:]}"


def _host(name: str) -> str:
    """The name of a host in ASCII, an IP address as it is. Raises BadWebAddress for any other."""
    name = name.rstrip(".")
    if ":" in name or not name:
        if not name or "%" in name or named(name) is None:
            raise BadWebAddress("The address names no host that can be read.")
        return name
    try:
        plain = name.encode("idna").decode("ascii").lower() if not name.isascii() else name.lower()
    except UnicodeError:
        raise BadWebAddress("The name of the host cannot be written in ASCII.") from None
    labels = plain.split(".")
    if len(plain) > 253 or not all(_LABEL.fullmatch(label) for label in labels):
        raise BadWebAddress("The address names no host that can be read.")
    if _NUMBER.fullmatch(labels[-1]) and (named(plain) is None or plain.count(".") != 3):
        raise BadWebAddress("The host is a number that other programs read as another address.")  # 127.1, 0x7f.1
    return plain
