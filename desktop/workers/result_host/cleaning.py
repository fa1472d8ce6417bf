"""What of a page is left out before it is drawn: scripts, and all that would have to be fetched.

That is for the drawing, which would wait for what never comes, and for the person, who is told what is missing. Nothing
is held back by it: the process that draws has no network and no files, whatever a page manages to say.
"""

from __future__ import annotations

import re

from desktop.workers.result_host import limits


def _tokens(ends: str) -> re.Pattern[str]:
    """Comments, what has no tags inside, and tags. ``ends``: how the beginning of what has none ends."""
    return re.compile(
        r"<!--.*?(?:-->|\Z)"
        rf"|<(?P<held>script|style|textarea|title|xmp)(?P<held_rest>(?=[\s/>])[^>]*+{ends})(?P<body>.*?)"
        r"(?:</(?P=held)(?=[\s/>])[^>]*+>|\Z)"
        r"|<(?P<name>/?[a-z][a-z0-9:-]*)(?P<rest>(?:[^\"'>]++|\"[^\"]*+\"|'[^']*+')*+)>",
        re.IGNORECASE | re.DOTALL,
    )


_PAGE, _DRAWING = _tokens(">"), _tokens("(?<!/)>")
"""In a drawing a script may end where it begins, as any element of XML."""
_ATTRIBUTE = re.compile(
    r"(?P<name>[^\s\"'<>/=]++)(?:\s*+=\s*+(?P<value>\"[^\"]*+\"|'[^']*+'|[^\s\"'>]++))?+", re.IGNORECASE
)
_IMPORT = re.compile(r"@import\b[^;{}]*+;?", re.IGNORECASE)
_URL = re.compile(r"url\(\s*+(?P<value>\"[^\"]*+\"|'[^']*+'|[^)\s]*+)\s*+\)", re.IGNORECASE)
_FACE = re.compile(r"@font-face\s*+\{[^{}]*+\}", re.IGNORECASE)
_MONO = re.compile(r"(?<![\w-])(?:ui-)?monospace(?![\w-])", re.IGNORECASE)
_GONE = {
    "iframe": "page in the page",
    "frame": "page in the page",
    "portal": "page in the page",
    "object": "program in the page",
    "embed": "program in the page",
    "applet": "program in the page",
}
_SOURCES = {
    "img": "picture",
    "image": "picture",
    "feimage": "picture",
    "use": "drawing",
    "input": "picture",
    "video": "film",
    "audio": "sound",
    "track": "film",
    "source": "picture",
    "body": "picture",
    "table": "picture",
    "td": "picture",
}
_NAMING = ("src", "href", "xlink:href", "data", "poster", "background")
_LINKS = {"stylesheet": "style sheet", "import": "page in the page", "manifest": ""}
_PLAIN = {"noscript", "/noscript"}


