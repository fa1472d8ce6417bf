"""The types of Qt that Assent uses, all made before anything is imported in a thread.

PySide6 makes a type when it is first asked for, and keeps what it has still to make in tables that two threads may not
change at once: an import in a thread that asked for one, while the window asked for another, ended the process with a
segmentation fault, now and then. So the window's thread makes them; the first page needs most of them anyway.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterator, Mapping

from desktop.systems import current

NAMES: Mapping[str, str] = {
    "PySide6.QtCore": """
        QAbstractEventDispatcher QAbstractItemModel QAbstractListModel QAbstractNativeEventFilter
        QAbstractTableModel QBuffer QByteArray QCoreApplication QDir QEasingCurve QEvent QEventLoop QFileInfo
        QFileSystemWatcher QIODevice QItemSelection QItemSelectionModel QLocale QMessageLogContext QMetaMethod
        QMimeData QModelIndex QObject QPersistentModelIndex QPoint QPointF QRect QRectF QRunnable QSize QSizeF
        QSocketNotifier QStringListModel QThreadPool QTimer QUrl QVariantAnimation Qt QtMsgType SLOT Signal
        SignalInstance Slot qInstallMessageHandler qVersion
    """,
    "PySide6.QtGui": """
        QAbstractFileIconProvider QAccessible QAccessibleActionInterface QAccessibleAnnouncementEvent
        QAccessibleEvent QAccessibleInterface QAction QBrush QCloseEvent QColor QContextMenuEvent QCursor
        QDesktopServices QDoubleValidator QDropEvent QEnterEvent QFileOpenEvent QFocusEvent QFont QFontDatabase
        QFontMetrics QFontMetricsF QGuiApplication QHelpEvent QHideEvent QIcon QImage QImageIOHandler QImageReader
        QImageWriter QInputMethodEvent QIntValidator QKeyEvent QKeySequence QMouseEvent QPaintEvent QPainter
        QPainterPath QPalette QPen QPixmap QRegion QResizeEvent QShortcut QShowEvent QStandardItem
        QStandardItemModel QSyntaxHighlighter QTextBlock QTextCharFormat QTextCursor QTextDocument QTextFormat
        QTextFragment QTextLayout QTextOption QTransform QWheelEvent QWindow Qt
    """,
    "PySide6.QtWidgets": """
        QAbstractButton QAbstractItemView QAbstractScrollArea QAbstractSlider QAbstractSpinBox QAccessibleWidget
        QApplication QBoxLayout QButtonGroup QCheckBox QComboBox QFileDialog QFocusFrame QFrame QGridLayout
        QHBoxLayout QHeaderView QLabel QLayout QLineEdit QListView QMainWindow QMenu QPlainTextEdit QProgressBar
        QProxyStyle QPushButton QRadioButton QScrollArea QScrollBar QSizePolicy QStackedLayout QStackedWidget QStyle
        QStyleHintReturn QStyleOption QStyleOptionButton QStyleOptionComboBox QStyleOptionViewItem QStylePainter
        QStyledItemDelegate QSystemTrayIcon QTableView QTextEdit QToolButton QToolTip QTreeView QVBoxLayout QWidget
    """,
    "PySide6.QtSvg": """
        QSvgRenderer
    """,
    "PySide6.QtDBus": """
        QDBusConnection QDBusMessage QDBusPendingCallWatcher QDBusVariant
    """,
}
"""By module of PySide6: every name that the app takes from it."""
LINUX_ALONE = "PySide6.QtDBus"
AT_ONCE = 6
"""So many in one turn: some milliseconds."""


def make_types() -> Iterator[None]:
    """Make those of this system, with a pause after each few."""
    for module, names in NAMES.items():
        if module != LINUX_ALONE or current.LINUX:
            there = importlib.import_module(module)
            for number, name in enumerate(names.split(), 1):
                getattr(there, name)
                if number % AT_ONCE == 0:
                    yield
            yield
