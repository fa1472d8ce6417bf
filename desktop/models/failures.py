"""The model host's error codes as the errors of the domain: plain words and the next step, for a person (R-SEC-6)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any
from urllib.parse import urlsplit

from desktop.domain.errors import (
    ChildDied,
    ModelBadRequest,
    ModelContextTooLong,
    ModelError,
    ModelHostDied,
    ModelKeyRefused,
    ModelRateLimited,
    ModelRedirected,
    ModelServerError,
    ModelStreamBroken,
    ModelTooSlow,
    ModelUnknown,
    ModelUnreachable,
    ProtocolViolation,
)
from desktop.domain.models import Connection
from desktop.domain.processes import ChildRefused
from desktop.domain.text.scrub import scrub, without_paths
from desktop.domain.web.addresses import without_user
from desktop.models.providers import is_local, provider_info


def model_error(error: Exception, connection: Connection, model: str, secrets: Iterable[str] = ()) -> ModelError:
    """The domain's error for what a call to the model host raised."""
    if isinstance(error, ChildRefused):
        said = without_paths(scrub(str(error.data.get("detail") or error or ""), secrets, limit=400))
        return _refused(error.code, error.data, connection, model, said)
    if isinstance(error, (ChildDied, ProtocolViolation)):
        return ModelHostDied(
            "The process that talks to models ended unexpectedly. It has been started again.",
            next_step="What was answered so far is kept. Try again.",
        )
    if isinstance(error, TimeoutError):
        return _too_slow(_called(connection), {"limit": str(error)})
    return ModelError(f"The request to {_called(connection)} failed: {scrub(str(error), secrets, limit=300)}")


_TOO_LONG_STEP = "Start a new thread, branch from an earlier message, or choose a model with a larger context."
_KEY_STEP = "Check that it was copied whole and not revoked, then replace it in Settings, Models and keys."
# code -> class, sentence, next step; {number} is the status in brackets, {quote} what the provider said, or nothing.
_WORDS: Mapping[str, tuple[type[ModelError], str, str]] = {
    "model.key_refused": (ModelKeyRefused, "{title} does not know this key{number}.", _KEY_STEP),
    "model.no_credit": (
        ModelBadRequest,
        "The account at {title} has no credit left{number}.{quote}",
        "Check plan and billing there, or choose another model.",
    ),
    "model.context_too_long": (
        ModelContextTooLong,
        "The conversation is longer than {model} can take.{quote}",
        _TOO_LONG_STEP,
    ),
    "model.no_access": (
        ModelUnknown,
        "{title} does not let this account use {model}{number}.{quote}",
        "Ask for access there, or choose another model.",
    ),
    "model.unknown": (ModelUnknown, "{title} has no model named {model}{number}.{quote}", "Choose another model."),
    "model.bad_request": (
        ModelBadRequest,
        "{title} refused the request{number}.{quote}",
        "Try another model, or fewer attachments and tools.",
    ),
    "model.redirected": (
        ModelRedirected,
        "{title} sends requests on to {said}. That was not followed: the key and the conversation would go there.",
        "If that is the right place, make it the address of the connection. Otherwise ask who runs the server.",
    ),
    "model.too_large": (
        ModelBadRequest,
        "{title} was cut off: {said}. What came is kept.",
        "Try again, or choose another model.",
    ),
    "model.unreadable": (
        ModelBadRequest,
        "The answer of {title} cannot be read: {said}.",
        "Ask who runs the server, or choose another model.",
    ),
    "model.server_error": (ModelServerError, "{title} failed on its side{number}.{quote}", "Try again in a moment."),
    "model.stream_cut": (
        ModelStreamBroken,
        "The answer of {model} broke off before it was finished. What came is kept.",
        "Continue the answer, or regenerate it.",
    ),
    "child.too_large": (
        ModelBadRequest,
        "The request is too large to be sent.",
        "Remove attachments or start a new thread.",
    ),
    "model.library": (
        ModelError,
        "The model library cannot be loaded.{quote}",
        "Build the environment with packaging/dev.py.",
    ),
}
_OTHER: tuple[type[ModelError], str, str] = (ModelError, "The request to {title} failed{number}.{quote}", "Try again.")


def _called(connection: Connection) -> str:
    """What a person calls it in a sentence: the provider's name, or the address of a server without one."""
    general = provider_info(connection.provider).title
    if connection.provider != "openai_compatible" or connection.title not in ("", general):
        return connection.title or general
    host = urlsplit(without_user(connection.base_url)).netloc
    return f"The server at {host}" if host else "The server"


def _refused(code: str, data: Mapping[str, Any], connection: Connection, model: str, said: str) -> ModelError:
    title = _called(connection)
    status = data.get("status")
    number = f" ({status})" if isinstance(status, int) else ""
    quote = f" It says: {said}" if said else ""
    if code == "model.rate_limited":
        return _rate_limited(title, data.get("retry_after"), quote)
    if code == "model.too_slow":
        return _too_slow(title, data)
    if code == "model.unreachable":
        return _unreachable(title, connection)
    kind, sentence, step = _WORDS.get(code, _OTHER)
    words = {"title": title, "number": number, "quote": quote, "model": model or "the model", "said": said}
    return kind(sentence.format(**words), next_step=step, code="model.no_credit" if code == "model.no_credit" else None)


def _rate_limited(title: str, retry_after: Any, quote: str) -> ModelError:
    seconds = float(retry_after) if isinstance(retry_after, (int, float)) else None
    wait = f"wait {seconds:.0f} s" if seconds is not None else "wait a moment"
    return ModelRateLimited(
        f"{title} asks to {wait}: too many requests.{quote}",
        retry_after=seconds,
        next_step="It can be tried again then.",
    )


def _too_slow(title: str, data: Mapping[str, Any]) -> ModelError:
    seconds = data.get("seconds")
    if data.get("limit") == "idle":
        length = f"{seconds:g} s" if isinstance(seconds, (int, float)) else "too long"
        sentence = f"{title} has sent nothing for {length}."
    else:
        sentence = f"{title} did not finish its answer in the time allowed."
    return ModelTooSlow(sentence + " What came is kept.", next_step="Try again, or choose a faster model.")


def _unreachable(title: str, connection: Connection) -> ModelError:
    if is_local(connection.provider):
        where = f" at {without_user(connection.base_url)}" if connection.base_url else ""
        return ModelUnreachable(f"{title} does not answer{where}.", next_step=f"Start {title}, then try again.")
    return ModelUnreachable(
        f"{title} cannot be reached.", next_step="Check the network connection and the address, then try again."
    )
