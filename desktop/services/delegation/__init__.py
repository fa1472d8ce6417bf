"""Agents that call other agents: threads of their own, their place in the run, and what comes back."""
