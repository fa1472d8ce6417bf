"""The reference of all settings as Markdown, rendered from the schema."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from desktop.settings.checks import figure, plain
from desktop.settings.schema import default_values, home_text, pages
from desktop.settings.spec import Setting

_KINDS = {
    "choice": "one of",
    "number": "a number",
    "whole": "a whole number",
    "flag": "true or false",
    "text": "a text",
    "texts": "a list of texts",
    "paths": "a list of paths",
    "patterns": "a list of regular expressions",
    "expressions": "a list of regular expressions",
    "names": "a list of names",
    "times": "names of tools with a number each",
    "connections": "a list of connections: id, provider, title, base_url, secret_name, options",
}


def render_docs(home: Path | None = None) -> str:
    """One chapter a page, one section a setting."""
    at = home or Path.home() / ".agent"
    values = default_values(at)
    lines = ["# Settings", "", f"They are kept in `{home_text(at)}/config.yaml`. Keys and passwords never are."]
    for page, settings in pages().items():
        lines += ["", f"## {page}"]
        for setting in settings:
            lines += ["", f"### `{setting.key}`", "", f"**{setting.title}.** {setting.help}", "", _facts(setting)]
            lines += ["", *_default(values[setting.key])]
    return "\n".join(lines) + "\n"


def _facts(setting: Setting) -> str:
    text = _KINDS[setting.kind]
    if setting.choices:
        text += " " + ", ".join(f"`{value}` ({label})" for value, label in setting.choices)
    if setting.minimum is not None and setting.maximum is not None:
        text += f" from {figure(setting.minimum)} to {figure(setting.maximum)}"
        if setting.smallest is not None:
            text += f", but for 0 at least {figure(setting.smallest)}"
    unit = f", in {setting.unit}" if setting.unit.isalpha() else ""
    return f"{text[0].upper()}{text[1:]}{unit}."


def _default(value: Any) -> list[str]:
    value = plain(value)
    if isinstance(value, list):
        return ["Default:", "", *(f"- `{item}`" for item in value)] if value else ["Default: empty."]
    if isinstance(value, bool):
        value = str(value).lower()
    return [f"Default: `{value}`." if value != "" else "Default: empty."]
