"""Scheduled jobs: when they are due, under which terms they run, and what is kept of their runs."""
