"""Agents of one folder, read in one call."""

from pathlib import Path

from desktop.services.definitions.book import AgentBook, AgentFiles, AgentFolder


def load_agents(folder: Path) -> AgentBook:
    """The definitions of one folder, as if it were the app's own."""
    return AgentFiles([AgentFolder(str(folder), "library")]).reload()
