"""Walltime limits as users guess them, for histories that record none."""

import bisect
import math
import random

import histories
from study import data

NEIGHBOURS = 100


class UserLimits:
    """Limits as requested by the users of ThetaGPU: limit / run time of one of the records with a
    similar run time. `slack`: limits also suffice on a slow GPU and across nodes; `least_s` more than
    the duration, for restarts."""

    def __init__(self, slack, least_s=0):
        self.slack = slack
        self.least_s = least_s
        self.records = sorted(
            (float(row["run_time"]), float(row["wall_time"]))
            for row in histories.read_csv(data("traces/alcf/data_thetagpu.csv.gz"))
            if float(row["run_time"]) > 0 and float(row["wall_time"]) > 0)

    def add(self, rows, seed):
        generator = random.Random(seed)
        for row in rows:
            near = bisect.bisect_left(self.records, (row["duration"], 0))
            begin = max(0, min(near, len(self.records)) - NEIGHBOURS)
            run, limit = generator.choice(self.records[begin:near + NEIGHBOURS])
            wanted = self.slack * row["duration"] * max(1, limit / run)
            row["walltime_s"] = math.ceil(max(wanted, self.slack * row["duration"] + self.least_s))
        return rows
