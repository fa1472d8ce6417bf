"""Icons are there also when an installer exchanges the app's files, and one that is not takes nothing along."""

import pytest
from PySide6.QtGui import QColor

from desktop.ui.theme import icons
from desktop.ui.theme.icons import IconCache
from desktop.ui.theme.resources import ICONS

pytestmark = pytest.mark.spec("R-PKG-2")
INK = QColor("black")


def test_once_all_are_read_no_file_is_opened_for_one(theme: object) -> None:
    icons._source.cache_clear()
    icons.read_all()
    read = icons._source.cache_info().misses
    names = [file.stem for file in ICONS.glob("*.svg")]
    assert read == len(names) > 50
    cache = IconCache()
    assert all(not cache.pixmap(name, INK, 16, 1.0).isNull() for name in names)
    assert icons._source.cache_info().misses == read


@pytest.mark.expects_log("the icon 'gone' cannot be read: FileNotFoundError")
def test_one_whose_file_is_gone_is_empty_and_looked_for_again_the_next_time(theme: object) -> None:
    cache = IconCache()
    first, second = (cache.pixmap("gone", INK, 16, 2.0) for _ in range(2))
    assert [one.size().width() for one in (first, second)] == [32, 32]
    assert first.toImage().pixelColor(16, 16).alpha() == 0
    assert first.cacheKey() != second.cacheKey()
