"""What Azure and Amazon offer a person: neither has one plain list of what can be used.

Azure has deployments, which only a request to one can test. Amazon has models, of which the newer are reached through
inference profiles only.
"""

from __future__ import annotations

import asyncio
import importlib
import re
import urllib.parse
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from desktop.workers.model_host.asking import address, ask, checked
from desktop.workers.model_host.discovery import Record, record
from desktop.workers.model_host.http import HttpAnswer
from desktop.workers.model_host.limits import MODELS_MAX

_DEPLOYMENT = "/openai/deployments/{deployment}/chat/completions?api-version={api_version}"
_BEDROCK = "https://bedrock.{region}.amazonaws.com"
_PROFILES = "/inference-profiles?maxResults=1000&typeEquals=SYSTEM_DEFINED"


@dataclass(frozen=True, slots=True)
class CloudPlace:
    """A connection as it comes over the pipe; ``base`` is "" for the provider's own address."""

    base: str
    key: str = field(repr=False)
    more: Mapping[str, str] = field(repr=False)
    options: Mapping[str, str]

    @property
    def secrets(self) -> tuple[str, ...]:
        return (self.key, *self.more.values())

    def url(self, base: str, path: str) -> str:
        """Raises CallError when an option that the address needs is empty."""
        given = {name: urllib.parse.quote(value, safe="") for name, value in self.options.items() if value}
        return address(self.base or base, path, given)


async def azure_deployment(place: CloudPlace) -> list[Record]:
    """The deployment, if it is there: asked to answer no messages at all, it refuses for free, in a known way."""
    answer = await ask(place.url("", _DEPLOYMENT), {"api-key": place.key}, place.secrets, {"messages": []})
    if not _misses_messages(answer):
        checked(answer, place.secrets)
    name = place.options["deployment"]
    return [record(name, title=f"{name} ({real})" if (real := place.options.get("model")) else name)]


def _misses_messages(answer: HttpAnswer) -> bool:
    """Key, address, version and deployment are right: what is wrong is the question."""
    error = answer.body.get("error") if isinstance(answer.body, dict) else None
    if answer.status not in (400, 422) or not isinstance(error, dict):
        return False
    return error.get("param") == "messages" or re.search(r"\bmessages\b", str(error.get("message"))) is not None


async def bedrock_models(place: CloudPlace) -> list[Record]:
    """Profiles, then models that can be asked directly. Profiles that this key may not list are left out."""

    async def get(path: str) -> HttpAnswer:
        url = place.url(_BEDROCK, path)
        return await ask(url, await _authorization(url, place), place.secrets)

    found = _rows(checked(await get("/foundation-models"), place.secrets), "modelSummaries")
    texts = {str(row.get("modelId")): row for row in found if _writes_text(row)}
    direct = [_model(name, row) for name, row in texts.items() if _is_direct(row)]
    answer = await get(_PROFILES)
    body = answer.body if answer.status == 200 and isinstance(answer.body, dict) else {}
    rows = ((row, _behind(row, texts)) for row in _rows(body, "inferenceProfileSummaries"))
    profiles = [_profile(row, behind) for row, behind in rows if behind is not None]
    return profiles + direct


async def _authorization(url: str, place: CloudPlace) -> dict[str, str]:
    if "access_key_id" not in place.more:
        return {"Authorization": f"Bearer {place.key}"}
    return await asyncio.to_thread(signed_headers, url, place)


def signed_headers(url: str, place: CloudPlace) -> dict[str, str]:
    """The headers that sign a GET with an access key; ``session_token`` is only there for temporary ones."""
    auth: Any = importlib.import_module("botocore.auth")
    requests: Any = importlib.import_module("botocore.awsrequest")
    credentials: Any = importlib.import_module("botocore.credentials")
    key = credentials.Credentials(place.more["access_key_id"], place.key, place.more.get("session_token") or None)
    request = requests.AWSRequest("GET", url)
    auth.SigV4Auth(key, "bedrock", place.options["region"]).add_auth(request)
    return dict(request.headers)


def _rows(body: Mapping[str, Any], name: str) -> Sequence[Mapping[str, Any]]:
    found = body.get(name)
    return [row for row in found[:MODELS_MAX] if isinstance(row, dict)] if isinstance(found, list) else []


def _writes_text(row: Mapping[str, Any]) -> bool:
    streams = row.get("responseStreamingSupported") is not False
    return "TEXT" in (row.get("outputModalities") or ()) and streams and "rerank" not in str(row.get("modelId"))


def _is_direct(row: Mapping[str, Any]) -> bool:
    return "ON_DEMAND" in (row.get("inferenceTypesSupported") or ("ON_DEMAND",))


def _behind(profile: Mapping[str, Any], texts: Mapping[str, Mapping[str, Any]]) -> Mapping[str, Any] | None:
    """The text model that an active profile leads to."""
    if profile.get("status") not in (None, "ACTIVE") or not profile.get("inferenceProfileId"):
        return None
    arns = [str(model.get("modelArn")) for model in profile.get("models") or () if isinstance(model, dict)]
    return next((texts[name] for arn in arns if (name := arn.rpartition("/")[2]) in texts), None)


def _profile(row: Mapping[str, Any], behind: Mapping[str, Any]) -> Record:
    return _model(str(row["inferenceProfileId"]), {**behind, "modelName": row.get("inferenceProfileName")})


def _model(name: str, row: Mapping[str, Any]) -> Record:
    return record(name, title=row.get("modelName") or name, vision="IMAGE" in (row.get("inputModalities") or ()))
