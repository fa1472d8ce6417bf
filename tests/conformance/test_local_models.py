"""Real model servers of this computer: llama.cpp's own and the one of llama-cpp-python, with models made here.

Slow, and they have to be built: ``python3 tests/conformance/llamacpp.py FOLDER``, then ``LLAMA_CPP=FOLDER`` and
``-m soak``. ``-s`` prints what was measured.
"""

import asyncio
import base64
import contextlib
import json
import os
import shutil
import socket
import socketserver
import struct
import threading
import time
import urllib.error
import urllib.request
import zlib
from collections.abc import AsyncIterator, Iterator
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from desktop.domain.errors import CancellationError, ModelContextTooLong, ModelError, ModelStreamBroken
from desktop.domain.messages import ChatMessage, ImageBlock, TextBlock, user_message
from desktop.domain.model_settings import ModelSettings
from desktop.domain.models import Finished, LocalServer, ModelRef, StreamItem, TextDelta
from desktop.domain.runs.cancellation import CancellationToken
from desktop.domain.servers.starting import StartChoice
from desktop.models.client import ModelServices
from desktop.models.providers import LocalAddresses
from desktop.workers.child import ChildProcess
from tests.conformance.gguf_maker import make_eyes
from tests.conformance.local_server import CALL, TOOL, Built, RealServer, llama_server, make_models, python_server
from tests.harness.timeouts import WAIT_S, until
from tests.servers.hosts import collect, meta, models_over, request, running_host
from tests.unit.services.local_servers.kit import head, is_open, number, place, word

pytestmark = [pytest.mark.soak, pytest.mark.asyncio(loop_scope="session")]
WRITE = {
    "name": TOOL,
    "description": "Writes a file.",
    "parameters": {
        "type": "object",
        "properties": {"path": {"type": "string", "maxLength": 40}, "content": {"type": "string", "maxLength": 80}},
        "required": ["path", "content"],
        "additionalProperties": False,
    },
}


@pytest.fixture(scope="session")
def built() -> Built:
    folder = os.environ.get("LLAMA_CPP", "")
    found = Built(Path(folder))
    if not folder or not found.program.exists():
        pytest.skip("no llama.cpp: build one with tests/conformance/llamacpp.py and set LLAMA_CPP to its folder")
    return found


