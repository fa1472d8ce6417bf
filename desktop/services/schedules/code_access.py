"""Whether a job's agent can do anything with the job's list: a list may deny the code that an agent writes."""

from __future__ import annotations

from desktop.domain.approval.call_facts import CallFacts
from desktop.domain.definitions import DefinitionProblem
from desktop.domain.errors import KnownError
from desktop.domain.jobs import Job
from desktop.services.skills.side_prompt import prompt_skill
from desktop.services.turns.prompt_settings import settings_of
from desktop.services.turns.runtime import Runtime
from desktop.services.turns.unattended import CODE_TOOL, JobPermission
from desktop.skills.patterns import PatternError
from desktop.skills.patterns.paths import Where


async def code_problems(runtime: Runtime, job: Job) -> list[DefinitionProblem]:
    """A warning where the agent calls its tools by code alone and the list denies that; else nothing. What is
    wrong with the agent or with the list itself is said elsewhere."""
    if job.policy.allowed_tools is None:
        return []
    try:
        agent = runtime.agents.get(job.agent)
        skill = await prompt_skill(runtime.skills, agent, agent.side_a)
        mode = "direct"
        if skill is not None:
            mode = settings_of(skill, await runtime.skills.effective(skill), runtime.tool_mode(job.agent)).mode
        permission = JobPermission(job.policy, lambda: False, Where())
    except (KnownError, PatternError):
        return []
    if mode != "code" or not permission.refusal(CallFacts(CODE_TOOL.name, CODE_TOOL.category)):
        return []
    words = f"{agent.shown} calls its tools by code, and the list denies {CODE_TOOL.name}: it can call none."
    return [DefinitionProblem("policy.allowed_tools", "job.code", words, warning=True)]
