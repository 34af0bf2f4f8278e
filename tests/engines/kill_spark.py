"""Fits on Spark of which something is killed on the way, each compared with an undisturbed one.

python tests/engines/kill_spark.py "local[2,4]" 10                a Python worker, ten times
python tests/engines/kill_spark.py "local-cluster[2,1,1024]" 10   an executor, ten times

Prints what was killed when, how many tasks failed of it, and whether the model has the same bits.
Ends with 1 if a fit failed, a model differs, or a kill hit nothing.
"""

import os
import signal
import sys
import threading
import time
from pathlib import Path

import numpy as np

import labelens

PARTS, ROWS = 12, 1100  # of every part
COLUMNS = [f"x{j}" for j in range(8)]


def session(master):
    from pyspark.sql import SparkSession

    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    settings = {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.driver.memory": "1g",
        "spark.executor.memory": "512m",
        "spark.sql.session.timeZone": "UTC",
    }
    builder = SparkSession.builder.master(master).appName("labelens")
    for name, value in settings.items():
        builder = builder.config(name, value)
    spark = builder.getOrCreate()
    spark.sparkContext.setLogLevel("OFF")
    return spark


def rows(spark, milliseconds=0):
    """The same rows each time; each may take a while, in Java, to be there."""
    from pyspark.sql.functions import col, expr, sin

    frame = spark.range(0, PARTS * ROWS, 1, PARTS)
    if milliseconds:  # of every tenth row
        nap = f"if(id % 10 = 0, reflect('java.lang.Thread', 'sleep', {milliseconds}L), 'no') != ''"
        frame = frame.where(expr(nap))
    numbers = [sin((j + 1) * col("id") ** 2).alias(name) for j, name in enumerate(COLUMNS)]
    return frame.select(*numbers, (col("id") % 7 % 3).alias("y"))


def fitted(frame):
    model = labelens.KernelSupervisedPCA(
        3, gamma=0.1, n_random_features=256, shrinkage=0.1, random_state=0
    )
    return labelens.spark.fit(model, frame, COLUMNS, "y")


def main(master, kills):
    spark = session(master)
    try:
        undisturbed = fitted(rows(spark))
        same = [disturbed(spark, number, undisturbed) for number in range(kills)]
        return all(same)
    finally:
        spark.stop()


def disturbed(spark, number, undisturbed):
    killer = Killer(spark, completed=2 + number % (PARTS - 5))
    killer.start()
    start = time.monotonic()
    model = fitted(rows(spark, milliseconds=8))
    seconds = time.monotonic() - start
    killer.over.set()
    killer.join()
    same = all(
        np.array_equal(getattr(model, name), getattr(undisturbed, name))
        for name in ("components_", "mean_", "singular_values_")
    )
    print(f"{killer.killed} after {killer.completed} of {PARTS} parts, ", end="")
    print(f"{killer.failed()} task(s) failed, {seconds:.1f} s, {'same' if same else 'OTHER'} bits")
    return same and killer.failed() > 0


class Killer(threading.Thread):
    """Kills when so many tasks of the pass over all parts are done, and others are running."""

    def __init__(self, spark, completed):
        super().__init__(daemon=True)
        self.tracker, self.completed = spark.sparkContext.statusTracker(), completed
        self.executors = spark.sparkContext.master.startswith("local-cluster")
        self.before = set(self.tracker.getJobIdsForGroup(None))
        self.stage, self.killed, self.over = None, "nothing killed", threading.Event()

    def run(self):
        while not self.is_time():
            if self.over.wait(0.01):
                return
        for pid in self.victims():
            os.kill(pid, signal.SIGKILL)
            self.killed = f"{'executor' if self.executors else 'worker'} {pid} killed"
            deadline = time.monotonic() + 2  # an idle one is no loss; then it is another's turn
            while time.monotonic() < deadline:
                if self.failed():
                    return
                time.sleep(0.01)

    def is_time(self):
        for job in set(self.tracker.getJobIdsForGroup(None)) - self.before:
            for stage in getattr(self.tracker.getJobInfo(job), "stageIds", ()):
                info = self.tracker.getStageInfo(stage)
                # The first rows come by tasks of one part each.
                if info and info.numActiveTasks and info.numCompletedTasks >= self.completed:
                    self.stage = stage
                    return True
        return False

    def failed(self):
        info = None if self.stage is None else self.tracker.getStageInfo(self.stage)
        return 0 if info is None else info.numFailedTasks

    def victims(self):
        """Processes that this one has started by way of others, the youngest first."""
        parents, commands = {}, {}
        for folder in Path("/proc").glob("[0-9]*"):
            try:
                stat = (folder / "stat").read_text()
                commands[int(folder.name)] = (folder / "cmdline").read_text()
                parents[int(folder.name)] = int(stat.rpartition(")")[2].split()[1])
            except OSError:  # it has ended meanwhile
                continue
        ours = {os.getpid()}
        while more := {pid for pid, parent in parents.items() if parent in ours} - ours:
            ours |= more
        what = "CoarseGrainedExecutorBackend" if self.executors else "pyspark.daemon"
        found = {pid for pid in ours if what in commands.get(pid, "")}
        return sorted(found if self.executors else found - set(map(parents.get, found)))[::-1]


if __name__ == "__main__":
    sys.exit(not main(sys.argv[1], int(sys.argv[2])))
