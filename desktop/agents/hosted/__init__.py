"""Agents that other agents are built of: one that reasons and acts, one that listens, one that has others work."""
