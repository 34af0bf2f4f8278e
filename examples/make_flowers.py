"""Write flowers.csv: a simulated table with numbers, text, dates, gaps and a class.

    python examples/make_flowers.py

No row was measured anywhere. Species differ in size, colour and habitat, and two overlap.
"""

from __future__ import annotations

import csv
from datetime import date, timedelta
from pathlib import Path

import numpy as np

COLOURS, HABITATS = ("white", "yellow", "blue", "violet"), ("bog", "meadow", "forest", "rock")
SPECIES = {  # petal and stem in cm, shares of colours, shares of habitats, first week of bloom
    "alpine star": (1.4, 9, (7, 1, 1, 1), (0, 2, 1, 7), 22),
    "blue bell": (2.1, 28, (0, 0, 6, 4), (1, 4, 5, 0), 20),
    "marsh lily": (3.6, 55, (4, 6, 0, 0), (9, 1, 0, 0), 17),
    "wood violet": (1.7, 14, (1, 0, 3, 6), (0, 1, 8, 1), 13),
    "meadow violet": (1.9, 17, (2, 0, 3, 5), (1, 8, 1, 0), 16),
}


def rows(n: int = 300, seed: int = 0):
    draw = np.random.default_rng(seed)
    for number in range(n):
        species = draw.choice(list(SPECIES))
        petal, stem, colours, habitats, week = SPECIES[species]
        size = draw.normal(1, 0.12)
        day = date(2025, 1, 1) + timedelta(days=7 * week + int(draw.integers(0, 40)))
        yield {
            "plant": f"P{number:03}",
            "species": species,
            "petal_cm": round(petal * size * draw.normal(1, 0.06), 2),
            "stem_cm": "" if draw.random() < 0.08 else round(stem * size * draw.normal(1, 0.15), 1),
            "leaves": int(draw.poisson(3 + stem / 8)),
            "colour": draw.choice(COLOURS, p=np.divide(colours, 10)),
            "habitat": draw.choice(HABITATS, p=np.divide(habitats, 10)),
            "collected": day.isoformat(),
        }


def main() -> None:
    table = list(rows())
    with Path(__file__).with_name("flowers.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(table[0]))
        writer.writeheader()
        writer.writerows(table)


if __name__ == "__main__":
    main()
