"""Pictures on their way to a model: none that was not made anew, and no more of them than its provider takes.

Of too many the newest go. The oldest are left out in steps, so that what a request begins with changes seldom.
"""

from __future__ import annotations

import asyncio
import base64
from collections import OrderedDict
from collections.abc import Iterable, Sequence

from desktop.domain.files.pictures import NO_ROOM, PictureOpener, PictureRefused
from desktop.domain.loading.lazy_dataclass import dataclass
from desktop.domain.messages import ChatMessage, ImageBlock, ToolResultBlock
from desktop.domain.models import Senses

REMEMBERED = 40_000_000
"""Characters of pictures that were made anew for being sent, before and after, and are kept for the next round."""


@dataclass(frozen=True, slots=True)
class PictureLimits:
    """How many pictures a provider takes in one request, and how many characters of base64 they may be in all."""

    count: int
    size: int


USUAL = PictureLimits(20, 16_000_000)
LIMITS = {
    "openai": PictureLimits(100, 40_000_000),
    "azure": PictureLimits(50, 40_000_000),
    "anthropic": PictureLimits(100, 24_000_000),
    "bedrock": PictureLimits(20, 18_000_000),
    "bedrock_access_key": PictureLimits(20, 18_000_000),
    "gemini": PictureLimits(100, 15_000_000),
    "mistral": PictureLimits(8, 16_000_000),
    "groq": PictureLimits(5, 3_800_000),
    "fireworks": PictureLimits(30, 9_500_000),
}
"""By provider, as their documentation says; of the others some are known to take what is usual."""
_MAKERS = {"anthropic": "anthropic", "google": "gemini", "openai": "openai", "mistralai": "mistral"}


def limits_of(provider: str, model: str) -> PictureLimits:
    """What a model takes; behind OpenRouter its maker's limits hold."""
    if provider == "openrouter":
        provider = _MAKERS.get(model.partition("/")[0], provider)
    return LIMITS.get(provider, USUAL)


@dataclass(frozen=True, slots=True)
class PicturesToSend:
    """What becomes of the pictures of one request. A picture is known by what it holds."""

    made: dict[str, ImageBlock | str]
    """Of those that were not made anew before: what they became, or why they are not sent."""
    left_out: frozenset[int]
    """The ``id`` of each that there is no room for."""
    limits: PictureLimits = USUAL

    def sent(self, block: ImageBlock) -> ImageBlock | str:
        """The picture, or why it is not sent."""
        if id(block) in self.left_out:
            return f"there are more images than the {self.limits.count} that go with one request"
        found = self.made.get(block.data, block) if not block.width else block
        return found if isinstance(found, str) else ImageBlock(found.media_type, found.data, block.name)


AS_THEY_ARE = PicturesToSend({}, frozenset())


class PictureSender:
    """``opener`` None: pictures go as they are."""

    def __init__(self, opener: PictureOpener | None) -> None:
        self._opener = opener
        self._made: OrderedDict[str, ImageBlock | str] = OrderedDict()
        self._held = 0

    async def look(self, messages: Sequence[ChatMessage], senses: Senses, limits: PictureLimits) -> PicturesToSend:
        """What becomes of the pictures of a request."""
        blocks = list(_seen(messages, senses))
        made: dict[str, ImageBlock | str] = {}
        for block in blocks:
            if self._opener is not None and not block.width and block.data not in made:
                made[block.data] = await self._remade(self._opener, block)
        sizes = [len(found.data) if isinstance(found := made.get(b.data, b), ImageBlock) else 0 for b in blocks]
        left = too_many(sizes, limits)
        return PicturesToSend(made, frozenset(id(block) for block in blocks[:left]), limits)

    async def _remade(self, opener: PictureOpener, block: ImageBlock) -> ImageBlock | str:
        """In threads of before, and where a skill gave it, a picture may be as it came."""
        if (known := self._made.get(block.data)) is not None:
            self._made.move_to_end(block.data)
            return known
        found: ImageBlock | str
        try:
            found = await opener.picture(await asyncio.to_thread(_decoded, block.data), block.name)
        except PictureRefused as why:
            found = f"it cannot be opened ({str(why).rstrip('.')})"
            if why.code == NO_ROOM:
                return found
        self._keep(block.data, found)
        return found

    def _keep(self, came: str, found: ImageBlock | str) -> None:
        if (before := self._made.get(came)) is not None:  # another request was faster
            self._held -= _characters(came, before)
        self._held += _characters(came, found)
        self._made[came] = found
        while len(self._made) > 1 and self._held > REMEMBERED:
            self._held -= _characters(*self._made.popitem(last=False))


def too_many(sizes: Sequence[int], limits: PictureLimits) -> int:
    """How many of the oldest are left out, in steps of a quarter of what is taken."""
    step, total = max(1, limits.count // 4), sum(sizes)
    over = max(0, len(sizes) - limits.count)
    left = min(len(sizes), -(-over // step) * step)
    total -= sum(sizes[:left])
    while left < len(sizes) and total > limits.size:
        further = min(len(sizes), left + step) if len(sizes) - left > step else left + 1
        total -= sum(sizes[left:further])
        left = further
    return left


def _seen(messages: Sequence[ChatMessage], senses: Senses) -> Iterable[ImageBlock]:
    """The pictures that the model would be shown, the oldest first."""
    for message in messages:
        for block in message.blocks:
            if isinstance(block, ImageBlock) and senses.images is not False:
                yield block
            elif isinstance(block, ToolResultBlock) and senses.images:
                yield from (one for one in block.media if isinstance(one, ImageBlock))


def _characters(came: str, found: ImageBlock | str) -> int:
    return len(came) + len(found.data if isinstance(found, ImageBlock) else found)


def _decoded(data: str) -> bytes:
    try:
        return base64.b64decode(data, validate=True)
    except ValueError:
        return b""
