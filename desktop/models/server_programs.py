"""Programs of model servers that are installed here, and exactly how each would be started.

Nothing runs here: a plan is shown to a person first. Servers listen on this computer alone, and fetch nothing.
"""

from __future__ import annotations

import os
import shutil
import socket
from collections.abc import Mapping
from dataclasses import replace

from desktop.domain.errors import KnownError
from desktop.domain.servers.starting import PROGRAMS, STARTABLE, ModelFile, StartChoice, StartKind, StartPlan
from desktop.systems import current

USUAL_PORTS: Mapping[StartKind, int] = {"llamacpp": 8080, "ollama": 11434}
PORTS_TRIED = 20
_MORE_FOLDERS = ("~/.local/bin", "/usr/local/bin", "/opt/homebrew/bin", "/usr/bin", "/snap/bin")
_MAC_OLLAMA = "/Applications/Ollama.app/Contents/Resources/ollama"

_PASSED = (
    *("PATH", "HOME", "USER", "LANG", "LC_ALL", "TMPDIR", "TZ", "XDG_CACHE_HOME", "XDG_RUNTIME_DIR"),
    *("LD_LIBRARY_PATH", "SYSTEMROOT", "TEMP", "TMP", "USERPROFILE", "LOCALAPPDATA"),
    *("CUDA_VISIBLE_DEVICES", "CUDA_DEVICE_ORDER", "HIP_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES"),
    *("HSA_OVERRIDE_GFX_VERSION", "GGML_VK_VISIBLE_DEVICES", "ZES_ENABLE_SYSMAN", "OLLAMA_MODELS"),
)
"""What a server gets of our environment: where things are, and which graphics card it takes. No key is among it."""


def installed(host: Mapping[str, str]) -> dict[StartKind, str]:
    """Where the programs are that can be started, by kind. Blocks a little."""
    folders = [f for f in host.get("PATH", os.defpath).split(os.pathsep) if os.path.isabs(f)]
    path = os.pathsep.join((*folders, *(os.path.expanduser(folder) for folder in _MORE_FOLDERS)))
    found = {kind: shutil.which(PROGRAMS[kind], path=path) for kind in STARTABLE}
    found["ollama"] = found["ollama"] or shutil.which(_MAC_OLLAMA)
    return {kind: place for kind, place in found.items() if place}


def environment(host: Mapping[str, str], plan: StartPlan) -> dict[str, str]:
    """The whole environment of a server."""
    own = {name: host.get(f"{name}_ORIG", host.get(name, "")) for name in _PASSED}  # as before a packaged launcher
    return {**{name: value for name, value in own.items() if value}, **plan.variables}


def plan(choice: StartChoice, program: str, file: ModelFile | None, usual: int) -> StartPlan:
    """What would be run. Looks for a free port, the usual one first. Raises KnownError."""
    port = next((port for port in range(usual, usual + PORTS_TRIED) if is_free(port)), None)
    if port is None:
        last = usual + PORTS_TRIED - 1
        raise KnownError(f"The ports {usual} to {last} are all taken by other programs.", code="models.port")
    note = "" if port == usual else f"Another program has port {usual}, so it gets port {port}."
    if choice.kind == "ollama":
        return _ollama(choice, program, port, note)
    return _llamacpp(choice, program, port, note, file)


def _ollama(choice: StartChoice, program: str, port: int, note: str) -> StartPlan:
    variables = {"OLLAMA_HOST": f"127.0.0.1:{port}", "OLLAMA_NO_CLOUD": "1"}
    if choice.context:
        variables["OLLAMA_CONTEXT_LENGTH"] = str(choice.context)
    return StartPlan(choice, (program, "serve"), variables, port, note)


def _llamacpp(choice: StartChoice, program: str, port: int, note: str, file: ModelFile | None) -> StartPlan:
    if file is None:
        raise KnownError("Choose the file of a model first: one that ends in .gguf.", code="models.file")
    context = choice.context
    if file.trained is not None and context > file.trained:
        context = file.trained
        note = f"{note} The model was trained for {context:,} tokens, so it gets no more.".strip()
    eyes = ("--mmproj", file.sees_with) if file.sees_with else ()
    argv = (program, "--model", file.path, *eyes, "--ctx-size", str(context), "--host", "127.0.0.1")
    # as variables, which a program too old for them leaves alone: fetch nothing, and answer no page of a browser
    variables = {"LLAMA_ARG_OFFLINE": "1", "LLAMA_ARG_CORS_ORIGINS": "localhost"}
    choice = replace(choice, file=file.path, context=context, sees_with=file.sees_with)
    return StartPlan(choice, (*argv, "--port", str(port), "--jinja"), variables, port, note)


def is_free(port: int) -> bool:
    """Whether a server could listen there, on this computer."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as tried:
        if not current.WINDOWS:  # there it would let two programs have one port
            tried.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            tried.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True
