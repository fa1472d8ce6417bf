"""Run by the interpreter of a finished folder: everything that our code imports is there, and each kind of process that
Assent starts does start, and answers. Prints what is wrong, a line each.

Usage: python -I probe.py NAME…; NAMES are the modules to import.
"""

import asyncio
import importlib
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from desktop.domain.code import CodeLimits
from desktop.domain.processes import ChildRefused
from desktop.workers import (
    acp_child,
    document_child,
    fence_child,
    file_search_child,
    keyring_child,
    mcp_child,
    model_child,
    picture_child,
    web_child,
)
from desktop.workers.child import ChildProcess, ChildSpec
from desktop.workers.js_code.process import CodeProcess, WorkerSpec

PATIENCE_S = 60.0


def main(names: list[str]) -> int:
    """0 when nothing is wrong."""
    wrong = [*_not_imported(names), *asyncio.run(_not_started())]
    for line in wrong:
        print(line)
    return 1 if wrong else 0


def _not_imported(names: list[str]) -> list[str]:
    wrong = []
    for name in names:
        try:
            importlib.import_module(name)
        except Exception as error:  # noqa: BLE001 - whatever it is, the package is not whole
            wrong.append(f"{name} cannot be imported: {type(error).__name__}: {error}")
    return wrong


def hosts(handle: int) -> dict[str, Callable[[], ChildProcess]]:
    """Each by what it is called; ``handle`` is the open file of those that read one."""
    skill = Path(model_child.__file__).parent / "python_skill" / "__main__.py"
    argv = (sys.executable, "-I", "-S", "-B", "-X", "utf8", str(skill))
    return {
        "model host": lambda: model_child.model_host(secrets=tuple),
        "MCP host": lambda: mcp_child.mcp_host(secrets=tuple),
        "ACP host": lambda: acp_child.acp_host(secrets=tuple),
        "keyring host": keyring_child.keyring_host,
        "file search": file_search_child.file_search,
        "web host": web_child.web_host,
        "update host": lambda: web_child.update_host([tempfile.gettempdir()]),
        "fence host": fence_child.fence_host,
        "picture host": lambda: picture_child.picture_host(handle),
        "document host": lambda: document_child.document_host(handle),
        "result host": lambda: document_child.result_host(handle),
        "Python skill": lambda: ChildProcess(ChildSpec("skill-worker", argv, {}, once=True)),
    }


async def _not_started() -> list[str]:
    wrong = []
    with tempfile.TemporaryFile() as file:
        file.write(b"words\n")
        file.seek(0)
        for name, make in hosts(file.fileno()).items():
            said = await _answer(make())
            if said:
                wrong.append(f"The {name} does not start: {said}")
    with tempfile.TemporaryDirectory() as folder:
        try:
            worker = await CodeProcess.start(WorkerSpec(folder), CodeLimits())
            await worker.end()
        except Exception as error:  # noqa: BLE001 - as above
            wrong.append(f"The code sandbox does not start: {error}")
    return wrong


async def _answer(child: ChildProcess) -> str:
    """Empty when it is there: it refuses a method that nobody has."""
    try:
        await child.call("is-anybody-there", timeout=PATIENCE_S)
    except ChildRefused:
        return ""
    except Exception as error:  # noqa: BLE001 - as above
        health = child.health
        return " ".join(f"{type(error).__name__}: {error} {health.last_end} {health.detail}".split())[:600]
    finally:
        await child.stop()
    return "it does what nobody knows"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
