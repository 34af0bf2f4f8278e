"""Colours and shapes of classes, the same in figures, reports and the explorer.

The colours maximise the smallest difference (CIEDE2000) between any two of them, to a normal eye
and to one without red, green or blue cones (Machado, Oliveira and Fernandes 2009), within the
lightness that can be seen on the ground of the page; earlier ones are further apart. A test has the
figures.
"""

from __future__ import annotations

COLOURS = (
    "#006ca8", "#d86000", "#0c9c6c", "#e4b4fc", "#900018", "#c0cc90", "#543c60", "#d8c018",
    "#6c90fc", "#00ccb4", "#0c5448", "#4800f0", "#c0300c", "#b47890", "#fc9cb4", "#9c90c0",
    "#003c9c", "#905478", "#547848", "#7854fc", "#78a854", "#902448",
)  # fmt: skip
ON_DARK = (
    "#489cd8", "#fc843c", "#24cca8", "#fcd8fc", "#a86c84", "#b4f084", "#f02460", "#3c6cfc",
    "#9cc0fc", "#009060", "#548418", "#fc0000", "#7878a8", "#cc9cc0", "#a8fce4", "#e4f0c0",
    "#c0b478", "#f018a8", "#fcf000", "#78a884", "#fc9ca8", "#f0c024",
)  # fmt: skip
N_COLOURS = len(COLOURS)
MARKERS = ("o", "^", "s", "D", "v", "P", "X", "*", "<", ">")  # in figures


def look(number: int) -> tuple[str, str]:
    """The colour and the marker of a class in a figure; a hundred classes have a pair each."""
    turn, place = divmod(number, N_COLOURS)
    return COLOURS[place], MARKERS[(place + 5 * turn + turn // 2) % len(MARKERS)]


def css() -> str:
    """The colours as --c0, --c1, ... of a page, in its light and its dark scheme."""

    def root(colours: tuple[str, ...]) -> str:
        named = " ".join(f"--c{i}: {colour};" for i, colour in enumerate(colours))
        return f":root {{ --n-colours: {N_COLOURS}; {named} }}\n"

    return f"{root(COLOURS)}@media (prefers-color-scheme: dark) {{ {root(ON_DARK)}}}\n"
