"""Reads pages of the web and turns them into Markdown, in a process of its own that reaches no file of a person's."""
