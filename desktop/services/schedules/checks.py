"""What is wrong with a job before it is kept: all of it at once, each with its field (S-CRON-1)."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Sequence

from desktop.domain.definitions import DefinitionProblem
from desktop.domain.errors import ConfigurationError, NotFound
from desktop.domain.jobs import MAX_MESSAGE, MAX_NAME, Job
from desktop.domain.model_settings import WrongSetting, read_settings
from desktop.domain.models import ModelRef
from desktop.services.schedules.code_access import code_problems
from desktop.services.schedules.times import times_of
from desktop.services.turns.runtime import Runtime
from desktop.services.turns.unattended import policy_problems, tool_problems


async def job_problems(runtime: Runtime, default_model: Callable[[], str], job: Job) -> Sequence[DefinitionProblem]:
    """``default_model`` is that of jobs without one."""
    found = [*_words(job), *await _times(job), *_agent(runtime, job)]
    ref = ModelRef.parse(job.model or default_model())
    if not ref.connection_id or not ref.model:
        found.append(DefinitionProblem("model", "job.model", "Choose a model."))
    found += [DefinitionProblem(f"settings.{one.key}", "model.setting", one.text) for one in _wrong_settings(job)]
    if job.missed not in ("skip", "once"):
        found.append(DefinitionProblem("missed", "job.missed", "Write skip or once."))
    await runtime.skills.listed()  # from here on the table answers from memory
    tools = [tool.spec for tool in runtime.skills.table.tools()]
    listed = await asyncio.to_thread(lambda: list(tool_problems(job.policy, tools)))
    return [*found, *policy_problems(job.policy, runtime.mask), *listed, *await code_problems(runtime, job)]


def _wrong_settings(job: Job) -> Sequence[WrongSetting]:
    return read_settings(job.settings)[1]


def edge_problems(job: Job, unconfined: str) -> Iterator[DefinitionProblem]:
    """What keeps a job from working up to the edge of its folder; ``unconfined``: why commands are not confined."""
    if not job.project:
        yield DefinitionProblem("policy.at_edge", "job.edge", "Choose a folder first: the edge is that of the folder.")
    elif unconfined:
        words = f"It does here what it lists and nothing more: {unconfined}."
        yield DefinitionProblem("policy.at_edge", "job.edge", words, warning=True)


def _words(job: Job) -> Iterator[DefinitionProblem]:
    for path, value, words, maximum in (
        ("name", job.name, "Give it a name.", MAX_NAME),
        ("message", job.message, "Write what it is to do.", MAX_MESSAGE),
    ):
        if not value.strip():
            yield DefinitionProblem(path, "job.empty", words)
        elif len(value) > maximum:
            yield DefinitionProblem(path, "job.long", f"It is too long: at most {maximum:,} characters.")


async def _times(job: Job) -> Sequence[DefinitionProblem]:
    found = []
    for path, schedule, zone in (("schedule", job.schedule, "UTC"), ("zone", "@daily", job.zone)):
        try:
            await times_of(schedule, zone)
        except ConfigurationError as error:
            found.append(DefinitionProblem(path, "job.schedule", error.advice))
    return found


def _agent(runtime: Runtime, job: Job) -> Iterator[DefinitionProblem]:
    try:
        agent = runtime.agents.get(job.agent)
    except NotFound as error:
        yield DefinitionProblem("agent", "job.agent", str(error))
        return
    if agent.type == "dual_ai":
        words = f"{agent.shown} is two agents that talk to each other; a job needs one that answers."
        yield DefinitionProblem("agent", "job.agent", words)
