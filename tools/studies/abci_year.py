#!/usr/bin/env python3
"""Compares the analysis of a synthetic year with GPU series with the generator's true answers.

    goban trace generate --like abci-2019 --with-gpu-series year
    goban analyze year/jobs.csv --gpu year/series --cluster abci --out report
    python3 tools/studies/abci_year.py year report

truth.csv has, for each job and computed by separate code, the number of GPUs used, their mean and their
spread. This script computes condition 5 and Figures 5 to 7 from it and compares them with the report,
number by number. Counts and shares must be equal; means and spreads must agree to 1e-5 points, because
the analysis keeps them in single precision. Exit code 1 if one differs.
"""
import csv
import json
import sys
from bisect import bisect_right
from collections import defaultdict

BINS = [(2, 2), (3, 4), (5, 8), (9, 34), (35, 68), (69, 136), (137, 512)]


def jobs_of(folder):
    """(GPUs, nodes, used, mean, spread) of each job with exit code 0; jobs that used a GPU."""
    jobs, in_use = [], 0
    with open(f"{folder}/jobs.csv") as rows, open(f"{folder}/truth.csv") as truths:
        for row, truth in zip(csv.DictReader(rows), csv.DictReader(truths), strict=True):
            assert row["job_id"] == truth["job_id"]
            used = int(truth["used_gpus"])
            in_use += used > 0
            if used > 0 and row["exit_code"] == "0":
                spread = float(truth["used_sd_points"]) if used > 1 else -1
                jobs.append((int(truth["gpus"]), int(row["num_nodes"]), used,
                             float(truth["used_mean_pct"]), spread))
    return jobs, in_use


SLACK = 1e-5


class Check:
    """Compares and prints."""

    def __init__(self, report):
        self.figures = {each["id"]: each for each in report["figures"]}
        self.tables = {each["id"]: each for each in report["tables"]}
        self.differences = 0

    def same(self, name, found, truth):
        good = len(found) == len(truth) and all(
            abs(a - b) <= SLACK for a, b in zip(found, truth))
        self.differences += not good
        print(f"{name:40} {'equal' if good else 'DIFFERS'}: {len(truth)} numbers, "
              f"the last one {truth[-1]:.3f}")

    def shares(self, figure, counts):
        total = sum(counts)
        self.same(figure, self.figures[figure]["series"][0]["y"], [100 * n / total for n in counts])

    def distribution(self, figure, groups):
        for series, values in zip(self.figures[figure]["series"], groups, strict=True):
            values.sort()

            def share(x, values=values):
                return 100 * bisect_right(values, x) / len(values)

            self.same(f"{figure} {series['key']}", series["y"],
                      [min(max(y, share(x - SLACK)), share(x + SLACK))
                       for x, y in zip(series["x"], series["y"])])

    def spreads(self, table, groups):
        rows = self.tables[table]["rows"]
        groups = [group for group in groups if group]
        self.same(f"{table} jobs", [row[1] for row in rows], [len(group) for group in groups])
        self.same(f"{table} mean", [row[2] for row in rows], [sum(g) / len(g) for g in groups])
        self.same(f"{table} maximum", [row[5] for row in rows], [max(g) for g in groups])
        self.same(f"{table} up to 10 points", [row[6] for row in rows],
                  [100 * sum(x <= 10 for x in g) / len(g) for g in groups])


def main():
    year, out = sys.argv[1:]
    with open(f"{out}/report.json") as file:
        check = Check(json.load(file))
    jobs, in_use = jobs_of(year)
    check.same("funnel, condition 5", [check.tables["funnel"]["rows"][-1][7]], [in_use])
    one = [job for job in jobs if job[0] == 1]
    node = [job for job in jobs if job[0] == 4 and job[1] == 1]
    multi = [job for job in jobs if job[1] > 1]
    by_used, by_nodes = defaultdict(list), defaultdict(list)
    for job in node:
        by_used[job[2]].append(job)
    for job in multi:
        by_nodes[next(b for b in BINS if b[0] <= job[1] <= b[1])].append(job)
    check.shares("figure5a_used_gpus", [len(by_used[n]) for n in (1, 2, 3, 4)])
    tenths = [0] * 11
    for job in multi:
        tenths[10 * job[2] // job[0]] += 1
    check.shares("figure5b_used_ratio", tenths)
    check.distribution("figure6a_one_gpu", [[job[3] for job in one]])
    check.distribution("figure6b_one_node", [[j[3] for j in by_used[n]] for n in (1, 2, 3, 4)])
    check.distribution("figure6c_multi_node", [[job[3] for job in multi]])
    check.spreads("figure7a_one_node", [[j[4] for j in by_used[n] if j[4] >= 0] for n in (2, 3, 4)])
    check.spreads("figure7b_multi_node",
                  [[j[4] for j in by_nodes[b] if j[4] >= 0] for b in BINS])
    return 1 if check.differences else 0


if __name__ == "__main__":
    sys.exit(main())
