"""Options that go together: a dataclass in the signature of a command, an option for each field."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from copy import copy
from dataclasses import fields, is_dataclass
from functools import wraps
from inspect import Parameter, cleandoc, signature
from typing import Annotated, Any, get_args, get_type_hints


def spread_out(command: Callable[..., None]) -> Callable[..., None]:
    """The command as typer, which knows no groups, wants it: fields in place of a dataclass."""
    asked = signature(command, eval_str=True)
    groups: dict[str, Any] = {
        p.name: p.annotation for p in asked.parameters.values() if is_dataclass(p.annotation)
    }
    others = [p for p in asked.parameters.values() if p.name not in groups]
    spread = [*others, *(option for group in groups.values() for option in _options(group))]

    @wraps(command)
    def called(**given: Any) -> None:
        for name, group in groups.items():
            given[name] = group(**{f.name: given.pop(f.name) for f in fields(group)})
        command(**given)

    parameters = [p.replace(kind=Parameter.KEYWORD_ONLY) for p in spread]
    called.__signature__ = asked.replace(parameters=parameters)  # type: ignore[attr-defined]
    called.__annotations__ = {p.name: p.annotation for p in spread}
    called.__doc__ = _unwrapped(command.__doc__ or "")
    return called


def _unwrapped(text: str) -> str:
    r"""A line for each paragraph, for terminals of any width; what follows \b stays as it is."""
    paragraphs = cleandoc(text).split("\n\n")
    return "\n\n".join(p if p.startswith("\b") else p.replace("\n", " ") for p in paragraphs)


def _options(group: Any) -> Iterator[Parameter]:
    """One for each field, under the group's own words in `--help`."""
    hints = get_type_hints(group, include_extras=True)
    for field in fields(group):
        kind, option = get_args(hints[field.name])
        option = copy(option)
        option.rich_help_panel = group.__doc__.rstrip(".")
        hint: Any = Annotated[kind, option]
        yield Parameter(field.name, Parameter.KEYWORD_ONLY, default=field.default, annotation=hint)
