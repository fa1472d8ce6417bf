"""A process that debates over a real model server until it is done, or killed: ``python -m tests.end2end.debate_life``.

Arguments: the folder, the server's URL, and ``begin``, or the debate to go on with. Prints the debate's id first. When
it ends by itself, it exports the debate into the folder.
"""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

from tests.servers.hosts import connection, models_over, running_host
from tests.unit.services.debates.kit import debate_world, setup

MODEL = "openai_compatible/some-model"


async def live(folder: Path, url: str, which: str) -> None:
    async with running_host() as host:
        client = models_over(host, connection("openai_compatible", url)).client
        async with debate_world(folder, client) as w:
            thread = which
            if which == "begin":
                thread = await w.debates.create(setup(a={"model": MODEL}, b={"model": MODEL}, max_turns=4))
            print(thread, flush=True)
            await w.debates.start(thread)
            await w.rest(thread)
            for form in ("md", "html", "json"):
                await w.debates.export(thread, folder / f"debate.{form}", form)


if __name__ == "__main__":
    asyncio.run(live(Path(sys.argv[1]), sys.argv[2], sys.argv[3]))
