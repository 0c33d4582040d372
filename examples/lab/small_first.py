"""Compares a policy of one's own with published ones: python small_first.py [TRACE]"""

import sys

import numpy
from numpy.typing import NDArray

import goban_lab as lab


class SmallFirst(lab.Policy):
    """Least work first; waiting earns credit."""

    select = "easy-backfill"

    def order(self, view: lab.View) -> NDArray[numpy.float64]:
        return view.gpus * view.estimate_s - 10 * view.wait_s

    def place(self, view: lab.PlaceView, job: lab.Job) -> list[int] | None:
        return view.free.one_node(job.gpus) or view.free.lowest(job.gpus)


def main() -> None:
    if len(sys.argv) > 1:
        jobs = lab.trace(sys.argv[1]).first("7d")
    else:
        jobs = lab.generate(jobs=3000, gpus=64, load=0.95)
    result = lab.compare(jobs, lab.cluster("8x8:V100"), [SmallFirst(), "fifo+packed", "las+pal"], seeds=range(8))
    print(result.table())
    print(result["SmallFirst"])


if __name__ == "__main__":
    main()
