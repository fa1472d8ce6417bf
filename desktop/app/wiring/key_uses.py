"""Which tools and servers in force want which secrets, for the keyring page."""

from __future__ import annotations

from collections.abc import Mapping

from desktop.domain.keyring import referred_to
from desktop.presenter.settings.keys import Use
from desktop.tools.cli.tools import CliTools
from desktop.tools.mcp.headers import references
from desktop.tools.mcp.servers import McpServers


def secret_uses(cli: CliTools, mcp: McpServers) -> list[Use]:
    """Every reference to the keyring, by the name under which it will be asked for."""
    declared: list[tuple[str, Mapping[str, str]]] = [
        (tool.definition.name, tool.definition.env) for tool in cli.state.tools
    ]
    for server in mcp.state.servers:
        definition = server.definition
        sent = {f"headers.{name}": found for name, found in references(definition.headers)}
        declared.append((f"mcp-{definition.name}", {**definition.env, "bearer": definition.bearer, **sent}))
    found = ((tool, variable, referred_to(value)) for tool, env in declared for variable, value in env.items())
    return [Use(tool, variable, entry) for tool, variable, entry in found if entry is not None]
