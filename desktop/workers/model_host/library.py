"""The one place that loads litellm: in a thread, once a request is to be expected.

Loading takes seconds of a processor and 160 MB, which who only looks round with the demo model is spared. It holds the
interpreter in slices, so pings and discovery stay possible meanwhile.
"""

from __future__ import annotations

import asyncio
import gc
import importlib
import logging
import threading
import time
from typing import TYPE_CHECKING, Any

from desktop.domain.loading.lazy import lazy_module
from desktop.workers.inside import CallError
from desktop.workers.model_host.mends import mend

# With litellm, which it guards.
if TYPE_CHECKING:
    from desktop.workers.model_host import guard
else:
    guard = lazy_module("desktop.workers.model_host.guard")

CLIENTS_KEPT_S = 30.0  # idle connections, and the keys inside them, are forgotten after this


class Library:
    """Loads the model library once: at ``load``, or when ``ready`` is first awaited. ``seconds`` is how long it took,
    or None."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._module: asyncio.Future[Any] = self._loop.create_future()
        self._users = 0
        self._forget: asyncio.TimerHandle | None = None
        self._thread: threading.Thread | None = None
        self.seconds: float | None = None

    def load(self) -> None:
        """Begin, unless that was done before: the first request then finds it loaded."""
        if self._thread is None:
            self._thread = threading.Thread(target=self._load, name="load litellm", daemon=True)
            self._thread.start()

    def _load(self) -> None:
        began = time.monotonic()
        gc.disable()  # importing makes no garbage, but collecting while importing takes a quarter of it
        try:
            guard.install()
            module: Any = importlib.import_module("litellm")
            _quiet(module)
            mend(module)
            _warm(module)
        except Exception as error:  # the boundary of a foreign library's import: reported at each use
            self._loop.call_soon_threadsafe(self._module.set_exception, _unusable(error))
            return
        finally:
            gc.freeze()  # modules are here to stay: no later collection has to look at them
            gc.enable()
        self.seconds = time.monotonic() - began
        self._loop.call_soon_threadsafe(self._module.set_result, module)

    @property
    def begun(self) -> bool:
        """True as soon as it is being loaded, and ever after."""
        return self._thread is not None

    @property
    def loaded(self) -> bool:
        """True once requests can be made."""
        return self.seconds is not None

    async def ready(self) -> Any:
        """Wait for the loaded module. Raises CallError when it cannot be loaded."""
        self.load()
        return await asyncio.shield(self._module)

    def enter(self) -> None:
        """Count a request that begins: meanwhile the library keeps its clients."""
        self._users += 1
        if self._forget is not None:
            self._forget.cancel()
            self._forget = None

    def leave(self) -> None:
        """A request is over; after a quiet while the library's cached clients go."""
        self._users -= 1
        if self._users == 0:
            self._forget = self._loop.call_later(CLIENTS_KEPT_S, self.forget_clients)

    def forget_clients(self) -> None:
        """Drop cached HTTP clients with the keys they hold."""
        if self.loaded:
            self._module.result().in_memory_llm_clients_cache.flush_cache()


def _warm(module: Any) -> None:
    """Make it load now what it would load with the first request: that request is answered 0.3 s sooner. Nothing is
    sent anywhere: the answer is given."""
    said = [{"role": "user", "content": "-"}]
    answer = module.completion(
        model="openai/gpt-4o", messages=said, stream=True, mock_response="-", api_key="none", num_retries=0
    )
    for _ in answer:
        pass
    client = importlib.import_module("openai").AsyncOpenAI(api_key="none", base_url="http://127.0.0.1:9")
    _ = client.chat.completions.create


def _unusable(error: Exception) -> CallError:
    return CallError("model.library", f"The model library could not be loaded: {type(error).__name__}: {error}")


def _quiet(module: Any) -> None:
    """No telemetry, no logging of requests, no retries and no guessing of the library's own."""
    module.telemetry = False
    module.suppress_debug_info = True
    module.set_verbose = False
    module.drop_params = True
    module.num_retries = 0
    module.disable_token_counter = True  # it goes to the network for models it does not know
    module.disable_hf_tokenizer_download = True
    module.disable_streaming_logging = True
    module.turn_off_message_logging = True
    module.callbacks = []
    module.REPEATED_STREAMING_CHUNK_LIMIT = 1_000_000_000  # a ruler of dashes is no error; our own caps end a loop
    for name in ("LiteLLM", "LiteLLM Router", "LiteLLM Proxy", "httpx", "openai", "aiohttp"):
        logging.getLogger(name).setLevel(logging.CRITICAL)
