"""The process that talks to the system's keyring: its library is heavy, may hang, and stays out of the app."""
