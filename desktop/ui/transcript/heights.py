"""Heights of all messages in a Fenwick tree: where a message starts and which message is at a pixel, in O(log n)."""

from __future__ import annotations

from collections.abc import Iterable


class Heights:
    """The heights of all messages in whole pixels; each may change at any time, new ones are added at the end."""

    def __init__(self, heights: Iterable[int] = ()) -> None:
        self._values = list(heights)
        self._tree = [0, *self._values]
        tree, size = self._tree, len(self._values)
        for index in range(1, size + 1):
            parent = index + (index & -index)
            if parent <= size:
                tree[parent] += tree[index]

    def __len__(self) -> int:
        return len(self._values)

    def __getitem__(self, index: int) -> int:
        return self._values[index]

    def total(self) -> int:
        return self.top(len(self._values))

    def set(self, index: int, height: int) -> int:
        """Change one height; returns the difference."""
        difference = height - self._values[index]
        if difference:
            self._values[index] = height
            at, size = index + 1, len(self._values)
            while at <= size:
                self._tree[at] += difference
                at += at & -at
        return difference

    def top(self, index: int) -> int:
        """The sum of all heights before ``index``."""
        total = 0
        while index > 0:
            total += self._tree[index]
            index -= index & -index
        return total

    def at(self, y: int) -> tuple[int, int]:
        """(message at this pixel, pixels into it); below the end it is the last message."""
        size = len(self._values)
        index, step = 0, 1 << size.bit_length()
        while step:
            following = index + step
            if following <= size and self._tree[following] <= y:
                index, y = following, y - self._tree[following]
            step >>= 1
        if index >= size:
            return size - 1, y + (self._values[-1] if size else 0)
        return index, y

    def append(self, height: int) -> None:
        self._values.append(height)
        index = len(self._values)
        self._tree.append(self.top(index - 1) - self.top(index - (index & -index)) + height)
