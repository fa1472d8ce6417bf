"""The trace panel beside a thread."""
