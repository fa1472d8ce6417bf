"""The folders that chats work in."""
