"""Frontmatter and other small YAML of a person's files, read by ``formats`` (R-SK-1)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from desktop.skills.formats import markdown, yaml_events
from desktop.skills.formats.mapping import read_mapping
from desktop.skills.formats.problems import FormatError

FrontmatterError = FormatError


@dataclass(frozen=True, slots=True)
class Parsed:
    """A file's frontmatter and body; ``body_line`` is the body's first line, from 1."""

    data: dict[str, Any]
    body: str
    body_line: int


def parse(text: str) -> Parsed:
    """Read a skill file's text. Raises FrontmatterError with line and column."""
    section = markdown.first_section(text)
    data, _, _ = read_mapping(section.head, section.first_line)
    return Parsed(data, text[section.body_at :], text.count("\n", 0, section.body_at) + 1)


def load_yaml_mapping(text: str, *, first_line: int = 1) -> dict[str, Any]:
    """Read YAML that has to be a mapping. Raises FrontmatterError; ``first_line`` is where ``text`` begins."""
    return yaml_events.read(text, first_line=first_line).data
