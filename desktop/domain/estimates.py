"""How many tokens something is, where nobody counts them: characters / 4 (R-CTX-8). How many of a certain model's
that are is learned from what its server reports (R-MOD-9)."""

from __future__ import annotations

from desktop.domain.messages import (
    ChatMessage,
    FileBlock,
    ImageBlock,
    MediaBlock,
    ReasoningBlock,
    TextBlock,
    ToolCallBlock,
    ToolResultBlock,
    Usage,
)
from desktop.domain.models import ModelRequest

CHARACTERS_PER_TOKEN = 4
IMAGE_TOKENS = 1_000
MESSAGE_TOKENS = 4


def estimate(message: ChatMessage) -> int:
    """Tokens by characters / 4 (R-CTX-8); an image counts a thousand."""
    characters = 0
    images = 0
    for block in message.blocks:
        if isinstance(block, (TextBlock, ToolResultBlock)):
            characters += len(block.text)
            images += len(block.media) if isinstance(block, ToolResultBlock) else 0
        elif isinstance(block, ReasoningBlock):
            characters += len(block.text) or len(block.sealed)
        elif isinstance(block, FileBlock):
            characters += len(block.text) + len(block.name)
        elif isinstance(block, ToolCallBlock):
            characters += len(block.tool) + len(block.raw or str(block.arguments))
        elif isinstance(block, ImageBlock):
            images += 1
    return characters // CHARACTERS_PER_TOKEN + images * IMAGE_TOKENS + MESSAGE_TOKENS


def estimate_read(message: ChatMessage) -> int:
    """How much of the same is what was read: results, files, pictures."""
    characters = images = 0
    for block in message.blocks:
        if isinstance(block, ToolResultBlock):
            characters, images = characters + len(block.text), images + len(block.media)
        elif isinstance(block, FileBlock):
            characters += len(block.text) + len(block.name)
        elif isinstance(block, ImageBlock):
            images += 1
    return characters // CHARACTERS_PER_TOKEN + images * IMAGE_TOKENS


def estimate_fixed(request: ModelRequest) -> int:
    """Tokens that system text and tool schemas take in each request."""
    return (
        len(request.system) + len(request.beside) + sum(len(str(tool)) for tool in request.tools)
    ) // CHARACTERS_PER_TOKEN


def estimate_request(request: ModelRequest) -> int:
    """Tokens of a whole request."""
    return estimate_fixed(request) + sum(estimate(message) for message in request.messages)


def has_media(request: ModelRequest) -> bool:
    """Whether images or sounds are in it, of which the estimate is a guess."""
    blocks = (block for message in request.messages for block in message.blocks)
    return any(isinstance(one, MediaBlock) or (isinstance(one, ToolResultBlock) and one.media) for one in blocks)


def estimate_of(request: ModelRequest, answer: ChatMessage, scale: float = 1.0) -> Usage | None:
    """What an answer is to cost a budget whose server told nothing of it; None: it has told, or there is no answer.
    ``scale``: how many of the model's tokens an estimated one is."""
    told = answer.usage
    if not answer.blocks or (told is not None and (told.input_tokens or told.output_tokens)):
        return None
    return Usage(round(estimate_request(request) * scale), round(estimate(answer) * scale))
