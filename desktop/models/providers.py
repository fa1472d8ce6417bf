"""The kinds of places where models live, as data: what a person fills in, how litellm calls them."""

from __future__ import annotations

import urllib.parse
from collections.abc import Mapping, Sequence
from dataclasses import field

from desktop.domain.loading.lazy_dataclass import dataclass
from desktop.domain.models import Connection, ProviderInfo
from desktop.domain.web.addresses import without_user
from desktop.domain.web.nearness import is_local_address

DEMO = "demo"
SCRIPTED = "scripted"
BEDROCK_ACCESS = "bedrock_access_key"


@dataclass(frozen=True, slots=True)
class Dialect:
    """How requests to a provider are made."""

    prefix: str
    """What litellm calls the provider."""
    suffix: str = ""
    """What is added to the base address."""
    priced: bool = False
    """Whether litellm's price table holds for it."""
    copied: bool = False
    """Unless the address is near, for local servers speak this format too."""
    direct: bool = False
    """It speaks OpenAI's format as it stands, and is asked without litellm."""
    table: str = ""
    """The prefix in litellm's tables, where it is another."""
    home: str = ""
    """Where it answers, for a provider that is asked directly, or that litellm has no address of."""


SCHEMA_BESIDE_TOOLS = frozenset({"openai", "azure", "anthropic", "bedrock", BEDROCK_ACCESS})
"""Whose models call tools while their texts are held to a schema. Others refuse that, or call none then."""

PROVIDERS: tuple[ProviderInfo, ...] = (
    ProviderInfo("openai", "OpenAI", ("key",), "platform.openai.com/api-keys"),
    ProviderInfo("anthropic", "Anthropic", ("key",), "console.anthropic.com/settings/keys"),
    ProviderInfo("gemini", "Google Gemini", ("key",), "aistudio.google.com/apikey"),
    ProviderInfo("mistral", "Mistral", ("key",), "console.mistral.ai/api-keys"),
    ProviderInfo("openrouter", "OpenRouter", ("key",), "openrouter.ai/settings/keys"),
    ProviderInfo("deepseek", "DeepSeek", ("key",), "platform.deepseek.com/api_keys"),
    ProviderInfo("groq", "Groq", ("key",), "console.groq.com/keys"),
    ProviderInfo("xai", "xAI", ("key",), "console.x.ai"),
    ProviderInfo("together", "Together AI", ("key",), "api.together.ai/settings/api-keys"),
    ProviderInfo("fireworks", "Fireworks AI", ("key",), "app.fireworks.ai/settings/users/api-keys"),
    ProviderInfo(
        "azure", "Azure OpenAI", ("key", "base_url", "api_version", "deployment", "model?"), "portal.azure.com"
    ),
    ProviderInfo(
        "bedrock", "Amazon Bedrock with an API key", ("key", "region"), "console.aws.amazon.com/bedrock (API keys)"
    ),
    ProviderInfo(
        BEDROCK_ACCESS,
        "Amazon Bedrock with an access key",
        ("access_key_id", "secret_access_key", "session_token?", "region"),
        "console.aws.amazon.com/iam (Access keys)",
        secrets=("secret_access_key", "access_key_id", "session_token"),
    ),
    ProviderInfo("openai_compatible", "Other server that speaks OpenAI's format", ("base_url", "key?")),
    ProviderInfo("ollama", "Ollama", ("base_url",), locality="local", address="http://127.0.0.1:11434"),
    ProviderInfo("lmstudio", "LM Studio", ("base_url",), locality="local", address="http://127.0.0.1:1234"),
    ProviderInfo("llamacpp", "llama.cpp", ("base_url",), locality="local", address="http://127.0.0.1:8080"),
    ProviderInfo("vllm", "vLLM", ("base_url",), locality="local", address="http://127.0.0.1:8000"),
    ProviderInfo(DEMO, "Demo model (not an AI)", (), locality="demo"),
)

_DIALECTS: Mapping[str, Dialect] = {
    "openai": Dialect("openai", priced=True, copied=True),
    "anthropic": Dialect("anthropic", priced=True, copied=True),
    "gemini": Dialect("gemini", "/v1beta", priced=True),
    "mistral": Dialect("mistral", "/v1", priced=True, copied=True, direct=True, home="https://api.mistral.ai"),
    "openrouter": Dialect("openrouter", priced=True, direct=True, home="https://openrouter.ai/api/v1"),
    "deepseek": Dialect(
        "openai", priced=True, copied=True, direct=True, table="deepseek", home="https://api.deepseek.com/v1"
    ),
    "groq": Dialect(
        "openai", priced=True, copied=True, direct=True, table="groq", home="https://api.groq.com/openai/v1"
    ),
    "xai": Dialect("openai", priced=True, copied=True, direct=True, table="xai", home="https://api.x.ai/v1"),
    "together": Dialect(
        "openai", priced=True, copied=True, direct=True, table="together_ai", home="https://api.together.ai/v1"
    ),
    "fireworks": Dialect(
        "openai",
        priced=True,
        copied=True,
        direct=True,
        table="fireworks_ai",
        home="https://api.fireworks.ai/inference/v1",
    ),
    "azure": Dialect("azure", priced=True),
    "bedrock": Dialect("bedrock/converse", priced=True, table="bedrock"),
    BEDROCK_ACCESS: Dialect("bedrock/converse", priced=True, table="bedrock"),
    "openai_compatible": Dialect("openai", direct=True),
    "ollama": Dialect("ollama_chat"),
    "lmstudio": Dialect("openai", "/v1", direct=True),
    "llamacpp": Dialect("openai", "/v1", direct=True),
    "vllm": Dialect("hosted_vllm", "/v1", direct=True),
}
_BY_NAME: Mapping[str, ProviderInfo] = {info.provider: info for info in PROVIDERS}


