"""What the Skills page is built on, in one hand."""

from __future__ import annotations

from dataclasses import dataclass

from desktop.presenter.skills import SkillsViewModel
from desktop.presenter.skills_editing import SkillEditor
from desktop.presenter.skills_importing import SkillImport
from desktop.presenter.skills_projects import SkillProjects
from desktop.presenter.skills_trying import SkillTrials


@dataclass(frozen=True, slots=True)
class SkillsModels:
    """One of each, for the whole life of the window."""

    skills: SkillsViewModel
    editor: SkillEditor
    trials: SkillTrials
    projects: SkillProjects
    imports: SkillImport
