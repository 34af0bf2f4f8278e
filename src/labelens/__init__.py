"""Supervised dimensionality reduction that sees data through its labels.

A method is a feature map, a label map and a solver; data enters only through their cross-moment.
"""

import typing as _typing

if _typing.TYPE_CHECKING:
    from ._public import *  # noqa: F403

__version__ = "0.1.0"


def __getattr__(name: str) -> _typing.Any:
    # NumPy, SciPy and scikit-learn take a second to load, in which the command line could neither
    # show its help nor be stopped without a traceback: so they are loaded by the first use.
    from importlib import import_module, util

    # Rooms first, such as labelens.plot: while they load they ask for each other here.
    if not name.startswith("_") and util.find_spec(f"{__name__}.{name}") is not None:
        return import_module(f".{name}", __name__)
    if name == "__all__" or not name.startswith("_"):
        public = import_module("._public", __name__)
        globals().update({known: getattr(public, known) for known in public.__all__})
        globals()["__all__"] = public.__all__
        if name in globals():
            return globals()[name]
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__getattr__("__all__")})
