"""``skill-invoke(ref, args)`` is a call of ``ref`` (R-DSC-9): for gates, rules, events, counts and what a call ends.

So it is taken for that call before anything else looks at it. Only the library's own skill of this name counts, and
only where the caller's list permits it; what is not well-formed stays a call of skill-invoke, whose schema refuses it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from desktop.domain.messages import ToolCallBlock
from desktop.domain.tools import Tool
from desktop.pipeline.names import Caller, ToolTable
from desktop.pipeline.skill_tool import PASSING_ON, SkillTool


def passes_on(block: ToolCallBlock) -> bool:
    """Whether this looks like such a call; ``meant`` says whether it is one."""
    return block.tool.replace("_", "-") == PASSING_ON


def meant(table: ToolTable, block: ToolCallBlock, caller: Caller) -> ToolCallBlock:
    """The call that is really asked for; ``via`` names the tool that it was asked through."""
    while passes_on(block) and _may_pass_on(table.find(block.tool), block, caller):
        arguments = block.arguments or {}
        block = replace(
            block, tool=arguments["ref"], arguments=arguments.get("args", {}), raw="", via=block.via or block.tool
        )
    return block


def _may_pass_on(tool: Tool | None, block: ToolCallBlock, caller: Caller) -> bool:
    if not isinstance(tool, SkillTool) or tool.definition.source != "library" or tool.spec.name != PASSING_ON:
        return False
    arguments = block.arguments
    well_formed = (
        arguments is not None
        and arguments.keys() <= {"ref", "args"}
        and isinstance(arguments.get("ref"), str)
        and isinstance(arguments.get("args", {}), Mapping)
    )
    return well_formed and caller.allowed.permits(tool.spec, arguments or {})
