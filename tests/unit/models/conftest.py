"""A fresh corner of the fake provider, and one model host for all tests of this folder that need a real one."""

from tests.servers.fixtures import provider, provider_process

__all__ = ["provider", "provider_process"]