@pytest.fixture(scope="session")
def files(built: Built, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    return make_models(built, tmp_path_factory.mktemp("models"))


@pytest_asyncio.fixture(loop_scope="session", scope="session")
async def host() -> AsyncIterator[ChildProcess]:
    async with running_host() as made:
        yield made


def over(host: ChildProcess, server: RealServer) -> ModelServices:
    """The app's own client and lists, with this one server on the computer."""
    return models_over(host, addresses=LocalAddresses({"llamacpp": (server.base_url,)}))


async def found(models: ModelServices) -> LocalServer:
    servers = await models.catalogue.servers()
    await models.catalogue.models()
    return next(server for server in servers if server.kind == "llamacpp")


async def the_model(models: ModelServices) -> ModelRef:
    return (await found(models)).models[0].ref


def said(items: list[StreamItem]) -> str:
    return "".join(item.text for item in items if isinstance(item, TextDelta))


def calls(items: list[StreamItem]) -> list[tuple[str, Any]]:
    last = items[-1]
    assert isinstance(last, Finished)
    return [(call.tool, call.arguments) for call in last.tool_calls]


# -- llama.cpp ------------------------------------------------------------------------------------------------------


async def test_llama_cpp_is_found_by_itself_with_its_real_context(
    built: Built, files: dict[str, Path], host: ChildProcess
) -> None:
    with llama_server(built, files["babbler"], context=2048) as server:
        one = await found(over(host, server))
        assert (one.running, one.problem, one.note) == (True, "", "")
        (model,) = one.models
        assert (model.title, model.context_window, model.locality) == ("babbler.gguf", 2048, "local")
        assert (model.vision, model.takes.structured, model.input_price) == (False, True, 0.0)
        assert model.size_bytes


async def test_an_answer_streams_and_is_counted(built: Built, files: dict[str, Path], host: ChildProcess) -> None:
    with llama_server(built, files["caller"]) as server:
        models = over(host, server)
        began = time.monotonic()
        items = await collect(models, request(str(await the_model(models)), [user_message("Hi")]))
        pieces = [item for item in items if isinstance(item, TextDelta)]
        last = items[-1]
        assert isinstance(last, Finished)
        assert said(items) == "".join(CALL), "without tools a call is a text"
        assert len(pieces) > 1
        assert last.usage is not None
        assert last.usage.output_tokens >= len(CALL)
        print(f"\n{len(pieces)} pieces, {last.usage}, {time.monotonic() - began:.2f} s with the look for the model")


async def test_stopped_in_the_middle_the_server_stops(built: Built, files: dict[str, Path], host: ChildProcess) -> None:
    with llama_server(built, files["endless"], context=32_768) as server:
        models = over(host, server)
        asked, token = request(str(await the_model(models)), [user_message("Hi")]), CancellationToken()
        items: list[StreamItem] = []
        with contextlib.suppress(CancellationError):
            async for item in models.client.stream(asked, meta(token)):
                items.append(item)
                if len(items) == 5:
                    assert server.working, "it generates"
                    token.cancel("the person stopped it")
        began = time.monotonic()
        await until(lambda: not server.working, "no slot generates")
        print(f"\nidle {1000 * (time.monotonic() - began):.0f} ms after the stop")
        assert said(items)


async def test_a_tool_is_called_by_grammar(built: Built, files: dict[str, Path], host: ChildProcess) -> None:
    """The model's weights are chance: that this is a call, with the arguments of the schema, is the grammar's doing."""
    with llama_server(built, files["forced"]) as server:
        models = over(host, server)
        settings = ModelSettings(max_tokens=250)  # or it would make one call after the other
        asked = request(str(await the_model(models)), [user_message("Write.")], tools=(WRITE,), settings=settings)
        name, arguments = calls(await collect(models, asked))[0]
        assert name == TOOL
        assert set(arguments) == {"path", "content"}
        assert (len(arguments["path"]) <= 40, len(arguments["content"]) <= 80) == (True, True)
        print(f"\n{name} {arguments}")


async def test_a_promised_value_is_held_to_its_schema(built: Built, files: dict[str, Path], host: ChildProcess) -> None:
    schema = {
        "type": "object",
        "properties": {"rises": {"type": "boolean"}, "gauge": {"enum": ["north", "south"]}, "cm": {"type": "integer"}},
        "required": ["rises", "gauge", "cm"],
        "additionalProperties": False,
    }
    with llama_server(built, files["babbler"]) as server:
        models = over(host, server)
        ref = await the_model(models)
        assert await models.is_held_to_schemas(ref, with_tools=False)
        for _ in range(3):
            items = await collect(models, request(str(ref), [user_message("Rises it?")], answer_schema=schema))
            value = json.loads(said(items))
            assert set(value) == {"rises", "gauge", "cm"}
            assert (type(value["rises"]), value["gauge"] in ("north", "south"), type(value["cm"])) == (bool, True, int)


async def test_a_conversation_that_is_too_long_is_told_with_the_next_step(
    built: Built, files: dict[str, Path], host: ChildProcess
) -> None:
    with llama_server(built, files["babbler"], context=512) as server:
        models = over(host, server)
        long = user_message("tide " * 3000)
        with pytest.raises(ModelContextTooLong) as refused:
            await collect(models, request(str(await the_model(models)), [long]))
        print(f"\n{refused.value} {refused.value.next_step}")
        assert refused.value.next_step


async def test_a_server_that_dies_in_its_answer_is_told_and_what_came_is_kept(
    built: Built, files: dict[str, Path], host: ChildProcess
) -> None:
    with llama_server(built, files["endless"], context=32_768) as server:
        models = over(host, server)
        asked = request(str(await the_model(models)), [user_message("Hi")])
        items: list[StreamItem] = []

        async def read() -> None:
            async for item in models.client.stream(asked, meta()):
                items.append(item)
                if len(items) == 5:
                    server.process.kill()

        with pytest.raises(ModelError) as died:
            await read()
        assert said(items)
        assert died.value.transient
        print(f"\n{type(died.value).__name__}: {died.value} {died.value.next_step}")
        assert not (await found(models)).running


@contextlib.contextmanager
def liar(server: RealServer, **lies: Any) -> Iterator[str]:
    """In front of a real server: it says other things of itself, and passes on what it is asked."""

    class Handler(BaseHTTPRequestHandler):
        def _pass_on(self, body: bytes | None) -> None:
            asked = urllib.request.Request(server.base_url + self.path, body, {"Content-Type": "application/json"})
            try:
                with urllib.request.urlopen(asked, timeout=WAIT_S) as answer:
                    status, content = answer.status, answer.read()
            except urllib.error.HTTPError as refused:
                status, content = refused.code, refused.read()
            if body is None:
                told = json.loads(content)
                for row in told.get("data", ()):
                    row["meta"] |= lies
                content = json.dumps(told).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def do_GET(self) -> None:
            self._pass_on(None)

        def do_POST(self) -> None:
            self._pass_on(self.rfile.read(int(self.headers["Content-Length"])))

        def log_message(self, format: str, *args: object) -> None:
            pass

    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), Handler) as front:
        serving = threading.Thread(target=front.serve_forever, daemon=True)
        serving.start()
        try:
            yield f"http://127.0.0.1:{front.server_address[1]}"
        finally:
            front.shutdown()
            serving.join()


