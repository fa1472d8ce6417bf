"""The transcript: what was said and done in a thread, drawn as one long page that streams without a stutter."""

from desktop.ui.transcript.view import TranscriptView

__all__ = ["TranscriptView"]
