"""The Trace panel without widgets: what agents did, as a tree."""
