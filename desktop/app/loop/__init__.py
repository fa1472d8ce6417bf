"""One loop: asyncio on the Qt thread."""
