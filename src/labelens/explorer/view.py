"""The settings of a view, with checks of messages from the page."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields, replace
from typing import Any

from .. import methods
from .._fit.settings import is_kernel_method

METHODS: dict[str, Any] = {"pca": methods.SupervisedPCA} | methods.METHODS
KERNELS = ("rbf", "laplacian", "matern", "polynomial", "linear")
MAPS = ("components", "atlas", "wheel")
SCALES = ("none", "minmax", "standard")
MOST_COMPONENTS, MOST_FEATURES, LARGEST_SEED = 64, 4096, 2**32 - 1


class RejectedError(ValueError):
    """A message that the page of this version does not send."""


@dataclass(frozen=True)
class ControlState:
    """The settings of one view; equal settings give equal plots."""

    label: int = 0  # which column of labels
    method: str = "spca"
    kernel: str = "rbf"
    gamma: float = 1.0  # a multiple of gamma="scale"
    components: int = 2
    target_weight: float = 1.0
    shrinkage: float = 1.0
    label_shrinkage: float = 1.0
    scale: str = "standard"
    features: int = 1024  # random features
    seed: int = 0
    map: str = "components"  # one of MAPS; other maps have a base model of n_classes - 1
    detail: float = 0.85  # of an atlas
    temperature: float = 0.0  # of an atlas; 0: chosen by held-out rows

    @classmethod
    def read(cls, message: Any, n_labels: int) -> ControlState:
        """The view of a JSON message, which must have all fields and no others."""
        wanted = {field.name for field in fields(cls)}
        if not isinstance(message, dict) or set(message) != wanted:
            raise RejectedError(f"A view must have exactly the fields {', '.join(sorted(wanted))}.")
        return cls(
            label=whole(message["label"], "label", 0, n_labels - 1),
            method=word(message["method"], "method", METHODS),
            kernel=word(message["kernel"], "kernel", KERNELS),
            gamma=number(message["gamma"], "gamma", 0, math.inf, above=True),
            components=whole(message["components"], "components", 1, MOST_COMPONENTS),
            target_weight=number(message["target_weight"], "target_weight", 0, 1),
            shrinkage=number(message["shrinkage"], "shrinkage", 0, 1),
            label_shrinkage=number(message["label_shrinkage"], "label_shrinkage", 0, 1),
            scale=word(message["scale"], "scale", SCALES),
            features=whole(message["features"], "features", 2, MOST_FEATURES),
            seed=whole(message["seed"], "seed", 0, LARGEST_SEED),
            map=word(message["map"], "map", MAPS),
            detail=number(message["detail"], "detail", 0, 1),
            temperature=number(message["temperature"], "temperature", 0, 10),
        )

    @property
    def kernelised(self) -> bool:
        return is_kernel_method(METHODS[self.method])

    @property
    def seeded(self) -> bool:
        """Whether the method uses random numbers."""
        return self.method in ("srp", "ksrp") or (self.kernelised and self.kernel != "linear")

    def plain(self) -> ControlState:
        """The same view with defaults for settings that the method does not use."""
        same: dict[str, Any] = {}
        if self.map != "atlas":
            same |= {"detail": 0.85, "temperature": 0.0}
        if self.method == "pca":
            same |= {"target_weight": 0.0, "label_shrinkage": 1.0}
        if not self.kernelised:
            same |= {"kernel": "rbf", "gamma": 1.0, "features": 1024}
        elif self.kernel == "linear":
            same |= {"gamma": 1.0, "features": 1024}
        if not self.seeded:
            same["seed"] = 0
        return replace(self, **same)

    def estimator(self, scale_gamma: float | None, continuous: bool) -> Any:
        """The unfitted estimator; `scale_gamma` is the value of gamma="scale"."""
        method, view = METHODS[self.method], self.plain()
        parameters: dict[str, Any] = {
            "n_components": self.components,
            "target_weight": view.target_weight,
            "shrinkage": self.shrinkage,
            "label_shrinkage": view.label_shrinkage,
            "scale": None if self.scale == "none" else self.scale,
            "random_state": self.seed,
        }
        if continuous:
            parameters["label_kernel"] = "rbf"  # by default whole numbers are classes
        if is_kernel_method(method):
            assert scale_gamma is not None
            gamma = "scale" if view.gamma == 1 else view.gamma * scale_gamma
            parameters |= {
                "kernel": self.kernel, "gamma": gamma, "n_random_features": view.features
            }  # fmt: skip
        return method(**parameters)


def whole(value: Any, name: str, low: int, high: int) -> int:
    if type(value) is not int or not low <= value <= high:
        raise RejectedError(f"{name} must be a whole number from {low} to {high}.")
    return value


def number(value: Any, name: str, low: float, high: float, above: bool = False) -> float:
    good = type(value) is float or (type(value) is int and abs(value) < 2**53)
    if not good or not math.isfinite(value) or not low <= value <= high or (above and value == low):
        limits = f" from {low:g} to {high:g}" if high < math.inf else f" above {low:g}"
        raise RejectedError(f"{name} must be a number{limits}.")
    return float(value)


def word(value: Any, name: str, known: Any) -> str:
    if not isinstance(value, str) or value not in known:
        raise RejectedError(f"{name} must be one of {', '.join(known)}.")
    return value


def truth(value: Any, name: str) -> bool:
    if not isinstance(value, bool):
        raise RejectedError(f"{name} must be true or false.")
    return value
