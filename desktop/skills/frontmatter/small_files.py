"""Small YAML of a person's files that are no skills, read under the limits of frontmatter."""

from __future__ import annotations

from typing import Any

from desktop.skills.frontmatter import yaml_events
from desktop.skills.frontmatter.problems import FormatError

FrontmatterError = FormatError


def load_yaml_mapping(text: str, *, first_line: int = 1) -> dict[str, Any]:
    """Read YAML that has to be a mapping. Raises FrontmatterError; ``first_line`` is where ``text`` begins."""
    return yaml_events.read(text, first_line=first_line).data
