"""What means harm, and what is merely unlucky: each part tries to break one promise.

`python -m torture` runs all parts, each in a process of its own, and prints "N of N" a line;
`--short` is what the test suite runs, `--part NAME` is one of them; `--seed N` repeats a run.
"""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass
class Tally:
    """How many attempts were made, and which of them broke something."""

    long: bool
    seed: int | None = None  # of what is drawn anew in every run; None: by chance
    total: int = 0
    failures: list[str] = field(default_factory=list)

    def check(self, name, fault=None):
        """Count an attempt; `fault` says what went wrong, if anything did."""
        self.total += 1
        if fault:
            self.failures.append(f"{name}: {fault}")

    def attempt(self, name, function, *arguments):
        """Count a call that returns a fault or nothing, and must not raise."""
        try:
            fault = function(*arguments)
        except Exception as error:
            fault = f"{type(error).__name__}: {error}"
        self.check(name, fault)
