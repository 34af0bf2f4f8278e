"""The experiments of the paper: runs, figures, claims and a report. `make paper` runs them all.

Not a part of the installed package.
"""
