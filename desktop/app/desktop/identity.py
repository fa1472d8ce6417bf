"""By which name the desktop knows Assent: of its menu entry, its icon, its windows and its notifications. The desktop
finds one by the other only where all say the same, so this is the one place. What ``packaging/linux`` installs has it
in its names, too, and a test compares them."""

from __future__ import annotations

APP_ID = "app.assent.Assent"
