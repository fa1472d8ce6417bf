"""What a request about a call to a server shows of the server."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

    from desktop.tools.mcp.server import McpServer


def preview_of(server: McpServer, tool: str, title: str, claims: Sequence[str] = ()) -> dict[str, Any]:
    """For ``PreCheck.preview``."""
    definition, confinement = server.definition, server.confinement
    return {
        "kind": "mcp",
        "server": definition.name,
        "tool": tool,
        "title": title,
        "where": definition.where,
        "claims": list(claims),
        "confinement": confinement.sentence,
        "confined_by": confinement.kind,
        "network": confinement.network,
        "environment": sorted(definition.env),
    }
