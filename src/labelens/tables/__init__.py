"""Tables as people keep them: files of columns, some of which are labels.

files.py, text.py   reading and writing
places.py           tables that are not one local file
joining.py          labels of a second file
cells.py            what a cell says
summary.py          mergeable statistics of columns
encoding.py         one column as features
encoder.py          `TableEncoder`: all columns as features
columns.py          `pick` and `align`: features and labels of a frame
"""

from .columns import Table, align, pick
from .columns import likely_labels as likely_labels
from .columns import read_label as read_label
from .encoder import TableEncoder
from .encoding import EncodedColumn as EncodedColumn
from .files import read, write
from .joining import join
from .places import located

__all__ = ["Table", "TableEncoder", "align", "join", "located", "pick", "read", "write"]
