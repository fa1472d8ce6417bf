"""Local model servers on this machine, and what they really give: never the context a model could have elsewhere.

Each finder gets a base address and returns plain model records
``{"id", "title", "context", "max_output", "size", "tools", "vision"}``; unknown is None.
"""

from __future__ import annotations

import asyncio
import contextlib
import re
import urllib.parse
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

from desktop.workers.model_host import capabilities
from desktop.workers.model_host.http import HttpAnswer, Unreachable, fetch
from desktop.workers.model_host.limits import MODELS_MAX
from desktop.workers.model_host.refusals import AnswerRefused

TIMEOUT = 2.0  # seconds for each question to a local server
MOST = 1 << 53  # of a size or a number of tokens: what no computer has is no number that a server can mean
Record = dict[str, Any]


class NotThis(Exception):
    """Something answers, but not the server that was looked for."""


def record(model_id: str, **known: Any) -> Record:
    """A model record with everything else unknown."""
    base = dict.fromkeys(("context", "max_output", "size", "tools", "vision", "input_price", "output_price"))
    return {"id": model_id[:300], "title": str(known.pop("title", model_id))[:300], **base, **known}


def positive(value: Any) -> int | None:
    """``value`` if it is a whole number above zero, and such as there can be."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)  # as LiteLLM writes sizes
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 < value <= MOST else None


def rows(answer: HttpAnswer, name: str) -> list[Mapping[str, Any]]:
    """The list of objects under ``name``. Raises NotThis when the answer is not of that shape."""
    found = answer.body.get(name) if isinstance(answer.body, dict) and answer.status == 200 else None
    if not isinstance(found, list):
        raise NotThis
    return [row for row in found[:MODELS_MAX] if isinstance(row, dict)]


async def _ollama(base: str) -> list[Record]:
    """Loaded models have the context that ``/api/ps`` states; others the ``num_ctx`` of their Modelfile, if any."""
    tags = rows(await fetch(base + "/api/tags", timeout=TIMEOUT), "models")
    loaded = await _ollama_loaded(base)
    gate = asyncio.Semaphore(4)

    async def one(row: Mapping[str, Any]) -> Record:
        if place := row.get("remote_host") or row.get("remote_model"):
            return {"elsewhere": _host(place)}  # a model of its cloud, to which it would pass everything on
        name = str(row.get("name") or row.get("model") or "")
        async with gate:
            about = await _ollama_show(base, name)
        context = loaded.get(name) or about.pop("num_ctx", None)
        return record(name, context=context, size=positive(row.get("size")), **about)

    return list(await asyncio.gather(*(one(row) for row in tags[:200])))


def _host(place: Any) -> str:
    return urllib.parse.urlsplit(str(place)).hostname or "another computer"


async def _ollama_loaded(base: str) -> dict[str, int]:
    try:
        running = rows(await fetch(base + "/api/ps", timeout=TIMEOUT), "models")
    except (Unreachable, NotThis, AnswerRefused):
        return {}
    return {str(r.get("name")): context for r in running if (context := positive(r.get("context_length")))}


async def _ollama_show(base: str, name: str) -> Record:
    try:
        answer = await fetch(base + "/api/show", body={"model": name}, timeout=TIMEOUT)
    except (Unreachable, AnswerRefused):
        return {}
    body = answer.body if isinstance(answer.body, dict) else {}
    about: Record = {}
    if stated := re.search(r"^num_ctx\s+(\d{1,9})\s*$", str(body.get("parameters") or ""), re.MULTILINE):
        about["num_ctx"] = int(stated[1])
    if isinstance(able := body.get("capabilities"), list):
        about |= {"tools": "tools" in able, "vision": "vision" in able, **capabilities.ollama(name, able)}
    return about


async def _lmstudio(base: str) -> list[Record]:
    """Only a loaded model has a context; what it could have is not what it gives."""
    found = rows(await fetch(base + "/api/v0/models", timeout=TIMEOUT), "data")
    return [
        record(
            str(row.get("id")),
            context=positive(row.get("loaded_context_length")),
            vision=row.get("type") == "vlm",
            tools=True if "tool_use" in (row.get("capabilities") or ()) else None,
            structured=True,
        )
        for row in found
        if row.get("id") and row.get("type") != "embeddings"
    ]


async def _llamacpp(base: str) -> list[Record]:
    """llama-server with one model or as a router of many, and llama_cpp.server (of llama-cpp-python), which has no
    ``/props``. What ``/v1/models`` lists counts: a router's ``/props`` names a model that does not exist."""
    props = await fetch(base + "/props", timeout=TIMEOUT)
    if props.status == 401:
        raise NotThis("a server that wants a key")
    settings = _settings(props)
    try:
        found = rows(await fetch(base + "/v1/models", timeout=TIMEOUT), "data")
    except NotThis:
        found = []
    if settings is None and not (found and all(row.get("owned_by") in _LLAMACPP_OWNERS for row in found)):
        raise NotThis
    if settings is not None and props.body.get("role") == "router":
        gate = asyncio.Semaphore(4)
        made = await asyncio.gather(*(_llamacpp_routed(base, row, gate) for row in found[:200]))
        return [one for one in made if one is not None]
    own = found or [{"id": _file_name(props.body.get("model_alias") or props.body.get("model_path") or "model")}]
    return [_llamacpp_model(row, props) for row in own if row.get("id")]


OWN_SERVER = "me"
"""What llama_cpp.server says that its models belong to. It refuses an answer that is to be held to a schema."""
_LLAMACPP_OWNERS = ("llamacpp", OWN_SERVER)


