"""Reads documents (PDF, Office, EPUB, …) to Markdown and page pictures, in a process that can only compute."""
