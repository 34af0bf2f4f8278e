"""One HTML page about one embedding: to look at, to check, and to repeat."""

from .contents import Contents, Label
from .page import write_report
from .suspects import write_suspects

__all__ = ["Contents", "Label", "write_report", "write_suspects"]
