"""Which model is asked, and the connections to models."""

from __future__ import annotations

from desktop.domain.loading.lazy_dataclass import dataclass
from desktop.domain.models import Connection
from desktop.settings.spec import setting


@dataclass(frozen=True, slots=True)
class ModelsSettings:
    """Settings of models: the default model and the connections."""

    default: str = setting(
        "",
        "Default model",
        "text",
        "The model of a new chat, written connection/model. Empty: the first one that is there.",
        "Models and keys",
    )
    fallbacks: tuple[str, ...] = setting(
        (),
        "If a model cannot answer",
        "texts",
        "Models to ask instead, in order, each written connection/model: where the one that was asked is overloaded, "
        "takes no more requests or cannot be reached, and nothing of its answer has come. What is asked of a model on "
        "your own computer or network never goes to one elsewhere.",
        "Models and keys",
    )
    corrections: tuple[str, ...] = setting(
        (),
        "What models take",
        "traits",
        "Where a list or a server is wrong about a model: connection/model, then effort=low,high (or no), "
        "temperature=no, seed=yes and so on, schema=yes.",
        "Chats",
    )
    connections: tuple[Connection, ...] = setting(
        (),
        "Connections",
        "connections",
        "Providers and servers, without their keys: those are in the system's keyring.",
        "Models and keys",
    )
