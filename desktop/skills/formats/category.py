"""Who has to agree before a skill runs, when it does not say so itself (Q-2)."""

from __future__ import annotations

from desktop.domain.approval.judgement import Category
from desktop.domain.skills import SkillDef


def effective_category(definition: SkillDef) -> Category:
    """As declared; else ``admin`` for code, for MCP servers and for the library, which has to declare, and ``read`` for
    a prompt and for an agent in code, whose calls are gated one by one. A programmatic tool has its own."""
    if definition.tool is not None:
        return definition.tool.spec.category
    if definition.category:
        return Category(definition.category)
    if definition.source in ("library", "mcp", "program"):
        return Category.ADMIN
    return Category.READ if definition.kind in ("markdown", "folder") or definition.role == "agent" else Category.ADMIN
