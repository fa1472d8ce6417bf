"""What MCP servers offer beside tools, and what is read of it: resources, prompts, tasks, pieces of content.

Everything here was said by a server: claims of a stranger, without what steers a terminal or turns text round, without
known secrets, and cut. ``server`` is the name that mcp.yaml gives it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Literal
from urllib.parse import quote

from desktop.domain.loading.lazy_dataclass import dataclass
from desktop.domain.messages import MediaBlock

PartKind = Literal["text", "image", "audio", "link", "resource", "other"]
TaskStatus = Literal["working", "input_required", "completed", "failed", "cancelled", "gone"]
_EXPRESSION = re.compile(r"\{([+#./;?&]?)([^{}]*)\}")
_RESERVED = ":/?#[]@!$&'()*+,;="


@dataclass(frozen=True, slots=True)
class McpArgument:
    """One argument of a prompt; its value is a text."""

    name: str
    title: str = ""
    description: str = ""
    required: bool = False


@dataclass(frozen=True, slots=True)
class McpPrompt:
    """A prompt that a person may put into a message."""

    server: str
    """Whose it is."""
    name: str
    """The server's name for it."""
    title: str = ""
    """What a person reads."""
    description: str = ""
    """What it is for."""
    arguments: tuple[McpArgument, ...] = ()
    """What it takes."""
    problem: str = ""
    """Why it cannot be used, or ""."""


@dataclass(frozen=True, slots=True)
class McpResource:
    """A resource that a person may put into a message."""

    server: str
    """Whose it is."""
    uri: str
    """What it is asked for by."""
    name: str = ""
    """Its name."""
    title: str = ""
    """What a person reads."""
    description: str = ""
    """What it holds."""
    media_type: str = ""
    """What it is said to be."""
    size: int | None = None
    """How many bytes it is said to have; None: not said."""
    problem: str = ""
    """Why it cannot be read, or ""."""


@dataclass(frozen=True, slots=True)
class McpTemplate:
    """A whole family of resources: an address with blanks (RFC 6570)."""

    server: str
    """Whose it is."""
    template: str
    """The address with blanks."""
    name: str = ""
    """Its name."""
    title: str = ""
    """What a person reads."""
    description: str = ""
    """What its resources hold."""
    media_type: str = ""
    """What they are said to be."""
    problem: str = ""
    """Why they cannot be read, or ""."""

    @property
    def variables(self) -> tuple[str, ...]:
        """The names of its blanks, in order."""
        names = (name for _, inside in _EXPRESSION.findall(self.template) for name in _names(inside))
        return tuple(dict.fromkeys(names))

    def filled(self, values: Mapping[str, str]) -> str:
        """The address of one resource; a blank without a value becomes nothing."""
        return _EXPRESSION.sub(lambda found: _expanded(found[1], found[2], values), self.template)


@dataclass(frozen=True, slots=True)
class McpPart:
    """One piece of content."""

    kind: PartKind
    """``resource`` is an embedded text, ``other`` are bytes that nothing here shows."""
    text: str = ""
    """Its text."""
    media: MediaBlock | None = None
    """The image or sound."""
    uri: str = ""
    """Where it is from, or leads to."""
    name: str = ""
    """Its name."""
    title: str = ""
    """What a person reads."""
    description: str = ""
    """What it is said to hold."""
    media_type: str = ""
    """Of bytes: what they are; of texts and links: what they are said to be."""
    size: int | None = None
    """Bytes, or characters of a text; None: not known."""

    @property
    def as_text(self) -> str:
        """What a model reads of it."""
        about = ", ".join(word for word in (self.uri, self.media_type) if word)
        match self.kind:
            case "text":
                return self.text
            case "resource":
                return f"[resource {self.uri or '?'}]\n{self.text}\n[end of the resource]"
            case "link":
                more = ", ".join(word for word in (about, self.description) if word)
                return f"[link: {self.title or self.name or '?'}, {more or 'no address'}]"
            case "other":
                return f"[{about or 'bytes'}, {self.size or 0:,} bytes: not shown]"
        return f"[{'sound' if self.kind == 'audio' else self.kind}{f' {about}' if about else ''}]"


