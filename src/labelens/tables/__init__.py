"""Tables as people keep them: files of columns, some of which are labels.

pandas holds them, pyarrow reads CSV; what is decided about a column is said in a sentence.
"""

from .columns import Table, align, pick
from .encoding import Encoding
from .files import read, write
from .joining import join

__all__ = ["Encoding", "Table", "align", "join", "pick", "read", "write"]
