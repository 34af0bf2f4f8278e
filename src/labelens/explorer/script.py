"""Python that makes the same picture without the page."""

from __future__ import annotations

from typing import Any

from .explored import ExploredData
from .session import SPLIT_SEED
from .view import ControlState


def script(material: ExploredData, view: ControlState, estimator: Any) -> str:
    """The estimator is that of the view; fitted or not makes no difference."""
    label = list(material.labels)[view.label]
    method = type(estimator).__name__
    default = type(estimator)().get_params()
    changed = {k: v for k, v in estimator.get_params().items() if v != default[k]}
    model = f"{method}({', '.join(f'{name}={value!r}' for name, value in changed.items())})"
    names = [method]
    if view.wheel:
        model, names = f"Wheel({model})", [method, "Wheel"]
    strata = "y" if len(material.labels) == 1 else "None"
    lines = [
        f"from labelens import {', '.join(names)}",
        "from labelens._judge.trial import held_out",
        *material.code(label).splitlines(),
        f"train = ~held_out({strata}, len(X), {SPLIT_SEED})  # the rows that are fitted",
        f"model = {model}",
        "model.fit(X[train], y[train])",
        "Z = model.transform(X)",
    ]
    imports = {line for line in lines if line.startswith(("from ", "import "))}
    # As isort has them: `import numpy` before `from pathlib`, the others by name.
    ordered = sorted(imports, key=lambda line: (line.startswith("from labelens"), line))
    body = [line for line in lines if line and line not in imports]
    return "\n".join([*ordered, "", *body, ""])
