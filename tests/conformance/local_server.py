"""Real model servers on this computer, and small models that are made for them."""

import json
import os
import subprocess
import time
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.conformance.gguf_maker import END, make_model, read_vocabulary
from tests.harness.timeouts import WAIT_S
from tests.unit.services.local_servers.kit import free_port

TOOL = "write_file"
CALL = (
    *("<tool_call>\n", '{"name": "', TOOL, '", "arguments": {"path": "', "tide.txt", '", "content": "'),
    *("High at noon.", '"}}', "\n</tool_call>"),
)
SAID = ("The tide", " is in", " tide.txt", ".")
ASKS = "{{- '<|im_start|>assistant\\n' }}\n"
AFTER_A_RESULT = "{%- if messages[-1].role == 'tool' %}{{- '\\n' }}{%- endif %}\n"
WORDS_KEPT = 16_000


@dataclass(frozen=True)
class Built:
    """The folder that ``llamacpp.py`` made."""

    folder: Path

    @property
    def program(self) -> Path:
        return self.folder / "build" / "bin" / "llama-server"

    @property
    def python(self) -> Path:
        return self.folder / "python" / "bin" / "python"

    @property
    def package(self) -> Path:
        return next(self.folder.glob("llama_cpp_python-*/llama_cpp")).parent

    @property
    def models(self) -> Path:
        return self.package / "vendor" / "llama.cpp" / "models"


def make_models(built: Built, folder: Path) -> dict[str, Path]:
    """Models over Qwen's vocabulary and chat template: one calls a tool and then says so; one begins a call and leaves
    the rest to chance, which the server's grammar holds; one says the same without end, one says anything."""
    words = read_vocabulary(built.models / "ggml-vocab-qwen2.gguf", WORDS_KEPT, [*CALL, *SAID[:-1]])
    template = (built.models / "templates" / "Qwen-Qwen2.5-7B-Instruct.jinja").read_text()
    assert ASKS in template
    template = template.replace(ASKS, ASKS + AFTER_A_RESULT)
    ended = words.chain("\n\n", *SAID, END)
    chains = {
        "caller": [words.chain("\n", *CALL, "<|endoftext|>"), ended],
        "forced": [words.chain("\n", CALL[0]), ended],
        "endless": [words.chain("\n", " The", " time", " is", " now", "\n")],
        "babbler": [],
    }
    made = {name: folder / f"{name}.gguf" for name in chains}
    for name, path in made.items():
        make_model(words, path, template=template, chains=chains[name], context=32_768, name=f"Tiny {name}")
    return made


class RealServer:
    """One that runs."""

    def __init__(self, port: int, process: "subprocess.Popen[bytes]") -> None:
        self.port, self.process = port, process

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def get(self, path: str) -> Any:
        with urllib.request.urlopen(self.base_url + path, timeout=WAIT_S) as answer:
            return json.loads(answer.read())

    @property
    def working(self) -> list[dict[str, Any]]:
        """The slots in which it generates."""
        return [slot for slot in self.get("/slots") if slot["is_processing"]]


@contextmanager
def running(
    command: Sequence[str], port: int, ready: str, environment: Mapping[str, str] | None = None
) -> Iterator[RealServer]:
    with subprocess.Popen(
        command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env={**os.environ, **(environment or {})}
    ) as process:
        server = RealServer(port, process)
        try:
            _wait(server, ready)
            yield server
        finally:
            process.kill()


def _wait(server: RealServer, ready: str) -> None:
    end = time.monotonic() + WAIT_S
    while True:
        assert server.process.poll() is None, "it ended by itself"
        try:
            server.get(ready)
        except OSError:
            assert time.monotonic() < end, "it never answered"
            time.sleep(0.05)
        else:
            return


def llama_server(built: Built, model: Path, *more: str, context: int = 4096) -> Any:
    """llama.cpp's own."""
    port = free_port()
    where = ("--host", "127.0.0.1", "--port", str(port), "--ctx-size", str(context), "--jinja", "--offline")
    return running((str(built.program), "--model", str(model), *where, *more), port, "/v1/models")


def python_server(built: Built, model: Path, *, context: int = 4096) -> Any:
    """The one of llama-cpp-python."""
    port = free_port()
    options = ("--model", str(model), "--port", str(port), "--n_ctx", str(context))
    environment = {"LLAMA_CPP_LIB_PATH": str(built.program.parent), "PYTHONPATH": str(built.package)}
    return running((str(built.python), "-m", "llama_cpp.server", *options), port, "/v1/models", environment)
