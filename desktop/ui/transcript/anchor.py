"""What must not move: a piece of a message and where it stands on the screen."""

from __future__ import annotations

from collections.abc import Iterable

from desktop.domain.loading.lazy_dataclass import dataclass
from desktop.ui.transcript.message import Message
from desktop.ui.transcript.page import Page


@dataclass(frozen=True, slots=True)
class Anchor:
    """The piece ``key`` of a message; ``share`` of its height is above the line that stood at ``y``, which was
    ``inside`` pixels below the top of the message."""

    message: Message
    key: str
    share: float
    y: int
    inside: int = 0

    def top(self, page: Page, index: int) -> int:
        """Where the line is in the message now."""
        for flow in page.messages[index].flows or ():
            piece = flow.piece(self.key)
            if piece is not None:
                return flow.y + piece.y + round(self.share * piece.height)
        return min(self.inside, page.height_of(index))


def find_anchor(page: Page, visible: Iterable[tuple[int, int]]) -> Anchor | None:
    """What stands at the top of the viewport. ``visible``: (number, y) of the messages on the screen."""
    for index, top in visible:
        message = page.messages[index]
        if top + page.height_of(index) <= 0 or message.flows is None:
            continue
        found = message.piece_at(-top)
        if found is None:
            return Anchor(message, "", 0.0, top)
        piece, piece_y, _ = found
        share = max(0.0, min(1.0, (-top - piece_y) / max(1, piece.height)))
        inside = piece_y + round(share * piece.height)
        return Anchor(message, piece.key, share, top + inside, inside)
    return None
