"""A phase: requests in which a history grows from nothing while clearing and trimming remove the same on every step.

A run is one phase; with compaction it is several, each beginning where a summary replaced the history. In a phase,
request j (from 0) comes after j steps. ``steps`` of them stay, and of these the last ``keep`` with whole results. With

    k(j) = min(j, steps)            the steps that are there
    w(j) = min(j, keep, steps)      those with a whole result

the request has ``base + a k(j) + r w(j) + placeholder (k(j) - w(j))`` tokens. It grows by a + r a step up to the
smaller of keep and steps, by a + placeholder up to steps, and not at all after that; each sum over j is a sum of
1 + 2 + ... + n = n (n + 1) / 2. All is arithmetic on arrays of whole numbers (int64), one element a point.
"""

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Row = NDArray[np.int64]

NO_STEP = 2**40
"""The step at which something happens that never does: far behind the end of any run."""


def triangle(n: "Row") -> "Row":
    """1 + 2 + ... + n, and 0 where there is nothing to add."""
    import numpy as np

    n = np.maximum(n, 0)
    return n * (n + 1) // 2


def first_above(room: "Row", growth: "Row") -> "Row":
    """The first j of 1, 2, ... with ``j * growth > room``; `NO_STEP` where there is none."""
    import numpy as np

    reached = room // np.maximum(growth, 1) + 1
    return np.where(room < 0, 1, np.where(growth > 0, reached, NO_STEP))


class Phase(NamedTuple):
    """The sizes of a phase in tokens: ``base`` is what its first request carries."""

    base: "Row"
    a: "Row"
    r: "Row"
    placeholder: int
    keep: int
    steps: int

    def request(self, j: "Row") -> "Row":
        """Tokens of request j."""
        import numpy as np

        there = np.minimum(j, self.steps)
        whole = np.minimum(there, self.keep)
        tokens: Row = self.base + there * self.a + whole * self.r + (there - whole) * self.placeholder
        return tokens

    def total(self, n: "Row") -> "Row":
        """Tokens of the requests 0 .. n - 1 together."""
        import numpy as np

        steps = triangle(n - 1)
        there = steps - triangle(n - 1 - self.steps)
        whole = steps - triangle(n - 1 - min(self.keep, self.steps))
        tokens: Row = (
            np.maximum(n, 0) * self.base + there * self.a + whole * self.r + (there - whole) * self.placeholder
        )
        return tokens

    def same(self, j: "Row") -> "Row":
        """Tokens at the beginning of request j that stand as in request j - 1, for j from 1.

        All of j - 1 while nothing goes; up to the call of the newly cleared result, behind j - 1 - keep placeholders;
        ``base`` where a step is dropped. With keep = 0 the new placeholder stands where request j - 1 ended.
        """
        import numpy as np

        cleared = (j - 1 - self.keep) * (self.a + self.placeholder) + (self.a if self.keep else 0)
        grown = np.where(j > self.keep, cleared, (j - 1) * (self.a + self.r))
        return self.base + np.where(j > self.steps, 0, grown)

    def same_total(self, n: "Row") -> "Row":
        """`same` of the requests 1 .. n - 1 together."""
        import numpy as np

        j = np.maximum(n - 1, 0)
        growing = np.minimum(j, min(self.keep, self.steps))
        clearing = np.maximum(np.minimum(j, self.steps) - self.keep, 0)
        cleared = clearing * (self.a if self.keep else 0) + triangle(clearing - 1) * (self.a + self.placeholder)
        tokens: Row = j * self.base + triangle(growing - 1) * (self.a + self.r) + cleared
        return tokens

    def first_over(self, trigger: int) -> "Row":
        """The first j from 1 on whose request is over `trigger` and holds a step; `NO_STEP` where none is."""
        import numpy as np

        room = trigger - self.base
        fast = min(self.keep, self.steps)
        early = first_above(room, self.a + self.r)
        # Behind `fast` steps there is less room left, and each step takes less of it.
        left = np.maximum(room - np.minimum(fast, NO_STEP) * (self.a + self.r), 0)
        late = fast + first_above(left, self.a + self.placeholder)
        j = np.where((early <= fast) | (room < 0), early, late)
        return np.where(j <= self.steps, j, NO_STEP)
