"""What the Skills page is built on, in one hand."""

from __future__ import annotations

from desktop.domain.loading.lazy_dataclass import dataclass
from desktop.presenter.skills.editing import SkillEditor
from desktop.presenter.skills.importing import SkillImport
from desktop.presenter.skills.page import SkillsViewModel
from desktop.presenter.skills.projects import SkillProjects
from desktop.presenter.skills.repositories import Repositories
from desktop.presenter.skills.trying import SkillTrials


@dataclass(frozen=True, slots=True)
class SkillsModels:
    """One of each, for the whole life of the window."""

    skills: SkillsViewModel
    editor: SkillEditor
    trials: SkillTrials
    projects: SkillProjects
    imports: SkillImport
    repositories: Repositories | None = None
