"""The result beside a chat."""
