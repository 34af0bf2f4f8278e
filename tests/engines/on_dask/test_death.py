"""A worker that dies."""

import os
import signal
import threading
import time
from uuid import uuid4

import pytest
from sklearn.base import clone

from engines.here import assert_same_bits
from engines.on_dask.cluster import KSRP, D, N, local_cluster, one_machine
from labelens import SupervisedPCA

dask = pytest.importorskip("dask", reason='needs pip install "labelens[dask]"')
distributed = pytest.importorskip("distributed", reason='needs pip install "labelens[dask]"')
import dask.array as da  # noqa: E402


def slowly(block, folder):
    (folder / uuid4().hex).touch()
    time.sleep(0.1)
    return block


@pytest.mark.slow
@pytest.mark.parametrize(
    ("model", "blocks"),
    [
        (SupervisedPCA(2), 9),
        (KSRP(2, gamma=0.1, target_weight=0.5, n_random_features=64, random_state=0), 22),
    ],
    ids=["class sums, early", "sketch, late"],
)
def test_a_worker_is_killed(rows, model, blocks, tmp_path):
    """When so many blocks of 200 rows have been begun: six for the first rows, 25 for moments."""
    X, y = rows
    undisturbed = one_machine(model, X, y, ends=list(range(200, N + 1, 200)))
    killed, done = [], threading.Event()

    def kill(victim):
        while not done.is_set():
            if len(list(tmp_path.iterdir())) >= blocks:
                os.kill(victim, signal.SIGKILL)
                killed.append(victim)
                return
            time.sleep(0.005)

    with local_cluster() as cluster, distributed.Client(cluster) as client:
        lazily = da.from_array(X, chunks=(200, D)).map_blocks(
            slowly, folder=tmp_path, dtype=X.dtype, meta=X[:0]
        )
        victim = min(client.run(os.getpid).values())
        killer = threading.Thread(target=kill, args=(victim,))
        killer.start()
        found = clone(model).fit(lazily, da.from_array(y, chunks=200))
        done.set()
        killer.join()
    assert killed == [victim]
    # What it had begun or held was done again, so it was at work.
    assert len(list(tmp_path.iterdir())) > 6 + 25
    assert_same_bits(found, undisturbed)
