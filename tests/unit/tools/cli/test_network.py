"""Which declared tools have the network, and what is said of those that have not (D-4)."""

import os
from typing import Any

import pytest

from desktop.tools.cli.definitions import OFFLINE_AS_SAID, OFFLINE_UNASKED
from tests.unit.tools.cli.test_tool import TEXT, Cli, judged, program
from tests.unit.tools.cli.test_tool import cli as cli


@pytest.mark.spec("R-TOOL-4")
async def test_a_tool_has_the_network_unless_the_entry_says_otherwise_or_it_asks_nobody(cli: Cli) -> None:
    world = cli.bench.world

    async def network(**fields: Any) -> bool:
        check = await judged(cli.tool("", cmd="true", **fields))
        return bool(check.preview["network"])

    for mode in ("as asked", "never", "always"):
        world.change(shell_network=mode)
        assert [await network(), await network(network=True), await network(network=False)] == [True, True, False]
    unasked = {"category": "read", "parameters": TEXT, "args": ["{{value}}"]}
    assert not cli.tool("", cmd="true", **unasked).definition.network
    assert cli.tool("", cmd="true", network=True, **unasked).definition.network


async def test_a_tool_without_the_network_says_so_in_its_request_and_why_where_it_failed(cli: Cli) -> None:
    program(cli.bench.world.workspace / "bin" / "curl", "exit 7")
    cli.host["PATH"] = f"{cli.bench.world.workspace / 'bin'}{os.pathsep}{cli.host['PATH']}"
    said = {"category": "read", "cmd": "curl", "args": ["{{value}}"], "parameters": TEXT}
    for fields, why in (({}, OFFLINE_UNASKED), ({"network": False}, OFFLINE_AS_SAID)):
        tool = cli.tool("", **said, **fields)
        assert "The network is off for this tool." in (await judged(tool, value="a")).preview["confinement"]
        assert f"[No network: {why}.]" in (await cli.bench.run(tool, value="http://x.example")).text
    assert "[No network" not in (await cli.bench.run(cli.tool("", **said, network=True), value="http://x.example")).text
