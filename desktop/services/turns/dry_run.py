"""A side as it would run: what it could use, and what keeps it from starting. Nobody asks a model."""

from __future__ import annotations

from collections.abc import Sequence

from desktop.agents.loop.round_notes import notes_text
from desktop.domain.debates import SidePreview, ToolOffer
from desktop.domain.definitions import DefinitionProblem
from desktop.domain.errors import KnownError
from desktop.domain.runs.cancellation import CancellationToken
from desktop.services.turns.runtime import Runtime
from desktop.services.turns.spec import ResolvedSide, SideSpec, how_called, prompt_text, ready, request_of, stop_problem


def offers(side: ResolvedSide) -> tuple[ToolOffer, ...]:
    """The tools that a side may call."""
    return tuple(ToolOffer(one.spec.name, one.spec.category.value, one.spec.description) for one in side.visible.usable)


async def side_problems(runtime: Runtime, spec: SideSpec, at: str, allowed: str = "") -> list[DefinitionProblem]:
    """What keeps a side from running now: a prompt or a tool that is not there, or not for it (R-DEF-11, R-DEF-13).
    ``at`` is the side's path; ``allowed`` says what else may keep a tool from it."""
    try:
        side = await ready(runtime, spec)
    except KnownError as error:
        return [DefinitionProblem(f"{at}.prompt", "prompt.missing", str(error))]
    found = []
    for field, wanted in (("stopTool", spec.stop_tool), ("endSessionTool", spec.end_session_tool)):
        problem = await stop_problem(runtime, side, wanted, allowed) if wanted else None
        if problem is not None:
            found.append(DefinitionProblem(f"{at}.{field}", *problem))
    return found


async def dry_run(
    runtime: Runtime,
    spec: SideSpec,
    model: str,
    limits: Sequence[str],
    problems: tuple[DefinitionProblem, ...],
    notes: Sequence[str] = (),
) -> SidePreview:
    """The side's system text with these notes, its tools and limits; of one that cannot run the limits alone."""
    window = runtime.context_window(spec.model) if spec.model.model else None
    try:
        side = await ready(runtime, spec)
        request = await request_of(runtime, side, await prompt_text(runtime, side, CancellationToken()))
    except KnownError:
        return SidePreview("", (), model, tuple(limits), window, problems)
    limits = (*limits, *how_called(side, runtime.skills.table))
    return SidePreview(f"{request.system}{notes_text(notes)}", offers(side), model, limits, window, problems)
