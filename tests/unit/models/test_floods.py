"""Whatever a model server sends, the model host holds little of it and goes on serving others."""

import base64
import gzip
import itertools
import json
import sys
import zlib
from collections.abc import Callable, Iterator

import pytest

from desktop.domain.errors import ModelError
from desktop.domain.models import Connection, Finished, StreamItem, TextDelta
from desktop.workers.child import ChildProcess
from tests.harness.closed import Memory
from tests.servers.fixtures import ProviderSpace
from tests.servers.flood import FLOODS, flooding
from tests.servers.hosts import collect, connection, models_over, request, running_host

pytestmark = [
    pytest.mark.asyncio(loop_scope="session"),
    pytest.mark.skipif(sys.platform != "linux", reason="memory is read from /proc"),
]

GROWTH_MAX = 250 * 1024**2
"""Bytes that one answer may make the host grow by, at its highest: a line of 16 MB, once for each reader above it."""
WIRES = {"openai_compatible": "some-model", "anthropic": "claude-sonnet-4-5", "ollama": "qwen3", "gemini": "gemini-2.5"}

ON_EVERY_WIRE = ("gzip", "gzip of empty lines", "a line of 700 MB")
CASES = [
    *((name, wire) for name in ON_EVERY_WIRE for wire in WIRES),
    *zip([name for name in FLOODS if name not in ON_EVERY_WIRE], itertools.cycle(WIRES), strict=False),
]


@pytest.fixture
def address() -> Iterator[Callable[[str], str]]:
    with flooding() as found:
        yield found


@pytest.mark.spec("R-SEC-5")
@pytest.mark.parametrize(("name", "wire"), CASES)
async def test_a_flood_ends_in_an_error_and_little_of_it_is_held(
    host: ChildProcess, address: Callable[[str], str], provider: ProviderSpace, name: str, wire: str
) -> None:
    flooded = Connection("flooded", wire, "Flooded", address(name), "key")
    models = models_over(host, flooded, connection("openai_compatible", provider.openai_url))
    generation, memory = host.health.generation, Memory(host.health.pid)
    with pytest.raises(ModelError) as failed:
        await collect(models, request(f"flooded/{WIRES[wire]}", idle_s=5.0))
    grown = memory.grown()
    print(f"{name}, {wire}: {grown / 1024**2:.0f} MB, {failed.value.code}: {failed.value}")
    assert grown < GROWTH_MAX
    assert host.health.generation == generation, "the host is the same process"
    assert _text(await collect(models, request("openai_compatible/m"))) == "Hello there."


@pytest.mark.parametrize("packed", ["gzip", "deflate", "raw", "gzip twice", "gzip in two parts", "letter by letter"])
async def test_a_packed_answer_is_read(host: ChildProcess, provider: ProviderSpace, packed: str) -> None:
    chunk = {"id": "1", "object": "chat.completion.chunk", "created": 1, "model": "m"}
    pieces = [("Grüße ", None), ("aus dem Packen", None), ("", "stop")]
    choices = [{"index": 0, "delta": {"content": text}, "finish_reason": end} for text, end in pieces]
    data = [*(json.dumps({**chunk, "choices": [choice]}) for choice in choices), "[DONE]"]
    events = "".join(f"data: {one}\r\n\r\n" for one in data).encode()
    ways = {
        "gzip": gzip.compress(events),
        "deflate": zlib.compress(events),
        "raw": zlib.compress(events, wbits=-15),
        "gzip twice": gzip.compress(gzip.compress(events)),
        "letter by letter": gzip.compress(events),
        "gzip in two parts": gzip.compress(events[:99]) + gzip.compress(events[99:]),
    }
    encoding = {"deflate": "deflate", "raw": "deflate", "gzip twice": "gzip, gzip"}.get(packed, "gzip")
    sent = ways[packed]
    size = 1 if packed == "letter by letter" else len(sent)
    steps = [{"raw_base64": base64.b64encode(sent[at : at + size]).decode()} for at in range(0, len(sent), size)]
    provider.rounds({"bare": True, "headers": {"Content-Encoding": encoding}, "steps": steps})
    models = models_over(host, connection("openai_compatible", provider.openai_url))
    assert _text(await collect(models, request("openai_compatible/m"))) == "Grüße aus dem Packen"


async def test_what_an_error_says_is_read_although_it_is_packed(host: ChildProcess, provider: ProviderSpace) -> None:
    said = gzip.compress(b'{"error": {"message": "Only on Tuesdays."}}')
    steps = [{"raw_base64": base64.b64encode(said).decode()}]
    provider.rounds({"bare": True, "bare_status": 400, "headers": {"Content-Encoding": "gzip"}, "steps": steps})
    models = models_over(host, connection("openai_compatible", provider.openai_url))
    with pytest.raises(ModelError, match="Only on Tuesdays"):
        await collect(models, request("openai_compatible/m"))


async def test_a_long_answer_in_single_letters_is_not_kept_in_pieces(provider: ProviderSpace) -> None:
    """In a host of its own: in one that has been flooded, this little would not be seen by an ordinary user."""
    provider.steps({"times": 3_000, "steps": [{"text": "z"}]}, {"finish": "stop"}, {"usage": {"input": 7, "output": 9}})
    async with running_host() as fresh:
        memory = Memory(fresh.health.pid)
        models = models_over(fresh, connection("openai_compatible", provider.openai_url))
        items = await collect(models, request("openai_compatible/m"))
        grown = memory.grown()
    assert len(_text(items)) == 3_000
    assert isinstance(items[-1], Finished)
    assert items[-1].usage is not None
    assert (items[-1].usage.input_tokens, items[-1].usage.output_tokens) == (7, 9)
    print(f"{grown / 1024**2:.0f} MB for 3,000 pieces")
    assert grown < 30 * 1024**2


def _text(items: list[StreamItem]) -> str:
    return "".join(item.text for item in items if isinstance(item, TextDelta))
