"""The Agents page: definitions edited, checked and tried without a model."""
