"""The Skills page: what to show, the list, and one skill; and the guard over what was not saved."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Protocol, cast

from PySide6.QtCore import QEvent, QPoint, QRect, Qt, QTimer, Signal
from PySide6.QtGui import QAction, QResizeEvent, QShowEvent
from PySide6.QtWidgets import QFrame, QMenu, QStackedWidget, QWidget

from desktop.presenter.settings.model_setup import ModelSetupViewModel
from desktop.presenter.skills.models import SkillsModels
from desktop.presenter.skills.repositories import Repositories
from desktop.ui.skills import asking, facets, importing, list_pane
from desktop.ui.skills.detail import SkillPane
from desktop.ui.skills.facets import Facets
from desktop.ui.skills.list_pane import SkillList
from desktop.ui.skills.repositories import list_pane as repository_pane
from desktop.ui.skills.repositories.adding import AddDialog
from desktop.ui.skills.repositories.item_pane import ItemPane
from desktop.ui.skills.repositories.list_pane import RepositoryList
from desktop.ui.theme import theme
from desktop.ui.widgets.dialogs.drop_zone import DropZone
from desktop.ui.widgets.dialogs.files import choose_folder
from desktop.ui.widgets.dialogs.page_shortcut import PageShortcut
from desktop.ui.widgets.dialogs.toast import Toast
from desktop.ui.widgets.layout.folding import FoldingPane
from desktop.ui.widgets.scaling import Column

OVERLAY_BELOW = 1040
"""Pixels of the window, at 100 %, below which the skill lies over the list."""


class Overlaid(Protocol):
    """A pane that needs a way back where it lies over the list."""

    def set_overlaid(self, overlaid: bool) -> None: ...


class SideBySide(QWidget):
    """The list, ``wide`` pixels at 100 %, and one thing of it beside it or, in a narrow window, over it."""

    def __init__(self, rows: QWidget, skill: QWidget, wide: int = list_pane.WIDTH) -> None:
        super().__init__()
        self._rows, self._skill, self._wide = rows, skill, wide
        self.over = False
        self.narrow = False
        rows.setParent(self)
        skill.setParent(self)

    def show_skill(self, wanted: bool) -> None:
        """Bring the skill over the list, or put it away, while the window is narrow."""
        self.over = wanted
        self.place()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Place the parts anew at the new size."""
        super().resizeEvent(event)
        self.place()

    def place(self) -> None:
        """Arrange the parts by the width of the window."""
        px = theme().px
        self.narrow = self.window().width() < px(OVERLAY_BELOW)
        cast("Overlaid", self._skill).set_overlaid(self.narrow)
        width = self.width() if self.narrow else min(px(self._wide), self.width() // 2)
        self._rows.setGeometry(QRect(0, 0, width, self.height()))
        if self.narrow:
            self._skill.setGeometry(self.rect())
            self._skill.setVisible(self.over)
            self._skill.raise_()
        else:
            self._skill.setGeometry(QRect(width, 0, self.width() - width, self.height()))
            self._skill.show()


class RepositorySides(SideBySide):
    """What a repository has, and one thing of it."""

    def __init__(self, repositories: Repositories) -> None:
        self.list, self.item = RepositoryList(repositories), ItemPane(repositories)
        super().__init__(self.list, self.item, repository_pane.WIDTH)
        self.list.opened.connect(self._open)
        self.item.back.connect(self._back)
        self.item.keys_lost.connect(lambda: self.item.leave.setFocus() if self.narrow else self.list.take_keys())

    def _open(self) -> None:
        self.show_skill(True)
        if self.narrow:
            self.item.leave.setFocus()

    def _back(self) -> None:
        self.show_skill(False)
        self.list.take_keys()


class SkillsPage(QFrame):
    """The Skills page. ``model_wanted`` and ``approvals_wanted``: the person wants to choose a model, or to see what
    waits. ``known``: the models there are."""

    model_wanted = Signal()
    approvals_wanted = Signal()
    topic_changed = Signal()

    def __init__(self, models: SkillsModels, known: ModelSetupViewModel | None = None) -> None:
        super().__init__()
        self._models = models
        self._skills, self._editor = models.skills, models.editor
        self.setProperty("pane", "surface")
        self.facets, self.list = Facets(models.skills, models.repositories), SkillList(models.skills)
        self.skill = SkillPane(models.skills, models.editor, models.trials, known)
        self.sides = SideBySide(self.list, self.skill)
        self.work = QStackedWidget()
        self.work.addWidget(self.sides)
        self.repository = RepositorySides(models.repositories) if models.repositories is not None else None
        if self.repository is not None:
            self.work.addWidget(self.repository)
        self.folding = FoldingPane(self.facets, self.work, width=facets.WIDTH, name="Show what to filter by")
        self.list.head.insertWidget(0, self.folding.button)
        Column(self, spacing=0).addWidget(self.folding, 1)
        self.toast = Toast(self.work)
        self._after_save: Callable[[], None] | None = None
        self._connect()
        self._shortcuts()

    def _connect(self) -> None:
        skills, editor, projects = self._skills, self._editor, self._models.projects
        self.list.picked.connect(self.pick)
        self.list.clicked.connect(self._clicked)
        self.list.opened.connect(self._open)
        self.list.acted.connect(self.act)
        self.list.menu_wanted.connect(self._menu)
        self.list.new_wanted.connect(self.new)
        self.facets.new_wanted.connect(self.new)
        self.facets.project_wanted.connect(lambda: choose_folder(self, "Open project folder", projects.add))
        self.skill.acted.connect(self.act)
        self.skill.back.connect(self._back)
        self.skill.other.connect(self._show_other)
        self.skill.model_wanted.connect(self.model_wanted)
        self.skill.approvals_wanted.connect(self.approvals_wanted)
        for told in (skills.said, skills.failed, projects.said, projects.failed):
            told.connect(self.toast.say)
        skills.shown.connect(self.list.mark)
        skills.came.connect(self._came)
        skills.touched.connect(editor.look_at_disk)
        self.toast.undone.connect(skills.undo_delete)
        self.toast.undone.connect(self._models.imports.undo)
        self.drop = DropZone(self, "Drop to import a skill", self._dropped)
        editor.failed.connect(self._save_failed)
        editor.saved.connect(self._saved)
        editor.conflict.connect(lambda _: self._leave_not())
        if self._models.repositories is not None:
            self._connect_repositories(self._models.repositories)

    def help_topic(self) -> str:
        """The page of help for what shows."""
        repositories = self._models.repositories
        return "repositories" if repositories is not None and repositories.view is not None else "skills"

    def _connect_repositories(self, repositories: Repositories) -> None:
        group = self.facets.repositories
        assert group is not None
        group.add_wanted.connect(self.add_repository)
        group.wanted.connect(lambda name: self.leaving(lambda: repositories.open(name)))
        self.facets.pressed.connect(lambda: repositories.open(""))
        repositories.opened.connect(self._show_repository)
        repositories.said.connect(self.toast.say)
        repositories.failed.connect(self.toast.say)
        self.toast.undone.connect(repositories.undo)

    def _show_repository(self) -> None:
        """A repository, or the list of skills; the button that brings the left pane goes along."""
        repositories, sides = self._models.repositories, self.repository
        assert repositories is not None
        assert sides is not None
        wanted: QWidget = sides if repositories.view is not None else self.sides
        if wanted is self.work.currentWidget():
            return
        (sides.list.head if wanted is sides else self.list.head).insertWidget(0, self.folding.button)
        self.work.setCurrentWidget(wanted)
        self.folding.put_away()
        self.topic_changed.emit()
        if wanted is sides:
            sides.show_skill(False)
            sides.list.take_keys()
        else:
            self.list.rows.setFocus(Qt.FocusReason.OtherFocusReason)

    def add_repository(self, address: str = "") -> None:
        """Ask for the address of a repository, and look at it; one that is given is looked at, or shown if it is here
        already. Nothing of it is taken by that."""
        repositories = self._models.repositories
        known = (
            next((v.source.name for v in repositories.views if v.source.address == address), "") if repositories else ""
        )
        if repositories is not None and known:
            self.leaving(lambda: repositories.open(known))
        elif repositories is not None:
            dialog = AddDialog(self.window(), repositories)
            dialog.open(dialog.field)
            if address:
                dialog.begin(address)

    def _shortcuts(self) -> None:
        for keys, act in (
            ("Ctrl+Shift+N", self.new),
            ("Ctrl+D", lambda: self.act("duplicate")),
            ("Ctrl+T", lambda: self.act("try")),
        ):
            PageShortcut(keys, self, act)

    def showEvent(self, event: QShowEvent) -> None:
        """List the skills when the page is first shown."""
        super().showEvent(event)
        self._skills.start()
        if self._models.repositories is not None:
            self._models.repositories.start()

    def changeEvent(self, event: QEvent) -> None:
        """Back from another program, perhaps an editor: read the open skill again."""
        super().changeEvent(event)
        if event.type() == QEvent.Type.ActivationChange and self.isActiveWindow() and self.isVisible():
            self._skills.look_again()
            self._editor.look_at_disk((self._editor.path,))

    def first_focus(self) -> QWidget:
        """Keys go to the list, or to what is being edited."""
        if self.repository is not None and self.work.currentWidget() is self.repository:
            return self.repository.list.rows
        if self.skill.isVisible() and self._editor.dirty:
            return self.skill.edit.source
        return self.list.rows

    def begin_find(self) -> None:
        """Move the keys to the search field (Ctrl+F)."""
        if self._models.repositories is not None:
            self._models.repositories.open("")
        self.sides.show_skill(False)
        self.list.field.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self.list.field.selectAll()

    # -- choosing -----------------------------------------------------------------------------------------------------

    def pick(self, key: tuple[str, str]) -> None:
        """Show a skill; asks first about unsaved changes of another one."""
        if key == self._skills.key:
            return
        self.leaving(lambda: self._skills.select(key))

    def leaving(self, go_on: Callable[[], None]) -> None:
        """Do something that would lose what was not saved: at once where there is nothing, else after asking."""
        self.skill.flush()
        if not self._editor.dirty:
            go_on()
            return
        QTimer.singleShot(0, self, self.list.mark)  # the view marks the row it was leaving for only after this

        def answered(answer: str) -> None:
            if answer == "discard":
                self._editor.discard()
                go_on()
            elif answer == "save":
                self._after_save = go_on
                self._editor.save()

        asking.ask_leave(self.window(), self._editor.name, answered)

    def _saved(self) -> None:
        go_on, self._after_save = self._after_save, None
        if go_on is not None:
            self._editor.close()
            go_on()

    def _save_failed(self, sentence: str) -> None:
        self._leave_not()
        self.toast.say(sentence)

    def _leave_not(self) -> None:
        """Saving did not work: stay where the text is."""
        self._after_save = None

    def _open(self) -> None:
        """Return on a row: to the skill, with the keys."""
        self.sides.show_skill(True)
        self.skill.tabs.focusNextPrevChild(True) if self.sides.narrow else self.skill.edit_button.setFocus()

    def _clicked(self) -> None:
        """A click on a row shows its skill at every width; beside the list the keys stay where they are."""
        if self.sides.narrow:
            self._open()

    def _came(self) -> None:
        """What has just been made is seen at every width."""
        self.sides.show_skill(True)

    def _back(self) -> None:
        self.sides.show_skill(False)
        self.list.rows.setFocus()

    def _show_other(self, path: str) -> None:
        if self._skills.key is not None:
            self.pick((path, self._skills.key[1]))

    # -- acting -------------------------------------------------------------------------------------------------------

    def new(self) -> None:
        """A new skill of one's own: made here, or imported."""
        self.leaving(self._new_menu)

    def _new_menu(self) -> None:
        button = next((one for one in (self.list.make, self.facets.new) if one.isVisible()), self.list)
        menu = self.make_new_menu()
        menu.popup(button.mapToGlobal(button.rect().bottomLeft() if button is not self.list else QPoint(8, 8)))
        menu.setActiveAction(menu.actions()[0])

    def make_new_menu(self) -> QMenu:
        """The ways to a new skill."""
        menu = QMenu("New skill", self)
        menu.setAccessibleName("New skill")
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        for words, act in (
            ("Make a skill…", self.make),
            ("Import from a folder…", self.import_folder),
            ("Import from an archive…", self.import_archive),
            ("Paste a SKILL.md…", self.import_text),
            *((("Add a repository…", self.add_repository),) if self.repository is not None else ()),
        ):
            action = QAction(words, menu)
            action.triggered.connect(lambda _=False, act=act: act())
            menu.addAction(action)
        return menu

    def make(self) -> None:
        """Make a skill from a template."""
        asking.ask_new(self.window(), self._skills.create)

    def import_folder(self) -> None:
        """Import skills from a folder that the person chooses."""
        choose_folder(self, "Import a skill from a folder", self.import_path)

    def import_archive(self) -> None:
        """Import skills from a zip or tar.gz archive."""
        importing.choose_archive(self, self.import_path)

    def import_text(self) -> None:
        """Import a skill from a text that is pasted."""
        dialog = importing.PasteDialog(self.window(), self._look_at_text)
        dialog.open(dialog.field)

    def _dropped(self, paths: tuple[str, ...]) -> None:
        if len(paths) > 1:
            self.toast.say("Drop one folder, archive or SKILL.md at a time")
        else:
            self.leaving(lambda: self.import_path(paths[0]))

    def import_path(self, path: str) -> None:
        """Look at a folder, an archive or a file, and show what it is."""
        importing.ImportDialog(self.window(), self._models.imports, os.path.basename(path) or path).open()
        self._models.imports.look_at(path)

    def _look_at_text(self, text: str) -> None:
        importing.ImportDialog(self.window(), self._models.imports, "what you pasted").open()
        self._models.imports.look_at_text(text)

    def act(self, what: str) -> None:
        """edit | try | duplicate | rename | delete | trust | text, for the open skill."""
        detail = self._skills.detail
        if detail is None:
            return
        if what == "edit":
            self.sides.show_skill(True)
            self.skill.begin_edit()
        elif what == "try":
            self.sides.show_skill(True)
            self.skill.show_tab("try")
        elif what == "trust":
            folder = self._models.projects.project_of(detail.key[0])
            asking.ask_trust(self.window(), folder, lambda: self._models.projects.trust(folder))
        elif detail.key[0] and (what == "duplicate" or detail.writable):
            self.leaving(lambda: self._change(what, detail.key[1]))

    def _change(self, what: str, name: str) -> None:
        if what == "delete":
            self._skills.delete()
        elif what == "rename":
            words = "The file and the name inside it change together. Agents find it by its new name at once."
            asking.ask_name(self.window(), f"Rename {name}", words, "Rename", name, self._skills.rename)
        else:
            words = "The copy goes into your own skills folder. With the same name it comes before the original."
            mine = self._skills.row is not None and self._skills.row.source == "mine"
            wanted = f"{name}-copy" if mine else name
            asking.ask_name(self.window(), f"Duplicate {name}", words, "Duplicate", wanted, self._skills.duplicate)

    def _menu(self, spot: QPoint) -> None:
        if self._skills.detail is not None:
            self.skill.make_menu().popup(spot)