class Cleaner:
    """``left`` is what was left out: (what it is, which), in the order of the page."""

    def __init__(self) -> None:
        self.left: list[tuple[str, str]] = []
        self.more = 0

    def page(self, text: str) -> str:
        """The page, as it is drawn."""
        return _PAGE.sub(self._token, text)

    def drawing(self, text: str) -> str:
        """A drawing, as it is drawn."""
        return _DRAWING.sub(self._token, text)

    def note(self, what: str, which: str) -> None:
        """Something was left out."""
        if len(self.left) < limits.LEFT:
            self.left.append((what, " ".join(which.split())[: limits.WORDS]))
        else:
            self.more += 1

    def style(self, css: str) -> str:
        """A style sheet without what it would fetch."""
        css = _IMPORT.sub(lambda found: self._gone("style sheet", found[0][7:]), css)
        css = _FACE.sub(lambda found: found[0] if self._own(found[0]) else self._gone("font", _address(found[0])), css)
        return _MONO.sub('"JetBrains Mono"', _URL.sub(self._fetched, css))

    # -- inside -------------------------------------------------------------------------------------------------------

    def _token(self, found: re.Match[str]) -> str:
        held = (found["held"] or "").lower()
        if held == "script":
            return self._script(found["held_rest"], found["body"])
        if held == "style":
            return f"<style{found['held_rest']}{self.style(found['body'])}</style>"
        if held:
            return found[0] if held != "title" else ""
        return self._tag(found) if found["name"] else ""

    def _script(self, rest: str, body: str) -> str:
        having = _having(rest)
        source = having.get("src") or having.get("href") or having.get("xlink:href")
        return self._gone("script", source or _first_line(body))

    def _tag(self, found: re.Match[str]) -> str:
        name = found["name"].lower()
        if name == "script":
            return self._script(found["rest"], "")
        if name in _PLAIN or name == "base":
            return ""
        if name.lstrip("/") in _GONE:
            which = _having(found["rest"])
            return "" if name[0] == "/" else self._gone(_GONE[name], which.get("src") or which.get("data") or "its own")
        if name == "meta":
            return self._meta(_having(found["rest"]))
        if name == "link":
            return self._link(_having(found["rest"]))
        if name[0] == "/" or not found["rest"].strip(" \t\r\n/"):
            return found[0]
        if name == "foreignobject":
            self.note("page in a drawing", "its words are not drawn")
        if name == "form":
            action = _having(found["rest"]).get("action", "")
            self.note("form, which sends nothing", action or "to its own page")
        return self._plain(found, name)

    def _meta(self, having: dict[str, str]) -> str:
        if having.get("http-equiv", "").lower() == "refresh":
            self.note("way to another page", having.get("content", ""))
        return ""

    def _link(self, having: dict[str, str]) -> str:
        for rel in having.get("rel", "").lower().split():
            if what := _LINKS.get(rel, ""):
                self.note(what, having.get("href", ""))
        return ""

    def _plain(self, found: re.Match[str], name: str) -> str:
        """A tag without what it would fetch or run."""
        kept: list[str] = []
        for key, value in _attributes(found["rest"]):
            lower = key.lower()
            if lower.startswith("on"):
                self.note("script", f"{lower}: {value}")
            elif lower in ("srcset", "imagesrcset", "ping", "srcdoc", "formaction", "action"):
                continue
            elif name in _SOURCES and lower in _NAMING and not value.lstrip().lower().startswith(("data:", "#")):
                if value.strip():
                    self.note(_SOURCES[name], value)
            elif lower == "style":
                kept.append(_written(key, self.style(value)))
            elif lower == "href" and not value.startswith(("#", "data:")):
                kept.append('href="#"')
            else:
                kept.append(_written(key, value))
        closing = " /" if found["rest"].rstrip().endswith("/") else ""
        return f"<{' '.join([found['name'], *kept])}{closing}>"

    def _fetched(self, found: re.Match[str]) -> str:
        value = found["value"].strip("\"'").strip()
        if not value or value.startswith("#") or value.lower().startswith("data:"):
            return found[0]
        self.note("picture", value)
        return "none"

    def _own(self, face: str) -> bool:
        """Whether a font comes with the page."""
        return all(one["value"].strip("\"' ").lower().startswith("data:") for one in _URL.finditer(face))

    def _gone(self, what: str, which: str) -> str:
        self.note(what, which)
        return ""


def _attributes(rest: str) -> list[tuple[str, str]]:
    """Names and values of a tag, as they are written."""
    return [(one["name"], (one["value"] or "").strip("\"'")) for one in _ATTRIBUTE.finditer(rest)]


def _having(rest: str) -> dict[str, str]:
    return {name.lower(): value for name, value in _attributes(rest)}


def _written(key: str, value: str) -> str:
    quote = "'" if '"' in value else '"'
    return f"{key}={quote}{value}{quote}"


def _address(face: str) -> str:
    found = _URL.search(face)
    return found["value"].strip("\"'") if found is not None else ""


def _first_line(script: str) -> str:
    lines = [line for line in script.split("\n") if line.strip()]
    more = f" (and {len(lines) - 1:,} more lines)" if len(lines) > 1 else ""
    return f"{lines[0].strip()[:80]}{more}" if lines else "an empty one"
