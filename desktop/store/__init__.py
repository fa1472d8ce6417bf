"""SQLite on one thread of its own: threads as message trees, runs, drafts, audit, search.

``Store`` is the door; everything else of the room is reached through it.
"""

from desktop.store.open_message import OpenMessage
from desktop.store.repositories import Store

__all__ = ["OpenMessage", "Store"]
