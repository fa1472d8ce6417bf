"""What the metadata of a side's prompt says about its agent, as for a called skill (D-10)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from desktop.agents.skill.settings import PolicySettings, standing
from desktop.domain.skills import SkillDef


def settings_of(skill: SkillDef, metadata: Mapping[str, Any], chosen: str) -> PolicySettings:
    """What ``model`` of a prompt's effective ``metadata`` says about its agent, as for a called skill (D-10); the tool
    mode ``chosen`` in the app holds in place of its own. Raises ConfigurationError that names the key."""
    given = {**model_settings(metadata), **({"toolMode": chosen} if chosen else {})}
    return PolicySettings.of(given, standing(skill, skill.name), returns=promised_by(metadata) is not None)


def model_settings(metadata: Mapping[str, Any]) -> Mapping[str, Any]:
    """The mapping ``model`` of a prompt's metadata; a name alone says which model, and nothing else."""
    model = metadata.get("model")
    return model if isinstance(model, Mapping) else {}


def promised_by(metadata: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """The schema of what a prompt promises to return."""
    returns = metadata.get("returns")
    return returns if isinstance(returns, Mapping) else None
