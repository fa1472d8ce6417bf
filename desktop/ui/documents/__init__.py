"""The document that is shown beside a chat."""