async def test_a_server_that_says_it_holds_more_than_it_does_is_told_by_its_refusal(
    built: Built, files: dict[str, Path], host: ChildProcess
) -> None:
    with llama_server(built, files["babbler"], context=512) as server, liar(server, n_ctx=1_000_000) as address:
        models = models_over(host, addresses=LocalAddresses({"llamacpp": (address,)}))
        one = await found(models)
        assert one.models[0].context_window == 1_000_000
        with pytest.raises(ModelContextTooLong):
            await collect(models, request(str(one.models[0].ref), [user_message("tide " * 3000)]))


@pytest.mark.parametrize("lie", [-5, "all", 1 << 70, None, True, [4096]])
async def test_a_size_that_cannot_be_is_unknown(
    built: Built, files: dict[str, Path], host: ChildProcess, lie: object
) -> None:
    with llama_server(built, files["babbler"], context=512) as server, liar(server, n_ctx=lie, size=lie) as address:
        (model,) = (await found(models_over(host, addresses=LocalAddresses({"llamacpp": (address,)})))).models
        assert model.context_window in (None, 512)


async def test_a_picture_reaches_a_model_that_sees(
    built: Built, files: dict[str, Path], host: ChildProcess, tmp_path: Path
) -> None:
    make_eyes(tmp_path / "mmproj-tiny.gguf")
    with llama_server(built, files["caller"], "--mmproj", str(tmp_path / "mmproj-tiny.gguf")) as server:
        models = over(host, server)
        (model,) = (await found(models)).models
        assert model.vision is True
        picture = ImageBlock("image/png", base64.b64encode(png(40, 40)).decode(), "buoy.png", 40, 40)
        plain = await counted(models, model.ref, user_message("Look."))
        seen = await counted(models, model.ref, ChatMessage("user", (TextBlock("Look."), picture)))
        assert seen == plain + 4, "the picture is four words to it"


async def counted(models: ModelServices, ref: ModelRef, message: ChatMessage) -> int:
    """Tokens of a request with this message, as the server counts them."""
    last = (await collect(models, request(str(ref), [message])))[-1]
    assert isinstance(last, Finished)
    assert last.usage is not None
    return last.usage.input_tokens


def png(width: int, height: int) -> bytes:
    rows = b"".join(b"\0" + bytes([200, 30, 30]) * width for _ in range(height))

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    about = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", about) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")


