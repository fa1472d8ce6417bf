"""The tools that code registered, in the fabric's table: listed and filtered beside skills (R-RES-10, R-VIS-7)."""

from __future__ import annotations

from desktop.domain.skills import SkillSource
from desktop.domain.tools import Tool
from desktop.pipeline.table import Registered
from desktop.skills.resolution.fabric import SkillFabric
from desktop.skills.resolution.programmatic import RegisterToolOptions


class ShownTools:
    """Keeps the fabric's table in step with a registry."""

    def __init__(self, fabric: SkillFabric, registered: Registered) -> None:
        self._fabric = fabric
        self._registered = registered
        self._shown: dict[str, Tool] = {}

    def refresh(self) -> None:
        """After the registry changed; does not block."""
        now = {tool.spec.name: tool for tool in self._registered.tools()}
        for name in self._shown.keys() - now.keys():
            self._fabric.unregister_tool(name)
        for name, tool in now.items():
            if self._shown.get(name) is not tool:
                self._fabric.register_tool(_as_options(tool))
        self._shown = now


def _as_options(tool: Tool) -> RegisterToolOptions:
    spec = tool.spec
    source: SkillSource = "library" if spec.source == "library" else "mcp" if spec.source == "mcp" else "program"
    return RegisterToolOptions(
        spec.name,
        description=spec.description,
        params=spec.params,
        returns=spec.returns,
        tags=spec.tags,
        visibility=spec.visibility,
        category=spec.category.value,
        source=source,
        tool=tool,
        src=spec.uri or None,
    )
