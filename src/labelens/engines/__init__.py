"""Rows that are on many machines, or in many pieces: where they are is no part of a method.

parts.py        what an engine has to offer, and the tree in which partial results are merged
fitting.py      a fit of rows in parts, on any engine
first_pass.py   what has to be known of all rows before the first is added
errors.py       where in a source an error is
"""