# -- started from the app -------------------------------------------------------------------------------------------


@pytest.mark.expects_threads
async def test_the_real_server_is_started_seen_to_work_and_ended(
    built: Built, files: dict[str, Path], tmp_path: Path
) -> None:
    model = shutil.copy(files["endless"], tmp_path)
    make_eyes(tmp_path / "mmproj-tiny.gguf")
    async with place(tmp_path) as here:
        here.host["PATH"] = str(built.program.parent)
        await here.service.look()
        plan = await here.service.plan(StartChoice("llamacpp", str(model), 4096))
        assert f"--mmproj {tmp_path / 'mmproj-tiny.gguf'}" in plan.command
        await here.service.start(plan)
        await here.until_phase("running")
        (found_one,) = [one for one in await here.models.catalogue.servers() if one.kind == "llamacpp"]
        assert [(m.context_window, m.vision) for m in found_one.models] == [(4096, True)]
        assert "listening on http://127.0.0.1" in await here.service.log("llamacpp")
        await here.service.stop("llamacpp")
        await here.until_phase("idle")
        assert not is_open(plan.port)


@pytest.mark.expects_threads
async def test_what_ends_the_real_server_is_told_with_the_next_step(
    built: Built, files: dict[str, Path], tmp_path: Path
) -> None:
    whole = files["babbler"].read_bytes()
    cut, strange = tmp_path / "cut.gguf", tmp_path / "strange.gguf"
    cut.write_bytes(whole[: len(whole) // 2])
    strange.write_bytes(head(word("general.architecture", "tide"), number("tide.context_length", 4096)))
    async with place(tmp_path) as here:
        here.host["PATH"] = str(built.program.parent)
        await here.service.look()
        for file, words in ((cut, "may be cut off or damaged"), (strange, "too old for the model")):
            await here.service.start(await here.service.plan(StartChoice("llamacpp", str(file), 4096)))
            await here.until_phase("failed")
            print(f"\n{here.state.problem}\n{here.state.last_words[-300:]}")
            assert words in here.state.problem
        plan = await here.service.plan(StartChoice("llamacpp", str(files["babbler"]), 4096))
        with socket.create_server(("127.0.0.1", plan.port)):
            await here.service.start(plan)
            await here.until_phase("failed")
            assert "Another program took its port meanwhile" in here.state.problem


# -- the server of llama-cpp-python ---------------------------------------------------------------------------------


async def test_the_python_server_is_found_streams_and_stops(
    built: Built, files: dict[str, Path], host: ChildProcess
) -> None:
    with python_server(built, files["endless"]) as server:
        models = over(host, server)
        one = await found(models)
        assert one.running
        assert one.models[0].context_window is None, "it does not say"
        asked, token = request(str(one.models[0].ref), [user_message("Hi")]), CancellationToken()
        items: list[StreamItem] = []
        with contextlib.suppress(CancellationError):
            async for item in models.client.stream(asked, meta(token)):
                items.append(item)
                if len(items) == 5:
                    token.cancel("the person stopped it")
        assert said(items)
        assert not await models.is_held_to_schemas(one.models[0].ref, with_tools=False), "it refuses schemas"
        short = request(str(one.models[0].ref), [user_message("Hi")], settings=ModelSettings(max_tokens=8))
        async with asyncio.timeout(WAIT_S):  # it works on one at a time, and is free again
            assert said(await collect(models, short)).startswith(" The time is now")


async def test_of_a_conversation_that_is_too_long_the_python_server_says_nothing_and_that_is_told(
    built: Built, files: dict[str, Path], host: ChildProcess
) -> None:
    with python_server(built, files["babbler"], context=512) as server:
        models = over(host, server)
        with pytest.raises(ModelError) as refused:
            await collect(models, request(str(await the_model(models)), [user_message("tide " * 3000)]))
        print(f"\n{type(refused.value).__name__}: {refused.value}")  # it answers 200, and with nothing
        assert isinstance(refused.value, ModelStreamBroken)
