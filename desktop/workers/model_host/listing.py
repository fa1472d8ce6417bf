"""The models of a connection, by one plain request to its provider; the same request tests a key.

Raises CallError with the codes of failures.py.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from desktop.workers.inside import CallError
from desktop.workers.model_host.asking import ask, checked
from desktop.workers.model_host.clouds import Place, azure_deployment, bedrock_models
from desktop.workers.model_host.discovery import FINDERS, NotThis, Record, positive, record
from desktop.workers.model_host.http import Unreachable
from desktop.workers.model_host.limits import MODELS_MAX
from desktop.workers.model_host.refusals import Refused


@dataclass(frozen=True, slots=True)
class Listing:
    """Where a provider lists its models: default address, path, how the key travels, how to read a row."""

    base: str
    path: str
    auth: Callable[[str], dict[str, str]]
    rows: str
    read: Callable[[Mapping[str, Any]], Record | None]
    checks_key: str = ""  # a path that needs the key, where the list itself does not


def _bearer(key: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {key}"} if key else {}


def _openai(row: Mapping[str, Any]) -> Record | None:
    name = str(row.get("id") or "")
    others = ("embedding", "whisper", "tts", "dall-e", "moderation", "image", "audio", "realtime", "transcribe", "sora")
    return record(name) if name and not any(word in name for word in others) else None


def _plain(row: Mapping[str, Any]) -> Record | None:
    context = positive(row.get("max_model_len")) or positive(row.get("max_context_length"))
    return record(str(row["id"]), context=context) if row.get("id") else None


def _mistral(row: Mapping[str, Any]) -> Record | None:
    able = row.get("capabilities") or {}
    if not able.get("completion_chat", True):
        return None
    return record(
        str(row.get("id")), context=positive(row.get("max_context_length")),
        tools=able.get("function_calling"), vision=able.get("vision"),
    )  # fmt: skip


def _anthropic(row: Mapping[str, Any]) -> Record | None:
    return record(str(row.get("id")), title=row.get("display_name") or row.get("id"))


def _gemini(row: Mapping[str, Any]) -> Record | None:
    if "generateContent" not in (row.get("supportedGenerationMethods") or ()):
        return None
    return record(
        str(row.get("name", "")).removeprefix("models/"), title=row.get("displayName") or row.get("name"),
        context=positive(row.get("inputTokenLimit")), max_output=positive(row.get("outputTokenLimit")),
    )  # fmt: skip


def _openrouter(row: Mapping[str, Any]) -> Record | None:
    prices = row.get("pricing") or {}
    return record(
        str(row.get("id")), title=row.get("name") or row.get("id"), context=positive(row.get("context_length")),
        tools="tools" in (row.get("supported_parameters") or ()),
        input_price=_per_million(prices.get("prompt")), output_price=_per_million(prices.get("completion")),
    )  # fmt: skip


def _per_million(price: Any) -> float | None:
    try:
        value = float(price) * 1_000_000
    except (TypeError, ValueError):
        return None
    return round(value, 6) if value >= 0 else None


LISTINGS: Mapping[str, Listing] = {
    "openai": Listing("https://api.openai.com/v1", "/models", _bearer, "data", _openai),
    "openai_compatible": Listing("", "/models", _bearer, "data", _plain),
    "mistral": Listing("https://api.mistral.ai/v1", "/models", _bearer, "data", _mistral),
    "openrouter": Listing("https://openrouter.ai/api/v1", "/models", _bearer, "data", _openrouter, "/key"),
    "anthropic": Listing(
        "https://api.anthropic.com", "/v1/models?limit=1000",
        lambda key: {"x-api-key": key, "anthropic-version": "2023-06-01"}, "data", _anthropic,
    ),
    "gemini": Listing(
        "https://generativelanguage.googleapis.com/v1beta", "/models?pageSize=1000",
        lambda key: {"x-goog-api-key": key}, "models", _gemini,
    ),
}  # fmt: skip


SPECIAL = {"azure": azure_deployment, "bedrock": bedrock_models, "bedrock_access_key": bedrock_models}


async def list_models(params: Mapping[str, Any]) -> list[Record]:
    """``provider``, ``key``, ``more`` secrets, ``base_url`` and ``options`` in, model records out."""
    provider, base, key = str(params.get("provider")), str(params.get("base_url") or ""), str(params.get("key") or "")
    if provider in FINDERS:
        return await _local(provider, base)
    options = {str(name): str(value) for name, value in (params.get("options") or {}).items()}
    place = Place(base, key, params.get("more") or {}, options)
    if provider in SPECIAL:
        return await SPECIAL[provider](place)
    listing = LISTINGS.get(provider)
    if listing is None:
        raise CallError("model.bad_request", f"Models of {provider} cannot be listed.")
    return await _listed(listing, place)


async def _listed(listing: Listing, place: Place) -> list[Record]:
    async def get(path: str) -> dict[str, Any]:
        return checked(await ask(place.url(listing.base, path), listing.auth(place.key), place.secrets), place.secrets)

    if listing.checks_key:
        await get(listing.checks_key)
    found = (await get(listing.path)).get(listing.rows)
    if not isinstance(found, list):
        raise CallError("model.bad_request", "", {"detail": "the server's list of models has an unknown form"})
    read = [listing.read(row) for row in found[:MODELS_MAX] if isinstance(row, dict)]
    return [row for row in read if row is not None]


async def _local(provider: str, base: str) -> list[Record]:
    try:
        return await FINDERS[provider](base.rstrip("/"))
    except Unreachable as error:
        raise CallError("model.unreachable", "", {"detail": str(error)}) from None
    except Refused as refused:
        raise CallError(refused.code, "", {"detail": refused.detail}) from None
    except NotThis:
        raise CallError("model.unreachable", "", {"detail": "another program answers there"}) from None
