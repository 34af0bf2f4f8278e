"""One HTML page about one embedding: to look at, to check, and to repeat."""

from .contents import Contents, Label
from .page import write_report

__all__ = ["Contents", "Label", "write_report"]
