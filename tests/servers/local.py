"""What local model servers answer to those who look for them, and the model lists of providers.

A space's ``local`` says what is there: ``{"ollama": {"models": [{"name", "size", "context", "num_ctx", "loaded"}]},
"lmstudio": {...}, "llamacpp": {...}, "vllm": {...}, "list": {"status", "body"}, "slow": seconds}``. Of llama.cpp:
its ``/props``; ``props_of`` a model, for a router that answers for a loaded one only. Like ``list``: ``info``
(LiteLLM's proxy), ``key`` (OpenRouter's check), ``foundation`` and ``profiles`` (Amazon); ``deployments`` are Azure's.
"""

import asyncio
import base64
from collections.abc import Callable, Mapping
from typing import Any

from aiohttp import web

from tests.servers.signed import signed_well

Local = Callable[[web.Request], dict[str, Any]]
Log = Callable[[web.Request], list[dict[str, Any]]]


def lowered(headers: Mapping[str, str]) -> dict[str, str]:
    """Headers under names in lower case, as HTTP means them."""
    return {name.lower(): value for name, value in headers.items()}


class LocalServers:
    """The endpoints of the four local servers, and of a provider's model list."""

    def __init__(self, local: Local, log: Log) -> None:
        self._local = local
        self._log = log

    async def _about(self, request: web.Request, kind: str) -> dict[str, Any]:
        local = self._local(request)
        await asyncio.sleep(local.get("slow", 0))
        self._log(request).append({"path": request.path, "headers": lowered(request.headers), "outcome": "listed"})
        if "raw_base64" in local:
            raise web.HTTPOk(body=base64.b64decode(local["raw_base64"]), content_type="application/json")
        if kind not in local:
            raise web.HTTPNotFound
        return dict(local[kind])

    async def ollama_tags(self, request: web.Request) -> web.Response:
        about = await self._about(request, "ollama")
        far = ("remote_host", "remote_model")
        models = [
            {
                "name": m["name"],
                "model": m["name"],
                "size": m.get("size", 0),
                **{key: m[key] for key in far if key in m},
            }
            for m in about["models"]
        ]
        return web.json_response({"models": models})

    async def ollama_show(self, request: web.Request) -> web.Response:
        about = await self._about(request, "ollama")
        wanted = (await request.json()).get("model")
        model = next((m for m in about["models"] if m["name"] == wanted), None)
        if model is None:
            raise web.HTTPNotFound
        body: dict[str, Any] = {
            "model_info": {"general.architecture": "qwen3", "qwen3.context_length": model.get("context", 131072)},
            "capabilities": model.get("capabilities", ["completion", "tools"]),
        }
        if "num_ctx" in model:
            body["parameters"] = f'stop                   "<|im_end|>"\nnum_ctx                {model["num_ctx"]}'
        return web.json_response(body)

    async def ollama_ps(self, request: web.Request) -> web.Response:
        about = await self._about(request, "ollama")
        loaded = [m for m in about["models"] if "loaded" in m]
        models = [{"name": m["name"], "model": m["name"], "context_length": m["loaded"]} for m in loaded]
        return web.json_response({"models": models})

    async def lmstudio(self, request: web.Request) -> web.Response:
        return web.json_response({"data": (await self._about(request, "lmstudio"))["models"]})

    async def llamacpp(self, request: web.Request) -> web.Response:
        wanted = request.query.get("model")
        if wanted is None:
            return web.json_response(await self._about(request, "llamacpp"))
        if request.query.get("autoload") != "false":
            raise web.HTTPInternalServerError(text="asking loaded a model")
        of = (await self._about(request, "props_of")).get(wanted)
        if of is None:
            return web.json_response({"error": {"code": 400, "message": "model is not loaded"}}, status=400)
        return web.json_response(of)

    async def models(self, request: web.Request) -> web.Response:
        listed = self._local(request).get("list")
        if listed is not None:
            return self._listed(request, listed)
        about = await self._about(request, "vllm")
        return web.json_response({"object": "list", "data": about["models"]})

    async def info(self, request: web.Request) -> web.Response:
        return self._listed(request, self._local(request).get("info") or {"status": 404})

    async def key(self, request: web.Request) -> web.Response:
        """OpenRouter lists its models to anyone; this needs the key."""
        return self._listed(request, self._local(request).get("key") or {"body": {"data": {"label": "test"}}})

    async def foundation_models(self, request: web.Request) -> web.Response:
        return self._listed(request, self._local(request).get("foundation") or {"status": 404})

    async def inference_profiles(self, request: web.Request) -> web.Response:
        return self._listed(request, self._local(request).get("profiles") or {"status": 403})

    async def azure_without_messages(self, request: web.Request) -> web.Response:
        """Refused for what is wrong first: the key, the deployment, the missing messages."""
        local = self._local(request)
        if request.headers.get("api-key") != local.get("azure_key"):
            error = {"code": "401", "message": "Access denied due to invalid subscription key or wrong API endpoint."}
            return self._listed(request, {"status": 401, "body": {"error": error}})
        if request.match_info["deployment"] not in local.get("deployments", ()):
            error = {"code": "DeploymentNotFound", "message": "The API deployment for this resource does not exist."}
            return self._listed(request, {"status": 404, "body": {"error": error}})
        error = {"message": "Invalid 'messages': empty array.", "param": "messages", "code": "empty_array"}
        return self._listed(request, {"status": 400, "body": {"error": error}})

    def _listed(self, request: web.Request, answer: dict[str, Any]) -> web.Response:
        self._log(request).append(
            {
                "path": request.path,
                "headers": lowered(request.headers),
                "outcome": "listed",
                "signed_well": signed_well(request, b""),
            }
        )
        return web.json_response(answer.get("body"), status=answer.get("status", 200), headers=answer.get("headers"))


def local_routes(local: Local, log: Log) -> list[web.RouteDef]:
    servers = LocalServers(local, log)
    return [
        web.get("/s/{space}/api/tags", servers.ollama_tags),
        web.post("/s/{space}/api/show", servers.ollama_show),
        web.get("/s/{space}/api/ps", servers.ollama_ps),
        web.get("/s/{space}/api/v0/models", servers.lmstudio),
        web.get("/s/{space}/props", servers.llamacpp),
        web.get("/s/{space}/v1/models", servers.models),
        web.get("/s/{space}/v1/model/info", servers.info),
        web.get("/s/{space}/v1beta/models", servers.models),
        web.get("/s/{space}/api/v1/models", servers.models),
        web.get("/s/{space}/api/v1/key", servers.key),
        web.get("/s/{space}/foundation-models", servers.foundation_models),
        web.get("/s/{space}/inference-profiles", servers.inference_profiles),
    ]
