"""A live page: each change of a setting refits the model, and the points move."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import ArrayLike

    from .._base.types import LabelsLike
    from .server import Explorer

__all__ = ["explore"]


def explore(
    X: ArrayLike | None = None,
    y: LabelsLike | Mapping[str, LabelsLike] | None = None,
    *,
    height: int = 760,
) -> Explorer:
    """Open a page that shows embeddings and refits them when a setting changes.

    This process serves the page, to this machine only. A notebook shows the page in the cell;
    otherwise open `explore(X, y).url` in a browser.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features) or DataFrame, default=None
        None shows the bundled data sets.
    y : array-like, DataFrame, dict of columns, or names of columns of X, default=None
        Labels: one column or several to switch between; classes or numbers.
    height : int, default=760
        Height of the notebook cell, in pixels.

    Returns
    -------
    Explorer
        The running server, with `url` and `stop()`.

    Examples
    --------
    >>> import labelens
    >>> from sklearn.datasets import load_iris
    >>> explorer = labelens.explore(*load_iris(return_X_y=True))
    >>> explorer.url.startswith("http://127.0.0.1:")
    True
    >>> explorer.stop()
    """
    # Imported here: the server's modules slow down `import labelens`.
    from .explored import bundled, from_arrays
    from .server import Explorer
    from .sessions import Sessions, session_of

    sessions = Sessions(bundled()) if X is None else session_of(from_arrays(X, y))
    return Explorer(sessions, framed=True, height=height).start()
