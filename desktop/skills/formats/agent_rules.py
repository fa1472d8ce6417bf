"""The public rules of Agent Skills, for folders that are shared with other apps (agentskills.io).

They are narrower than what runs here: a skill that breaks them is fine in this app and may be refused elsewhere. So
each is a warning. Checked against the reference validator ``skills-ref`` on the folders in the tests' data.
"""

from __future__ import annotations

import os
from typing import Any

from desktop.domain.places import FormatError, Locate
from desktop.domain.skills import SkillDef, SkillProblem
from desktop.skills.formats import markdown
from desktop.skills.names import MAX_NAME, is_bare_name
from desktop.skills.problems import Report, shown
from desktop.yaml_text.mapping import read_mapping

MAX_DESCRIPTION = 1_024
MAX_COMPATIBILITY = 500
KEYS = ("name", "description", "license", "compatibility", "metadata", "allowed-tools")


def agent_skills_rules(definition: SkillDef, text: str) -> tuple[SkillProblem, ...]:
    """What another app could object to in a folder skill with this ``SKILL.md``; nothing for other kinds."""
    return check_folder(definition.path, text) if definition.kind == "folder" else ()


def check_folder(path: str, text: str) -> tuple[SkillProblem, ...]:
    """The rules for the ``SKILL.md`` at ``path`` with this text; no skill at all is an error."""
    report = Report(path)
    try:
        section = markdown.first_section(text)
        data, locate, _ = read_mapping(section.head, section.first_line)
    except FormatError as error:
        report.failed(error)
        return tuple(report.found)
    if text[:1] == "\ufeff":
        report.add("agent-skills.mark", "the file begins with a byte order mark: save it without", (1, 1), "warning")
    rules = _Rules(data, locate, report)
    rules.name(os.path.basename(os.path.dirname(path)))
    rules.description()
    rules.texts()
    rules.keys()
    return tuple(report.found)


class _Rules:
    def __init__(self, data: dict[str, Any], locate: Locate, report: Report) -> None:
        self._data = data
        self._locate = locate
        self._report = report

    def _say(self, code: str, message: str, key: str) -> None:
        self._report.add(f"agent-skills.{code}", message, self._locate((key,)), "warning")

    def name(self, folder: str) -> None:
        name = self._data.get("name")
        name = str(name) if isinstance(name, int) and not isinstance(name, bool) else name
        if not isinstance(name, str) or not name.strip():
            self._say("name", "name is required", "name")
        elif not is_bare_name(name):
            self._say("name", f"name is 1 to {MAX_NAME} of a-z, 0-9 and single hyphens, not {shown(name)}", "name")
        elif name != folder:
            self._say("folder", f"the folder is called {folder[:80]}, the skill {name}", "name")

    def description(self) -> None:
        value = self._data.get("description")
        if not isinstance(value, str) or not value.strip():
            self._say("description", "description is required and has to be text", "description")
        elif len(value) > MAX_DESCRIPTION:
            message = f"description has {len(value)} characters; {MAX_DESCRIPTION} are allowed"
            self._say("description", message, "description")

    def texts(self) -> None:
        value = self._data.get("compatibility", "")
        if not isinstance(value, str):
            self._say("compatibility", "compatibility has to be text", "compatibility")
        elif len(value) > MAX_COMPATIBILITY:
            message = f"compatibility has {len(value)} characters; {MAX_COMPATIBILITY} are allowed"
            self._say("compatibility", message, "compatibility")
        if not isinstance(self._data.get("license", ""), str):
            self._say("license", "license has to be text", "license")
        if not isinstance(self._data.get("metadata") or {}, dict):
            self._say("metadata", "metadata has to hold names with values", "metadata")

    def keys(self) -> None:
        for key in self._data:
            if key not in KEYS:
                self._say("key", f"{key[:60]} is no key of Agent Skills: put it into metadata", key)
