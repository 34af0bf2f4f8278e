"""The paper's sentences that state a result, each compared with what was measured here.

Verdicts are computed from the numbers, by the rules of `claims_accuracy` and `claims_time`.
"""

from __future__ import annotations

from collections.abc import Callable

from . import claims_accuracy as accuracy
from . import claims_time as time
from .verdicts import UNKNOWN, Finding, Frames


def judge(frames: Frames) -> list[dict[str, str]]:
    """All claims; those whose experiment has not been run are "not measured"."""
    claims = []
    for sentence, where, rule in RULES:
        try:
            figure, verdict, note = rule(frames)
        except KeyError:
            figure, verdict, note = "", UNKNOWN, "Its experiment was not run, or lacked its data."
        claims.append(
            dict(sentence=sentence, where=where, figure=figure, verdict=verdict, note=note)
        )
    return claims


RULES: tuple[tuple[str, str, Callable[[Frames], Finding]], ...] = (
    (
        "Across all plots, we see that randomized approaches have 1-NN performance very close to "
        "their exact counterpart (i.e., SPCA-SRP and KSPCA-KSRP pairs)",
        "3.2",
        accuracy.close,
    ),
    ("... while providing 5-20x speed up in terms of wall-clock time.", "3.2", time.speed),
    (
        "... a small drop in 1-NN classification performance while providing orders of magnitude "
        "better time performance.",
        "4",
        time.orders,
    ),
    (
        "... while achieving 1-2 orders of magnitude better computational performance.",
        "Abstract",
        time.one_or_two_orders,
    ),
    (
        "increasing the number of random bases / projected dimension (i.e., k) results in better "
        "1-NN performance.",
        "3.2",
        accuracy.grows,
    ),
    (
        "linear approaches (SPCA, SRP) outperformed KSRP [on MNIST]",
        "3.2",
        accuracy.linear_wins,
    ),
    (
        "For the synthetic XOR [...] KSPCA and KSRP outperform their linear counterparts in lower "
        "dimensions.",
        "3.2",
        accuracy.kernels_win_on_xor,
    ),
    (
        "For the highly nonlinear Binary XOR and Spirals datasets [...] nonlinear approaches "
        "(i.e., KSPCA, KSRP) perform better",
        "3.1",
        accuracy.spirals,
    ),
    (
        "KSPCA and KSRP can embed a real-world dataset [Sonar] from 60 dimensions to 2 while "
        "keeping the classes well-separated.",
        "3.1",
        accuracy.sonar,
    ),
    (
        "the embeddings for all datasets generalize to unseen test samples.",
        "3.1",
        accuracy.generalises,
    ),
    (
        "For MNIST, we omit the results for KSPCA because we ran out of memory on a 64GB machine",
        "3.2",
        accuracy.memory,
    ),
    (
        "we simply approximate L using an RBF kernel with a very small variance. In our "
        "experiments, we use sigma_Y = 10^-10.",
        "3",
        accuracy.narrow,
    ),
    ("Z_2 = Sigma^(1/2) Z_1 up to a rotation.", "Claim 1", accuracy.claim_1),
    (
        "KSPCA has a total complexity of O(n^3), SPCA and SRP have a complexity of O(dn^2) [...] "
        "This aligns perfectly with the observed time duration results",
        "3.2, Table 1",
        time.complexities,
    ),
    ("SPCA: matrix multiplication O(n^3)", "Table 1", time.table_1),
    (
        "while randomized SVD improved on the run-time of SPCA's decomposition stage, it had a "
        "relatively small effect on the overall time performance",
        "1",
        time.randomized_svd,
    ),
    (
        "the efficiency gains observed here can be even more dramatic if we employ a kernel "
        "approximation method such as FastFood",
        "3.2",
        accuracy.fastfood,
    ),
    (
        "the proposed Supervised Random Projections method is also a novel approach for performing "
        "PCA in a randomized manner",
        "2.2",
        accuracy.random_pca,
    ),
    (
        "One way to overcome the rank deficiency in L is to add noise to the labels. We do this "
        "for UCI-Ionosphere. (commented out in the source)",
        "3.2",
        accuracy.label_noise,
    ),
)