_PORTS: Mapping[str, tuple[int, ...]] = {
    "ollama": (11434,),
    "lmstudio": (1234,),
    "llamacpp": (8080, 8000),
    "vllm": (8000,),
}
"""Where local servers listen unless told otherwise; llama_cpp.server does so where vLLM does."""


@dataclass(frozen=True, slots=True)
class LocalAddresses:
    """Where local servers are looked for: kind -> base addresses, the first that answers wins."""

    addresses: Mapping[str, tuple[str, ...]] = field(
        default_factory=lambda: {
            kind: tuple(f"http://{host}:{port}" for port in ports for host in ("127.0.0.1", "[::1]"))
            for kind, ports in _PORTS.items()
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
    """How to call a provider."""
    return _DIALECTS.get(provider, _DIALECTS["openai_compatible"])


def needs_library(provider: str) -> bool:
    """Whether litellm makes its requests, or has a table of its models."""
    spoken = dialect(provider)
    return spoken.priced or not spoken.direct


def is_local(provider: str) -> bool:
    """True for servers on this machine, which cost nothing."""
    return provider_info(provider).locality == "local"


def table_name(connection: Connection, model: str) -> str:
    """What a model is called in litellm's tables."""
    spoken = dialect(connection.provider)
    return f"{spoken.table or spoken.prefix}/{model}"


def known_to_table(connection: Connection, model: str) -> str:
    """The same, where the tables can hold this model at all: a server of one's own may have anything under any name."""
    real = connection.options.get("model", "") or ("" if connection.provider == "azure" else model)
    return table_name(connection, real) if real and dialect(connection.provider).priced else ""


def addresses_to_try(provider: str, address: str) -> Sequence[str]:
    """What a typed address may mean, the likeliest first. Without a scheme it is https; in one's own network, where
    nobody has certificates, http. A key never goes to a distant server in the clear because ``http`` was guessed."""
    address = address.strip().rstrip("/")
    if not address:
        return ("",)
    local = is_local_address("//" + address)
    schemes = ("",) if "://" in address else ("http://", "https://") if local else ("https://",)
    whole = [scheme + address for scheme in schemes]
    bare = provider == "openai_compatible" and not urllib.parse.urlsplit(whole[0]).path
    return [tried for one in whole for tried in ((one, one + "/v1") if bare else (one,))]


def listed_as(provider: str) -> str:
    """The kind of provider whose way of listing models it shares."""
    spoken = dialect(provider)
    return "openai_compatible" if spoken.home and spoken.prefix == "openai" else provider


def is_priced(connection: Connection) -> bool:
    """Whether the provider's prices hold. An address of one's own in the provider's format is the provider behind a
    gateway, at its prices; on this machine or in this network it is likely a server of one's own: unknown."""
    spoken = dialect(connection.provider)
    return spoken.priced and not (spoken.copied and connection.base_url and is_local_address(connection.base_url))


def maker(connection: Connection, model: str) -> str:
    """Who makes the thinking of an answer, and alone gets it again (R-MOD-4): this model, by this connection, where it
    leads now. A key of another organisation may stand behind another connection, and another server behind another
    address."""
    where = f"@{without_user(base_url(connection))}" if connection.base_url else ""
    return f"{connection.connection_id} {connection.provider}{where} {model}"


def base_url(connection: Connection) -> str:
    """The address that litellm is given, or "" for the provider's own."""
    suffix = dialect(connection.provider).suffix
    base = (connection.base_url or dialect(connection.provider).home).rstrip("/")
    if connection.provider == "azure":
        return base.partition("/openai/")[0].removesuffix("/openai")  # people copy the whole target address
    return base if not base or not suffix or base.endswith(suffix) else base + suffix


def extra(connection: Connection) -> dict[str, str]:
    """Fields that travel beside the request, under litellm's names."""
    names = {"api_version": "api_version", "region": "aws_region_name", "organization": "organization"}
    return {names[k]: v for k, v in connection.options.items() if k in names and v}
