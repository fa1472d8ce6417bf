"""The kinds of places where models live, as data: what a person fills in, how litellm calls them."""

from __future__ import annotations

import ipaddress
import urllib.parse
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from desktop.domain.models import Connection, ProviderInfo

DEMO = "demo"
SCRIPTED = "scripted"
BEDROCK_ACCESS = "bedrock_access_key"


@dataclass(frozen=True, slots=True)
class Dialect:
    """How requests to a provider are made: litellm's prefix, what is added to the base address, whether litellm's
    price table holds for it (``copied``: unless the address is near, for local servers speak this format too)."""

    prefix: str
    suffix: str = ""
    priced: bool = False
    copied: bool = False
    table: str = ""  # the prefix in litellm's tables, where it is another


PROVIDERS: tuple[ProviderInfo, ...] = (
    ProviderInfo("openai", "OpenAI", ("key",), "platform.openai.com/api-keys"),
    ProviderInfo("anthropic", "Anthropic", ("key",), "console.anthropic.com/settings/keys"),
    ProviderInfo("gemini", "Google Gemini", ("key",), "aistudio.google.com/apikey"),
    ProviderInfo("mistral", "Mistral", ("key",), "console.mistral.ai/api-keys"),
    ProviderInfo("openrouter", "OpenRouter", ("key",), "openrouter.ai/settings/keys"),
    ProviderInfo(
        "azure", "Azure OpenAI", ("key", "base_url", "api_version", "deployment", "model?"), "portal.azure.com"
    ),
    ProviderInfo(
        "bedrock", "Amazon Bedrock with an API key", ("key", "region"), "console.aws.amazon.com/bedrock (API keys)"
    ),
    ProviderInfo(
        BEDROCK_ACCESS, "Amazon Bedrock with an access key",
        ("access_key_id", "secret_access_key", "session_token?", "region"), "console.aws.amazon.com/iam (Access keys)",
        secrets=("secret_access_key", "access_key_id", "session_token"),
    ),
    ProviderInfo("openai_compatible", "Other server that speaks OpenAI's format", ("base_url", "key?")),
    ProviderInfo("ollama", "Ollama", ("base_url",), locality="local"),
    ProviderInfo("lmstudio", "LM Studio", ("base_url",), locality="local"),
    ProviderInfo("llamacpp", "llama.cpp", ("base_url",), locality="local"),
    ProviderInfo("vllm", "vLLM", ("base_url",), locality="local"),
    ProviderInfo(DEMO, "Demo model (not an AI)", (), locality="demo"),
)

_DIALECTS: Mapping[str, Dialect] = {
    "openai": Dialect("openai", priced=True, copied=True),
    "anthropic": Dialect("anthropic", priced=True, copied=True),
    "gemini": Dialect("gemini", "/v1beta", priced=True),
    "mistral": Dialect("mistral", priced=True, copied=True),
    "openrouter": Dialect("openrouter", priced=True),
    "azure": Dialect("azure", priced=True),
    "bedrock": Dialect("bedrock/converse", priced=True, table="bedrock"),
    BEDROCK_ACCESS: Dialect("bedrock/converse", priced=True, table="bedrock"),
    "openai_compatible": Dialect("openai"),
    "ollama": Dialect("ollama_chat"),
    "lmstudio": Dialect("openai", "/v1"),
    "llamacpp": Dialect("openai", "/v1"),
    "vllm": Dialect("hosted_vllm", "/v1"),
}
_BY_NAME: Mapping[str, ProviderInfo] = {info.provider: info for info in PROVIDERS}


@dataclass(frozen=True, slots=True)
class LocalAddresses:
    """Where local servers are looked for: kind -> base addresses, the first that answers wins."""

    addresses: Mapping[str, tuple[str, ...]] = field(
        default_factory=lambda: {
            kind: (f"http://127.0.0.1:{port}", f"http://[::1]:{port}")
            for kind, port in (("ollama", 11434), ("lmstudio", 1234), ("llamacpp", 8080), ("vllm", 8000))
        }
    )

    def connections(self) -> tuple[Connection, ...]:
        """A connection for each kind at its usual address, under the kind's name."""
        return tuple(
            Connection(kind, kind, provider_info(kind).title, base_url=bases[0])
            for kind, bases in self.addresses.items()
            if bases
        )


def provider_info(provider: str) -> ProviderInfo:
    """What is known of a provider; an unknown one is treated as a server that speaks OpenAI's format."""
    return _BY_NAME.get(provider) or ProviderInfo(provider, provider, ("base_url", "key?"))


def dialect(provider: str) -> Dialect:
    """How to call it."""
    return _DIALECTS.get(provider, _DIALECTS["openai_compatible"])


def is_local(provider: str) -> bool:
    """True for servers on this machine, which cost nothing."""
    return provider_info(provider).locality == "local"


def table_name(connection: Connection, model: str) -> str:
    """What a model is called in litellm's tables."""
    spoken = dialect(connection.provider)
    return f"{spoken.table or spoken.prefix}/{model}"


def is_priced(connection: Connection) -> bool:
    """Whether the provider's prices hold. An address of one's own in the provider's format is the provider behind a
    gateway, at its prices; on this machine or in this network it is likely a server of one's own: unknown."""
    spoken = dialect(connection.provider)
    return spoken.priced and not (spoken.copied and connection.base_url and _is_near(connection.base_url))


def _is_near(address: str) -> bool:
    """On this machine or in its own network, as far as the address says: nothing is looked up."""
    try:
        host = urllib.parse.urlsplit(address).hostname or ""
        return not ipaddress.ip_address(host).is_global
    except ValueError:
        return "." not in host or host.endswith((".local", ".localhost", ".internal", ".lan", ".home.arpa"))


def base_url(connection: Connection) -> str:
    """The address that litellm is given, or "" for the provider's own."""
    suffix = dialect(connection.provider).suffix
    base = connection.base_url.rstrip("/")
    if connection.provider == "azure":
        return base.partition("/openai/")[0].removesuffix("/openai")  # people copy the whole target address
    return base if not base or not suffix or base.endswith(suffix) else base + suffix


def extra(connection: Connection) -> dict[str, str]:
    """Fields that travel beside the request, under litellm's names."""
    names = {"api_version": "api_version", "region": "aws_region_name", "organization": "organization"}
    return {names[k]: v for k, v in connection.options.items() if k in names and v}


def missing_fields(provider: str, fields: Mapping[str, str]) -> Sequence[str]:
    """Which needed fields are empty; a name ending in ``?`` may be."""
    needed = (name for name in provider_info(provider).needs if not name.endswith("?"))
    return [name for name in needed if not fields.get(name, "").strip()]
