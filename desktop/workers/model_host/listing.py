"""The models of a connection, by one plain request to its provider; the same request tests a key.

Raises CallError with the codes of failures.py.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from desktop.workers.inside import CallError
from desktop.workers.model_host import capabilities
from desktop.workers.model_host.asking import ask, checked
from desktop.workers.model_host.clouds import CloudPlace, azure_deployment, bedrock_models
from desktop.workers.model_host.discovery import FINDERS, NotThis, Record, positive, record
from desktop.workers.model_host.http import Unreachable, fetch
from desktop.workers.model_host.limits import MODELS_MAX
from desktop.workers.model_host.refusals import AnswerRefused

_TIMEOUT = 5.0  # seconds for what is good to know and not needed


@dataclass(frozen=True, slots=True)
class ModelListing:
    """Where a provider lists its models."""

    base: str
    """The default address."""
    path: str
    """The path of the list."""
    auth: Callable[[str], dict[str, str]]
    """How the key travels."""
    rows: str
    """Where the rows stand in the answer."""
    read: Callable[[Mapping[str, Any]], Record | None]
    """Reads one row."""
    checks_key: str = ""
    """A path that needs the key, where the list itself does not; or ""."""
    sizes: str = ""
    """A path that may state sizes, asked where the list states none; or ""."""


def _bearer(key: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {key}"} if key else {}


def _openai(row: Mapping[str, Any]) -> Record | None:
    name = str(row.get("id") or "")
    others = ("embedding", "whisper", "tts", "dall-e", "moderation", "image", "audio", "realtime", "transcribe", "sora")
    return record(name) if name and not any(word in name for word in others) else None


_CONTEXT = ("max_model_len", "max_context_length", "context_length", "context_window", "max_input_tokens")
"""What vLLM; Mistral and LM Studio; OpenRouter, Together and Fireworks; Groq; and LiteLLM call it."""
_OUTPUT = ("max_output_tokens", "max_completion_tokens")
_NO_TEXT = frozenset(
    {
        "embedding",
        "embeddings",
        "image",
        "image_generation",
        "audio",
        "audio_transcription",
        "audio_speech",
        "transcribe",
        "moderation",
        "rerank",
        "video",
        "video_generation",
        "ocr",
        "search",
        "vector_store",
    }
)
"""Kinds of models (``type`` of Together, ``mode`` of LiteLLM) that nobody can chat with."""


def _plain(row: Mapping[str, Any]) -> Record | None:
    kinds = {str(row.get(name)).lower() for name in ("type", "mode")}
    if not row.get("id") or kinds & _NO_TEXT or row.get("supports_chat") is False:
        return None
    meta = row.get("meta")
    context = _first(row, _CONTEXT) or (positive(meta.get("n_ctx")) if isinstance(meta, dict) else None)
    return record(str(row["id"]), context=context, max_output=_first(row, _OUTPUT))


def _first(row: Mapping[str, Any], names: Sequence[str]) -> int | None:
    return next((size for name in names if (size := positive(row.get(name)))), None)


def _mistral(row: Mapping[str, Any]) -> Record | None:
    able = row.get("capabilities") or {}
    if not able.get("completion_chat", True):
        return None
    return record(
        str(row.get("id")),
        context=positive(row.get("max_context_length")),
        tools=able.get("function_calling"),
        vision=able.get("vision"),
    )


def _anthropic(row: Mapping[str, Any]) -> Record | None:
    context, output = positive(row.get("max_input_tokens")), positive(row.get("max_tokens"))
    title = row.get("display_name") or row.get("id")
    return record(str(row.get("id")), title=title, context=context, max_output=output, **capabilities.anthropic(row))


def _gemini(row: Mapping[str, Any]) -> Record | None:
    if "generateContent" not in (row.get("supportedGenerationMethods") or ()):
        return None
    return record(
        str(row.get("name", "")).removeprefix("models/"),
        title=row.get("displayName") or row.get("name"),
        context=positive(row.get("inputTokenLimit")),
        max_output=positive(row.get("outputTokenLimit")),
        **capabilities.gemini(row),
    )


def _openrouter(row: Mapping[str, Any]) -> Record | None:
    prices = row.get("pricing") or {}
    return record(
        str(row.get("id")),
        title=row.get("name") or row.get("id"),
        context=positive(row.get("context_length")),
        tools="tools" in (row.get("supported_parameters") or ()),
        **_senses_of(row.get("architecture")),
        input_price=_per_million(prices.get("prompt")),
        output_price=_per_million(prices.get("completion")),
        **capabilities.openrouter(row),
    )


def _senses_of(about: Any) -> dict[str, bool]:
    kinds = about.get("input_modalities") if isinstance(about, dict) else None
    return {"vision": "image" in kinds, "hearing": "audio" in kinds} if isinstance(kinds, list) else {}


def _per_million(price: Any) -> float | None:
    try:
        value = float(price) * 1_000_000
    except (TypeError, ValueError):
        return None
    return round(value, 6) if value >= 0 else None


LISTINGS: Mapping[str, ModelListing] = {
    "openai": ModelListing("https://api.openai.com/v1", "/models", _bearer, "data", _openai),
    "openai_compatible": ModelListing("", "/models", _bearer, "data", _plain, sizes="/model/info"),
    "mistral": ModelListing("https://api.mistral.ai/v1", "/models", _bearer, "data", _mistral),
    "openrouter": ModelListing("https://openrouter.ai/api/v1", "/models", _bearer, "data", _openrouter, "/key"),
    "anthropic": ModelListing(
        "https://api.anthropic.com",
        "/v1/models?limit=1000",
        lambda key: {"x-api-key": key, "anthropic-version": "2023-06-01"},
        "data",
        _anthropic,
    ),
    "gemini": ModelListing(
        "https://generativelanguage.googleapis.com/v1beta",
        "/models?pageSize=1000",
        lambda key: {"x-goog-api-key": key},
        "models",
        _gemini,
    ),
}


SPECIAL = {"azure": azure_deployment, "bedrock": bedrock_models, "bedrock_access_key": bedrock_models}


async def list_models(params: Mapping[str, Any]) -> list[Record]:
    """``provider``, ``key``, ``more`` secrets, ``base_url`` and ``options`` in, model records out."""
    provider, base, key = str(params.get("provider")), str(params.get("base_url") or ""), str(params.get("key") or "")
    if provider in FINDERS:
        return await _local(provider, base)
    options = {str(name): str(value) for name, value in (params.get("options") or {}).items()}
    place = CloudPlace(base, key, params.get("more") or {}, options)
    if provider in SPECIAL:
        return await SPECIAL[provider](place)
    listing = LISTINGS.get(provider)
    if listing is None:
        raise CallError("model.bad_request", f"Models of {provider} cannot be listed.")
    return await _listed(listing, place)


async def _listed(listing: ModelListing, place: CloudPlace) -> list[Record]:
    async def get(path: str) -> Any:
        answer = await ask(place.url(listing.base, path), listing.auth(place.key), place.secrets)
        bare = answer.status == 200 and isinstance(answer.body, list)  # Together's list has nothing around it
        return {listing.rows: answer.body} if bare else checked(answer, place.secrets)

    if listing.checks_key:
        await get(listing.checks_key)
    found = (await get(listing.path)).get(listing.rows)
    if not isinstance(found, list):
        raise CallError("model.bad_request", "", {"detail": "the server's list of models has an unknown form"})
    read = [listing.read(row) for row in found[:MODELS_MAX] if isinstance(row, dict)]
    models = [row for row in read if row is not None]
    if listing.sizes and models and (not any(row["context"] for row in models) or _is_litellm(found)):
        about = await _about(place.url(listing.base, listing.sizes), listing.auth(place.key))
        models = [_joined(row, about.get(row["id"], {})) for row in models]
    return models


def _is_litellm(found: Sequence[Any]) -> bool:
    """A proxy of today states sizes in its list, and only beside it what else its models can do."""
    return any(isinstance(row, dict) and "max_input_tokens" in row for row in found[:MODELS_MAX])


def _joined(row: Record, about: Record) -> Record:
    """What the list says itself holds."""
    return {**row, **{name: value for name, value in about.items() if row.get(name) is None}}


async def _about(url: str, headers: Mapping[str, str]) -> dict[str, Record]:
    """By model, what a LiteLLM proxy says beside its list; nothing from any other server. One name can stand for
    several models that take turns: the smallest size holds for all of them, and what each of them can do."""
    try:
        answer = await fetch(url, headers=headers, timeout=_TIMEOUT)
    except (Unreachable, AnswerRefused):
        return {}
    found = answer.body.get("data") if answer.status == 200 and isinstance(answer.body, dict) else None
    sizes: dict[str, Record] = {}
    for row in found[:MODELS_MAX] if isinstance(found, list) else ():
        about = row.get("model_info") if isinstance(row, dict) else None
        if not isinstance(about, dict):
            continue
        known = sizes.setdefault(str(row.get("model_name")), {})
        for name, stated in (("context", "max_input_tokens"), ("max_output", "max_output_tokens")):
            if size := positive(about.get(stated)):
                known[name] = min(size, known.get(name, size))
        for name, stated in (
            ("vision", "supports_vision"),
            ("tools", "supports_function_calling"),
            ("hearing", "supports_audio_input"),
        ):
            if isinstance(about.get(stated), bool):
                known[name] = about[stated] and known.get(name, True)
    return sizes


async def _local(provider: str, base: str) -> list[Record]:
    try:
        return await FINDERS[provider](base.rstrip("/"))
    except Unreachable as error:
        raise CallError("model.unreachable", "", {"detail": str(error)}) from None
    except AnswerRefused as refused:
        raise CallError(refused.code, "", {"detail": refused.detail}) from None
    except NotThis:
        raise CallError("model.unreachable", "", {"detail": "another program answers there"}) from None
