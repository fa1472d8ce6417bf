"""Tools by which an agent asks for something lasting: a scheduled job, a skill of one's own (S-BLT-3, R-COD-9).

Each is admin: a person sees all of it and agrees every time, and takes it back on the page where such things are
deleted. Both go the way of that page. Nobody attends a job, so in one they are refused.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from desktop.domain.approval.judgement import Category
from desktop.domain.errors import Denied, KnownError, ToolFailure
from desktop.domain.files.work_place import WorkPlace
from desktop.domain.jobs import MAX_MESSAGE, MAX_NAME, Job
from desktop.domain.tools import PreCheck, ToolCallContext, ToolResult, ToolSpec
from desktop.services.schedules.service import JobService
from desktop.skills.formats.loader import load_from_bytes

if TYPE_CHECKING:
    from desktop.services.skills.editing import SkillService

MAX_TEXT = 100_000
ENDING = ".skill.md"

SCHEDULE_CREATE = ToolSpec(
    "schedule-create",
    "Asks the person to let an agent work at set times. The job can read and nothing else until they allow more.",
    {
        "type": "object",
        "required": ["name", "message", "schedule"],
        "properties": {
            "name": {"type": "string", "minLength": 1, "maxLength": MAX_NAME, "description": "What it is called."},
            "message": {"type": "string", "minLength": 1, "maxLength": MAX_MESSAGE, "description": "What to do."},
            "schedule": {"type": "string", "maxLength": 200, "description": "Five fields of cron, such as 0 8 * * 1."},
            "zone": {"type": "string", "maxLength": 64, "description": "Such as Europe/Berlin; else this machine's."},
            "ref": {"type": "string", "maxLength": 64, "description": "The agent that works; else assistant."},
        },
        "additionalProperties": False,
    },
    Category.ADMIN,
    alias="schedule_create",
    gives="local",
)
SKILL_REGISTER = ToolSpec(
    "skill-register",
    "Asks the person to keep a new skill in words (Markdown with frontmatter: name, description) among their own.",
    {
        "type": "object",
        "required": ["text"],
        "properties": {
            "text": {"type": "string", "minLength": 1, "maxLength": MAX_TEXT, "description": "The whole file."}
        },
        "additionalProperties": False,
    },
    Category.ADMIN,
    alias="skill_register",
    gives="local",
)


class ScheduleCreate:
    """The tool ``schedule-create``: makes a scheduled job that only reads."""

    def __init__(self, jobs: JobService) -> None:
        self._jobs = jobs

    @property
    def spec(self) -> ToolSpec:
        """The tool's declaration."""
        return SCHEDULE_CREATE

    async def precheck(self, args: Mapping[str, Any], place: WorkPlace) -> PreCheck:
        """Check the job, so that nobody is asked about one that could not be saved."""
        problems = [one for one in await self._jobs.problems(_job(args)) if not one.warning]
        said = "; ".join(f"{one.path}: {one.text.rstrip('.')}" for one in problems)
        wrong = ToolFailure(f"There cannot be such a job: {said}.", code="tool.validation") if said else None
        return PreCheck(Category.ADMIN, denied=wrong)

    async def execute(self, args: Mapping[str, Any], context: ToolCallContext) -> ToolResult:
        """Save the job, as the Schedules page does."""
        _attended(context)
        made = await self._jobs.save(_job(args))
        return ToolResult(
            f"The job {made.name!r} is on the Schedules page, where it can be changed and deleted. It reads, and does "
            "nothing else, until the person allows more there.",
            structured={"job": made.job_id, "name": made.name},
        )


class SkillRegister:
    """The tool ``skill-register``: saves a new skill."""

    def __init__(self, service: Callable[[], SkillService]) -> None:
        self._service = service

    @property
    def spec(self) -> ToolSpec:
        """The tool's declaration."""
        return SKILL_REGISTER

    async def precheck(self, args: Mapping[str, Any], place: WorkPlace) -> PreCheck:
        """The whole file is shown. Nobody is asked about one that could not be kept, or would take another's place."""
        try:
            path = await asyncio.to_thread(self._place, args["text"])
        except ToolFailure as failure:
            return PreCheck(Category.ADMIN, denied=failure)
        size = len(args["text"].encode("utf-8", "replace"))
        preview = {
            "kind": "diff",
            "path": path,
            "before": "",
            "after": args["text"],
            "new": True,
            "notes": [],
            "size": size,
        }
        return PreCheck(Category.ADMIN, paths=(path,), preview=preview, identity={path: "absent"})

    def _place(self, text: str) -> str:
        """Where it would be kept. Reads the text and looks at the disk: blocks. Raises ToolFailure."""
        name = _name_in(text, self._service().mine)
        folder = os.path.join(self._service().mine, name)
        taken = next((one for one in (f"{folder}{ENDING}", folder) if os.path.lexists(one)), "")
        taken = taken or self._service().holder(name)
        if taken:
            raise ToolFailure(f"There is {name} already: {taken}. Take another name.", code="tool.validation")
        return f"{folder}{ENDING}"

    async def execute(self, args: Mapping[str, Any], context: ToolCallContext) -> ToolResult:
        """Save the skill, as the Skills page does."""
        _attended(context)
        path = await asyncio.to_thread(self._place, args["text"])
        name = os.path.basename(path).removesuffix(ENDING)
        await self._service().register(name, args["text"])
        return ToolResult(f"Saved as {path}. The Skills page shows it, where it can be changed and deleted.")


def _job(args: Mapping[str, Any]) -> Job:
    return Job("", args["name"], args["message"], args["schedule"], args.get("zone", ""), args.get("ref", "assistant"))


def _attended(context: ToolCallContext) -> None:
    if context.meta.unattended is not None:
        raise Denied("This needs a person's answer, and nobody is asked while a job runs.", code="denied.permission")


def _name_in(text: str, folder: str) -> str:
    """The name of the one skill in the text. Raises ToolFailure with all that is wrong, by line."""
    try:
        data = text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise ToolFailure("The text holds characters that no file can.", code="tool.validation") from error
    try:
        loaded = load_from_bytes(data, os.path.join(folder, "new.skill.md"), source="mine", root=folder)
    except KnownError as error:
        raise ToolFailure(str(error), code="tool.validation") from error
    wrong = [one for one in loaded.problems if one.severity == "error"]
    wrong += [one for found in loaded.definitions for one in found.problems if one.severity == "error"]
    if wrong:
        said = "; ".join(dict.fromkeys(f"line {one.line}: {one.message}" for one in wrong))
        raise ToolFailure(f"This is no skill yet: {said}.", code="tool.validation")
    if len(loaded.definitions) != 1:
        raise ToolFailure("The text holds one skill: frontmatter, then the words.", code="tool.validation")
    return loaded.definitions[0].name