@dataclass(frozen=True, slots=True)
class McpRead:
    """A resource as it was read."""

    server: str
    uri: str
    parts: tuple[McpPart, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """What a model reads of it."""
        plain = [part.text if part.kind == "resource" else part.as_text for part in self.parts]
        return "\n".join((*plain, *self.notes))

    @property
    def media(self) -> tuple[MediaBlock, ...]:
        """Its images and sounds."""
        return tuple(part.media for part in self.parts if part.media is not None)


@dataclass(frozen=True, slots=True)
class McpSaid:
    """One message of a prompt."""

    role: Literal["user", "assistant"]
    part: McpPart


@dataclass(frozen=True, slots=True)
class McpPromptText:
    """A prompt as a server filled it in."""

    server: str
    name: str
    description: str = ""
    messages: tuple[McpSaid, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """What a model reads of it; what the assistant is said to have said is marked as such."""
        told = (
            (f"[assistant] {one.part.as_text}" if one.role == "assistant" else one.part.as_text)
            for one in self.messages
        )
        return "\n".join((*told, *self.notes))

    @property
    def media(self) -> tuple[MediaBlock, ...]:
        """Its images and sounds."""
        return tuple(one.part.media for one in self.messages if one.part.media is not None)


@dataclass(frozen=True, slots=True)
class McpCompletion:
    """Values that a server proposes for an argument; ``more``: it knows others, too."""

    values: tuple[str, ...] = ()
    more: bool = False


@dataclass(frozen=True, slots=True)
class McpTask:
    """A call that goes on at the server by itself."""

    server: str
    """Whose it is."""
    task_id: str
    """The server's name for it."""
    tool: str
    """Our name of the tool."""
    status: TaskStatus = "working"
    """``gone``: the server knows nothing of it any more."""
    message: str = ""
    """What the server says of it."""
    begun: float = 0.0
    """When, in seconds since the epoch."""


@dataclass(frozen=True, slots=True)
class McpOffers:
    """What a server offers beside tools. ``looked_at``: a person has agreed to something of this server, so what it
    offers may be proposed while they write."""

    server: str
    """Whose it is."""
    running: bool = False
    """Whether it can be asked now."""
    looked_at: bool = False
    """Whether a person has looked at the server."""
    era: str = ""
    """The revision of the protocol that is spoken with it."""
    resources: tuple[McpResource, ...] = ()
    """Its resources."""
    templates: tuple[McpTemplate, ...] = ()
    """Its families of resources."""
    prompts: tuple[McpPrompt, ...] = ()
    """Its prompts."""
    notes: tuple[str, ...] = ()
    """What of them was left out."""


def _names(inside: str) -> list[str]:
    """The names in an expression, without ``*`` and ``:3``."""
    return [name for name, _ in _variables(inside)]


def _variables(inside: str) -> list[tuple[str, int | None]]:
    """(name, how many characters of its value; None: all) of each in an expression."""
    found = (one.strip().rstrip("*").partition(":") for one in inside.split(","))
    return [(name, int(most) if most.isdecimal() else None) for name, _, most in found if name]


def _expanded(operator: str, inside: str, values: Mapping[str, str]) -> str:
    """One expression with its values, as RFC 6570 has it for texts."""
    first, separator, named = {
        "": ("", ",", False),
        "+": ("", ",", False),
        "#": ("#", ",", False),
        ".": (".", ".", False),
        "/": ("/", "/", False),
        ";": (";", ";", True),
        "?": ("?", "&", True),
        "&": ("&", "&", True),
    }[operator]
    safe = _RESERVED if operator in ("+", "#") else ""
    given = [(name, quote(values[name][:most], safe=safe)) for name, most in _variables(inside) if values.get(name)]
    words = [f"{name}={value}" if named else value for name, value in given]
    return first + separator.join(words) if words else ""
