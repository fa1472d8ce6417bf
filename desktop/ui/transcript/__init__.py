"""The transcript: what was said and done in a thread, drawn as one long page that streams without a stutter."""
