"""Heights of all messages: where a message starts and which message is at a pixel, in O(log n).

A thread grows at both ends: by answers at its end, and at its beginning by the older pages that are read. So there are
two Fenwick trees, one from the place where it was opened down and one up, and growing costs what is added.
"""

from __future__ import annotations

from collections.abc import Iterable


class _Tree:
    """Heights whose sums are known; more are added at the end."""

    def __init__(self, heights: Iterable[int] = ()) -> None:
        self.values = list(heights)
        self._tree = [0, *self.values]
        tree, size = self._tree, len(self.values)
        for index in range(1, size + 1):
            parent = index + (index & -index)
            if parent <= size:
                tree[parent] += tree[index]

    def change(self, index: int, difference: int) -> None:
        self.values[index] += difference
        at, size = index + 1, len(self.values)
        while at <= size:
            self._tree[at] += difference
            at += at & -at

    def sum(self, count: int) -> int:
        """The sum of the first ``count`` heights."""
        total = 0
        while count > 0:
            total += self._tree[count]
            count -= count & -count
        return total

    def within(self, y: int) -> tuple[int, int]:
        """(how many fit into ``y`` whole, what is left of it)."""
        size = len(self.values)
        index, step = 0, 1 << size.bit_length()
        while step:
            following = index + step
            if following <= size and self._tree[following] <= y:
                index, y = following, y - self._tree[following]
            step >>= 1
        return index, y

    def append(self, height: int) -> None:
        self.values.append(height)
        index = len(self.values)
        self._tree.append(self.sum(index - 1) - self.sum(index - (index & -index)) + height)


class Heights:
    """The heights of all messages in whole pixels; each may change at any time, new ones are added at either end."""

    def __init__(self, heights: Iterable[int] = ()) -> None:
        self._older, self._newer = _Tree(), _Tree(heights)

    def __len__(self) -> int:
        return len(self._older.values) + len(self._newer.values)

    def __getitem__(self, index: int) -> int:
        older = self._older.values
        if not 0 <= index < len(self):
            raise IndexError(index)
        return older[len(older) - 1 - index] if index < len(older) else self._newer.values[index - len(older)]

    def total(self) -> int:
        return self.top(len(self))

    def set(self, index: int, height: int) -> int:
        """Change one height; returns the difference."""
        difference = height - self[index]
        older = len(self._older.values)
        if difference and index < older:
            self._older.change(older - 1 - index, difference)
        elif difference:
            self._newer.change(index - older, difference)
        return difference

    def top(self, index: int) -> int:
        """The sum of all heights before ``index``."""
        older = len(self._older.values)
        above = self._older.sum(older)
        return above - self._older.sum(older - index) if index < older else above + self._newer.sum(index - older)

    def at(self, y: int) -> tuple[int, int]:
        """(message at this pixel, pixels into it); below the end it is the last message."""
        older = len(self._older.values)
        above = self._older.sum(older)
        if y < above:
            # From the place where both trees meet it is so far up: whole messages below, and a part of the one sought.
            below, rest = self._older.within(above - y - 1)
            return older - 1 - below, self._older.values[below] - 1 - rest
        index, y = self._newer.within(y - above)
        if index >= len(self._newer.values):
            last = len(self) - 1
            return last, y + (self[last] if last >= 0 else 0)
        return older + index, y

    def append(self, height: int) -> None:
        self._newer.append(height)

    def prepend(self, heights: Iterable[int]) -> None:
        """Add the heights of older messages, in their order."""
        for height in reversed(list(heights)):
            self._older.append(height)
