"""One data set: split once, with each fit scored on the held-out rows."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from copy import copy
from dataclasses import replace
from functools import cache
from threading import RLock, Thread
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._base.jit import get_ready
from .._base.threads import cached_property, in_order, one_blas_thread
from .._base.validation import check_seed
from .._core.moments import Spread
from .._fit import settings
from .._fit.batch import Batch, read_batch
from .._fit.fitted import embed_rows
from .._fit.recipe import draw_recipe, settle_kernel, spread_of
from .._fit.task import Task
from .._judge.trial import held_out, some_of
from .._judge.wheel import numbered_classes
from ..methods import KernelSupervisedPCA, SupervisedPCA
from ..report.colouring import Colouring, families, stratified
from ..report.evidence import interpret
from .arranged import ArrangedAtlas, Placed, base, make_wheel, no_map
from .explored import FEWEST, SPLIT_SEED, ExploredData, read_label
from .fits import Fit
from .images import Pictured, pictures
from .space import FittedSpace, Space, embed_each
from .view import ControlState

# Training rows and held-out rows of a score: each held-out row has its neighbours in the former.
MOST_KNOWN, MOST_ASKED = 10_000, 2_000
SHARE, FEWEST_UNTOUCHED = 1 / 3, 20  # of the held-out rows, which are scored once
QUICK = 20_000  # training rows, with which an atlas takes a few seconds
KEPT_FITS, KEPT_SPACES = 4, 2
ROUGHLY = "The covariance of the features is in single precision; saved files are exact."
MOST_AT_ONCE, SAMPLE = 100_000, 12_000  # rows; more have a first answer of a sample
CHEAP, WARMING = 1e11, 2048  # products of a covariance; rows of a fit that loads compiled code


class Session:
    """Rows in a new order, training rows first; `order` has their numbers in the old one."""

    def __init__(self, material: ExploredData) -> None:
        n = len(material.X)
        if n < FEWEST:
            raise ValueError(f"X has {n} rows; at least {FEWEST} are required to hold some out.")
        columns = list(material.labels.values())
        test = held_out(columns[0] if len(columns) == 1 else None, n, SPLIT_SEED)
        self.trained = ~test  # (n,) in the old order
        self.order = np.concatenate([np.flatnonzero(~test), np.flatnonzero(test)])
        self.n_train = int(n - test.sum())
        self.X = np.ascontiguousarray(material.X[self.order])
        self.numbers = self.order if material.numbers is None else material.numbers[self.order]
        # Keep one copy of the rows.
        self.material = replace(material, X=np.empty((0, self.X.shape[1])))
        draw = np.random.default_rng(SPLIT_SEED)
        self.shuffle = draw.permutation(n)  # the row whose label each row gets
        self.values = [values[self.order] for values in columns]
        self.labels = list(map(read_label, material.labels, self.values))
        # Rows of the plot (drawn), and training rows (known) and held-out rows (asked) of a score.
        self.drawn = stratified(self.labels[0].strata())
        self.known = some_of(np.arange(self.n_train), MOST_KNOWN, draw)
        apart = draw.permutation(np.arange(self.n_train, n))
        aside = int(SHARE * len(apart)) if SHARE * len(apart) >= FEWEST_UNTOUCHED else 0
        self.untouched = np.sort(apart[:aside][:MOST_ASKED])
        self.final: dict[int, tuple[ControlState, dict[str, Any]]] = {}  # by label
        self.asked = some_of(np.sort(apart[aside:]), MOST_ASKED, draw)
        self.judged = np.concatenate([self.known, self.asked])
        self.looked = np.union1d(np.union1d(self.drawn, self.judged), self.untouched)
        self.sampled: NDArray[np.int64] | None = None  # places of a sample in the rows drawn
        self._begin()
        get_ready(self.X.size)

    def _begin(self) -> None:
        # Arguments: the label and whether it is shuffled; for gammas the kernel and the scale.
        self.families = cache(self._find_families)
        self._batch, self._numbered = cache(self._read_batch), cache(self._number_classes)
        self._scale_gamma = cache(self._find_scale_gamma)
        self._fits: OrderedDict[ControlState, Fit] = OrderedDict()
        self._atlases: OrderedDict[ControlState, list[ArrangedAtlas]] = OrderedDict()
        self._spaces: OrderedDict[Hashable, Space] = OrderedDict()
        self._lock, self._warmed = RLock(), False

    @cached_property
    def sample(self) -> Session | None:
        """The session of a sample of the rows, for a first answer; None if rows are few.

        It contains the rows `known` and `asked`, so its scores are of the same rows.
        """
        if len(self.X) <= MOST_AT_ONCE:
            return None
        draw = np.random.default_rng(SPLIT_SEED)
        more = some_of(np.arange(self.n_train), SAMPLE, draw)
        seen = some_of(self.drawn, SAMPLE, draw)
        rows = np.union1d(self.judged, np.union1d(more, seen))
        part = copy(self)
        for name in ("sample", "drawn_places", "_judged_rows", "spread_drawn", "_spread"):
            vars(part).pop(name, None)  # computed from all rows
        part.X, part.numbers, part.order = self.X[rows], self.numbers[rows], self.order[rows]
        part.n_train = int(np.searchsorted(rows, self.n_train))
        part.values = [values[rows] for values in self.values]
        part.labels = [replace(label, codes=label.codes[rows]) for label in self.labels]
        part.shuffle = draw.permutation(len(rows))
        part.drawn = np.flatnonzero(np.isin(rows, self.drawn))
        part.sampled = np.searchsorted(self.drawn, rows[part.drawn])
        part.known, part.asked = (np.searchsorted(rows, some) for some in (self.known, self.asked))
        part.judged = np.concatenate([part.known, part.asked])
        part.looked = np.arange(len(rows))
        part._begin()
        part._scale_gamma, part._warmed = self._scale_gamma, True
        return part

    def default(self) -> ControlState:
        """The view that the page shows first."""
        k = min(2, self.X.shape[1])
        several = len(self.labels[0].names) > 3 and self.n_train <= QUICK
        if several and not no_map(self.labels[0], "atlas", len(self.looked)):
            return ControlState(components=k, map="atlas", shrinkage=0.1)
        # c classes span c - 1 directions; variance gives the others.
        few = 0 < len(self.labels[0].names) <= k
        return ControlState(components=k, target_weight=0.9 if few else 1.0)

    # Fitting -------------------------------------------------------------------------------------

    def fit(self, view: ControlState, exact: bool = True) -> Fit:
        """The fit of a view, its control with shuffled labels, and their scores.

        Without `exact`, differences are smaller than a pixel of the plot.
        """
        with self._lock:
            plain = view.plain()
            if plain in self._fits and self._fits[plain].exact >= exact:
                self._fits.move_to_end(plain)
                return self._fits[plain]
            # Values that are not finite are rejected later. Threads of BLAS spin for 0.1 s after a
            # product, and would take a core from the blocks of rows.
            with one_blas_thread(), np.errstate(over="ignore", invalid="ignore"):
                fit = self._fit(view, exact)
            self._fits[plain] = fit
            while len(self._fits) > KEPT_FITS:
                self._fits.popitem(last=False)
            if not self._warmed:  # after the first plot
                self._warmed = True
                Thread(target=self.warm, daemon=True).start()
            return fit

    def _fit(self, view: ControlState, exact: bool) -> Fit:
        start = perf_counter()
        own, other, space = self._pair(view, exact)
        exact = exact or not space.roughly(own.near)
        model, control, note = own.model, other.model, own.note
        honest: list[NDArray[Any] | None] = [None, None]

        def looked(rows: Any) -> Any:
            return rows if len(self.looked) == len(self.X) else rows[self.looked]

        if view.map == "components" and space.rows is self.X and own.near.plain:
            # Rows without a score are embedded for the plot, in the components that it draws.
            judged = embed_each([own, other], self._judged_rows)

            def embedded(shuffled: bool, axes: list[int] | None) -> NDArray[Any]:
                return embed_each([other if shuffled else own], looked(self.X), axes)[0]

        else:
            if view.map == "components":
                both = embed_each([own, other], looked(space.rows))
            else:
                placed = self._arranged(view, own, other, space)
                (model, control), both, honest = (list(some) for some in zip(*placed, strict=True))
                note = ""
            places = np.searchsorted(self.looked, self.judged)
            judged = [Z[places] for Z in both]

            def embedded(shuffled: bool, axes: list[int] | None) -> NDArray[Any]:
                return both[shuffled] if axes is None else both[shuffled][:, axes]

        scores = self._scores(self.labels[view.label], judged, self.asked)
        return Fit(
            view,
            model,
            control,
            embedded,
            scores,
            interpret(scores, len(self.asked)),
            [said for said in (note, "" if exact else ROUGHLY) if said],
            float(own.model.gamma_) if view.kernelised and own.model.gamma_ is not None else None,
            self.gamma_of(view),
            perf_counter() - start,
            exact,
            honest,
        )

    def _pair(self, view: ControlState, exact: bool) -> tuple[FittedSpace, FittedSpace, Space]:
        """The fit and its control; they share the rows and the sums that have no labels."""
        pair = []
        view = replace(view, components=self.components(view))
        for mixed in (False, True):
            estimator = self.estimator(view)
            estimator.n_features_in_ = self.X.shape[1]
            if (names := self.material.feature_names) is not None:
                estimator.feature_names_in_ = np.array(names, dtype=object)
            settings.check(estimator)
            batch = self._batch(view.label, mixed)
            if view.kernelised and view.scale != "none":
                batch = replace(batch, spread=self._spread)
            recipe = draw_recipe(estimator, batch)
            space = self._space(view, recipe)
            moments = space.moments(recipe, batch, (view.label, mixed), exact)
            pair.append(space.solved(estimator, recipe, moments))
        own, control = pair
        return own, control, space

    def estimator(self, view: ControlState) -> Any:
        """The unfitted estimator of a view."""
        return view.estimator(self.gamma_of(view), self.labels[view.label].continuous)

    def gamma_of(self, view: ControlState) -> float | None:
        """The value of gamma="scale"; None without a kernel."""
        return self._scale_gamma(view.kernel, view.scale) if view.kernelised else None

    def embed_all(self, fit: Fit) -> NDArray[Any]:
        """(n, k), the embedding of all rows."""
        if len(self.looked) == len(self.X):
            return fit.Z
        if fit.view.map != "components":
            return np.asarray(fit.model.transform(self.X), dtype=fit.Z.dtype)
        return embed_rows(fit.model, self.X, check_columns=False)

    def components(self, view: ControlState) -> int:
        """The number of components of the map or of its base model."""
        if view.map == "components":
            return view.components
        if reason := no_map(self.labels[view.label], view.map, len(self.looked)):
            raise ValueError(reason)
        _, classes = self._numbered(view.label, False)
        return base(self.estimator(view), len(classes), self.X.shape[1])

    def _arranged(
        self, view: ControlState, own: FittedSpace, other: FittedSpace, space: Space
    ) -> list[Placed]:
        """The atlas or wheel of the fit, and that of its control."""
        models = own.model, other.model
        key = replace(view.plain(), detail=0.0, temperature=0.0, components=1)
        if key not in self._atlases:
            embedded = embed_each([own, other], space.rows)

            def made(which: int) -> Any:
                numbered = self._numbered(view.label, bool(which))
                about = self.X, embedded[which], self.looked, numbered
                if view.map == "wheel":
                    return make_wheel(self.estimator(view), models[which], *about[1:])
                return ArrangedAtlas.of(models[which], *about)

            found = list(in_order(made, (0, 1)))
            if view.map == "wheel":
                return found
            self._atlases[key] = found
            while len(self._atlases) > KEPT_SPACES:
                self._atlases.popitem(last=False)
        return [one.placed(view) for one in self._atlases[key]]

    def _training_labels(self, label: int, mixed: bool) -> NDArray[Any]:
        values = self.values[label]
        return (values[self.shuffle] if mixed else values)[: self.n_train]

    def _read_batch(self, label: int, mixed: bool) -> Batch:
        rows, labels = self.X[: self.n_train], self._training_labels(label, mixed)
        return read_batch(SupervisedPCA(), rows, labels, None, True, True)

    def _number_classes(self, label: int, mixed: bool) -> tuple[NDArray[np.intp], list[Any]]:
        """The class number of each training row, and the sorted classes."""
        return numbered_classes(self._training_labels(label, mixed), self.n_train)[1:]

    @cached_property
    def _judged_rows(self) -> NDArray[Any]:
        return self.X[self.judged]

    @cached_property
    def _spread(self) -> Any:
        return spread_of(self._batch(0, False))

    def _find_scale_gamma(self, kernel: Any, scale: Any) -> float:
        scaling = None if scale == "none" else scale
        estimator = KernelSupervisedPCA(kernel=kernel, gamma="scale", scale=scaling)
        batch = replace(self._batch(0, False), spread=self._spread)
        settled, _ = settle_kernel(estimator, batch, check_seed(0))
        assert settled is not None
        return float(settled.gamma)

    def _space(self, view: ControlState, recipe: Any) -> Space:
        """The space of a view; of kernel spaces the last few are kept."""
        key: Hashable = "linear"
        if view.kernelised:
            one = view.plain()
            key = one.kernel, one.gamma, one.features, one.scale, one.seed
        if key not in self._spaces:
            kernels = [other for other in self._spaces if other != "linear"]
            old = self._spaces.pop(kernels[0]) if len(kernels) >= KEPT_SPACES else None
            buffer = old.rows if old is not None and old.written else None
            self._spaces[key] = Space(recipe, self.X, self.n_train, buffer)
        self._spaces.move_to_end(key)
        return self._spaces[key]

    # Judging -------------------------------------------------------------------------------------

    def _find_families(self, label: int) -> list[int]:
        codes, names = self.labels[label].codes, self.labels[label].names
        return families(codes[self.drawn], self.X[self.drawn], len(names))

    @cached_property
    def pictured(self) -> Pictured | None:
        """The image of a row, by its place; None if rows are not images."""
        return pictures(self.X, self.material.shown, self.order, self.material.folder)

    @cached_property
    def drawn_places(self) -> NDArray[np.int64]:
        return np.searchsorted(self.looked, self.drawn)

    @property
    def hidden(self) -> NDArray[np.bool_]:
        """Which of the rows drawn are untouched: set aside, and without a score so far."""
        return np.isin(self.drawn, [] if self.final else self.untouched)

    def score_untouched(self, view: ControlState) -> tuple[ControlState, dict[str, Any]]:
        """Scores of the untouched rows, and the view that they belong to."""
        with self._lock:
            if view.label not in self.final:
                fit = self.fit(view, exact=False)
                rows = np.concatenate([self.known, self.untouched])
                both = [Z[np.searchsorted(self.looked, rows)] for Z in (fit.Z, fit.chance)]
                scores = self._scores(self.labels[view.label], both, self.untouched)
                self.final[view.label] = view.plain(), scores
            return self.final[view.label]

    def _scores(
        self, label: Colouring, both: list[NDArray[Any]], asked: NDArray[np.int64]
    ) -> dict[str, Any]:
        """1-NN accuracy, or 5-NN R^2, of held-out rows, and of the same under shuffled labels.

        `both` are the embeddings of the rows `known`, followed by those of the rows `asked`.
        """
        known, m = self.known, len(self.known)
        task = Task(None, label.codes, "numbers" if label.continuous else "classes")
        mixed = label.codes[self.shuffle]

        def worth(embedding: NDArray[Any], codes: NDArray[Any]) -> float:
            # Squares of distances must not overflow or underflow.
            embedding = embedding / (float(np.abs(embedding).max()) or 1.0)
            guesses = task.guesses(embedding[:m], codes[known], embedding[m:])
            return task.score(guesses, codes[asked])

        with one_blas_thread(), ThreadPoolExecutor(2) as pool:
            heldout, shuffled = pool.map(worth, both, (label.codes, mixed))
        majority = None
        if not label.continuous:
            commonest = np.bincount(label.codes[: self.n_train]).argmax()
            majority = float(np.mean(label.codes[asked] == commonest))
        return {
            "metric": "k-NN R^2" if label.continuous else "1-NN accuracy",
            "heldout": heldout,
            "shuffled": shuffled,
            "majority": majority,
            "train": None,
            "raw": None,
        }

    @cached_property
    def spread_drawn(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Mean and standard deviation of each column over the rows drawn."""
        rows = self.X if len(self.drawn) == len(self.X) else self.X[self.drawn]
        spread = Spread.of(rows)
        return sum(spread.mean), np.sqrt(spread.variance)  # type: ignore[return-value]

    def warm(self) -> None:
        """Compute in advance the sums for moves of shrinkage and target weight."""
        # Simulated rows: a fit of the data could warn.
        shape = min(WARMING, len(self.X)), self.X.shape[1]
        some = np.random.default_rng(0).normal(size=shape).astype(self.X.dtype)
        KernelSupervisedPCA(1, n_random_features=64).fit(some, np.arange(len(some)) % 2)
        if self.n_train * self.X.shape[1] ** 2 > CHEAP:
            return
        view = ControlState(components=1, target_weight=0.5, shrinkage=0.5)
        batch = self._batch(0, False)
        recipe = draw_recipe(view.estimator(None, self.labels[0].continuous), batch)
        with self._lock:
            space = self._space(view, recipe)
        # Errors are left to the fit that needs these sums, which raises them again.
        with suppress(ValueError, MemoryError), one_blas_thread(), np.errstate(all="ignore"):
            space.take_apart(space.moments(recipe, batch, (0, False)), recipe.parameters["scale"])