def _settings(props: HttpAnswer) -> Mapping[str, Any] | None:
    settings = props.body.get("default_generation_settings") if isinstance(props.body, dict) else None
    return settings if props.status == 200 and isinstance(settings, dict) else None


def _file_name(path: Any) -> str:
    return re.split(r"[/\\]", str(path))[-1]


async def _llamacpp_routed(base: str, row: Mapping[str, Any], gate: asyncio.Semaphore) -> Record | None:
    """A model of a router; None for one that cannot chat. Only a loaded one has a context; none is loaded by asking."""
    state = row.get("status")
    value = str(state.get("value") if isinstance(state, dict) else "")
    kinds = row.get("architecture")
    makes = kinds.get("output_modalities") if isinstance(kinds, dict) else None
    if not row.get("id") or value == "downloading" or (isinstance(makes, list) and "text" not in makes):
        return None
    model, props = _llamacpp_model(row), None
    if model["context"] is None and value in ("loaded", "sleeping"):
        asked = urllib.parse.urlencode({"model": str(row["id"]), "autoload": "false"})
        async with gate:
            with contextlib.suppress(Unreachable, AnswerRefused):
                props = await fetch(f"{base}/props?{asked}", timeout=TIMEOUT)
    return _llamacpp_model(row, props) if props else model


def _llamacpp_model(row: Mapping[str, Any], props: HttpAnswer | None = None) -> Record:
    """A model of llama.cpp's list; ``props`` are this very model's. Its id can be the whole path of a file, of which
    the title shows the name."""
    settings = (_settings(props) if props else None) or {}
    name, meta, kinds = str(row["id"]), row.get("meta"), row.get("architecture")
    meta = meta if isinstance(meta, dict) else {}
    vision = None
    if isinstance(kinds, dict) and isinstance(kinds.get("input_modalities"), list):
        vision = "image" in kinds["input_modalities"]
    elif props and settings and isinstance(modalities := props.body.get("modalities"), dict):
        vision = modalities.get("vision") is True
    return record(
        name,
        title=_file_name(name) if name.endswith(".gguf") else name,
        vision=vision,
        context=positive(meta.get("n_ctx")) or positive(settings.get("n_ctx")),
        size=positive(meta.get("size")),
        **(
            capabilities.llamacpp(props.body)
            if props and settings
            else {"structured": row.get("owned_by") != OWN_SERVER}
        ),
    )


async def _vllm(base: str) -> list[Record]:
    found = rows(await fetch(base + "/v1/models", timeout=TIMEOUT), "data")
    own = [row for row in found if "max_model_len" in row or row.get("owned_by") == "vllm"]
    if found and not own:
        raise NotThis
    sizes = [(str(row["id"]), positive(row.get("max_model_len"))) for row in own if row.get("id")]
    return [record(name, context=size, structured=True) for name, size in sizes]


FINDERS: Mapping[str, Callable[[str], Awaitable[list[Record]]]] = {
    "ollama": _ollama,
    "lmstudio": _lmstudio,
    "llamacpp": _llamacpp,
    "vllm": _vllm,
}


async def find(kind: str, bases: Sequence[str]) -> Record:
    """What is at these addresses of one kind of server: the first that answers as one."""
    finder = FINDERS[kind]
    outcomes = await asyncio.gather(*(_ask(finder, base) for base in bases))
    for base, models, _ in outcomes:
        if models is not None:
            here = [model for model in models if "elsewhere" not in model]
            note = _left_out([model["elsewhere"] for model in models if "elsewhere" in model])
            return {"kind": kind, "base_url": base, "running": True, "models": here, "problem": "", "note": note}
    odd = next((base for base, _, said in outcomes if said), bases[0] if bases else "")
    problem = next((said for _, _, said in outcomes if said), "")
    return {"kind": kind, "base_url": odd, "running": False, "models": [], "problem": problem}


def _left_out(places: Sequence[str]) -> str:
    """Said of models that only seem to be on this machine."""
    if not places:
        return ""
    where = ", ".join(sorted(set(places))[:3])
    if len(places) == 1:
        return f"1 of its models runs at {where}, not on this computer, and is left out."
    return f"{len(places)} of its models run at {where}, not on this computer, and are left out."


async def _ask(finder: Callable[[str], Awaitable[list[Record]]], base: str) -> tuple[str, list[Record] | None, str]:
    try:
        async with asyncio.timeout(TIMEOUT * 4):
            return base, await finder(base.rstrip("/")), ""
    except Unreachable:
        return base, None, ""
    except TimeoutError:
        return base, None, "It answers too slowly."
    except AnswerRefused as refused:
        return base, None, f"It sends requests on to {refused.detail}, which is not followed."
    except NotThis as other:
        return base, None, f"Another program answers there{f': {other}' if str(other) else ''}."


async def discover(servers: Mapping[str, Sequence[str]]) -> list[Record]:
    """All kinds asked at once, in their order. Where one kind answers, it is no problem that another does not: vLLM
    and llama_cpp.server have the same usual address."""
    wanted = [(kind, list(bases)) for kind, bases in servers.items() if kind in FINDERS]
    found = list(await asyncio.gather(*(find(kind, bases) for kind, bases in wanted)))
    taken = {_port(one["base_url"]) for one in found if one["running"]}
    for one in found:
        if not one["running"] and _port(one["base_url"]) in taken:
            one["problem"], one["base_url"] = "", next(iter(servers[one["kind"]]))
    return found


def _port(base: str) -> str:
    """What follows the host: a server is reached under several names of this machine."""
    return base.rpartition(":")[2]
