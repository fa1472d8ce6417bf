"""One typed schema of everything a person can set: ``config.yaml``, the settings pages and the docs come from it.

Importing this room is quick: the YAML libraries are loaded by ``service`` in a thread, at the first read and write.
"""

from desktop.settings.schema import Settings, defaults, pages, schema
from desktop.settings.service import SettingsService
from desktop.settings.spec import Problem, Setting

__all__ = ["Problem", "Setting", "Settings", "SettingsService", "defaults", "pages", "schema"]
