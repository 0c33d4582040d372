#!/usr/bin/env python3
"""Repeats EaCO's study: where does sharing GPUs save the energy that its paper states, where not.

28 and 64 nodes of 8 V100, histories drawn as in Gavel, two sources of slowdowns: EaCO's own
tables of four models, and Gavel's measured pairs of 26 job types. All policies run on the same
histories; changes are against FIFO on the same history, with their 95 % intervals over the seeds.
Also mixed clusters, the ranking of candidates, and sensitivity to settings. Prints Markdown.
Results are cached in --state, keyed by inputs and program.

usage: eaco_paper.py [--seeds N] [--add POLICY,...] [--only SECTION,...] [--state DIR]
"""

import argparse
import itertools
import os
import re
import statistics

from sharing_runs import (GAVEL, TABLE_MODELS, TABLES, TABLES_SIZES, Library, Question, Workload,
                          change_cell, changes, changes_cell, signed, value_cell, values,
                          values_cell)
from study import ROOT, goban

FIFO, PAPER, EACO = "fifo+packed", "eaco-paper", "eaco"
BASELINES = ("best-pair", "random-pair")
SLEEP = "fifo+packed+sleep"
# FIFO at 64 nodes holds 40, 60, 80 % of the GPUs, averaged over the makespan.
LOADS = {40: 0.45, 60: 0.68, 80: 0.90}
SMALL, LARGE = "28x8:V100", "64x8:V100"
MIXED = "20x8:V100+24x8:P100+20x8:K80"
MIXED_SMALL = "9x8:V100+10x8:P100+9x8:K80"
# What the paper's study is run on: a source and settings of sharing.
SETUPS = {f"{TABLES}, threshold 60 %": (TABLES, ("util_max_pct=60",)), TABLES: (TABLES, ()),
          TABLES_SIZES: (TABLES_SIZES, ()), GAVEL: (GAVEL, ())}
COLUMNS = ("D", "A", "B", "C", "active nodes", "node-days", "epoch time", "JCT")
BRIEF = ("D", "A", "C", "node-days", "epoch time", "JCT")


def ruled(*names):
    print(f"| {' | '.join(names)} |\n|{'-|' * len(names)}")


def heading(text):
    print(f"\n## {text}\n", flush=True)


class Study:
    """Questions, answers and tables."""

    def __init__(self, library, seeds, added):
        self.library = library
        self.seeds = range(1, seeds + 1)
        self.added = tuple(added)
        self.policies = (FIFO, SLEEP, *BASELINES, PAPER, EACO, *self.added)

    def over_seeds(self, source, occupancy, cluster, policies=None, energy="v100", options=(),
                   settings=(), lost=False, **workload):
        if settings:
            options = (*options, "--sharing", ",".join(settings))
        return [Question(Workload(source, LOADS[occupancy], seed, **workload),
                         tuple(policies or self.policies), cluster, energy, options, lost)
                for seed in self.seeds]

    def ask(self, cases):
        return self.library.ask([question for case in cases.values() for question in case])

    @staticmethod
    def row(answers, questions, policy, reference=FIFO):
        cells = [change_cell(answers, questions, policy, name, reference) for name in COLUMNS]
        return [*cells, value_cell(answers, questions, policy, "misses"),
                value_cell(answers, questions, policy, "undone", 0)]

    # One node, and pairs: potential gain.

    def node(self):
        heading("One node: the paper's tables")
        lines = goban("energy", "replay-tables").splitlines()
        begin = next(i for i, line in enumerate(lines) if line.startswith("Energy, kWh"))
        ruled("set", "kWh, published", "W x JCT", "kWh one after the other", "saved")
        for fields in map(str.split, lines[begin + 1:]):
            if len(fields) == 8:
                name, published, product, off, _, after, saved, _ = fields
                print(f"| {name} | {published} | {product} ({off} %) | {after} | {saved} % |")

    def predicted(self, history, members, gpu):
        """Slowdowns, and power with the host's share; None if never co-located."""
        text = goban("colocation", "predict", history, " + ".join(members), "--gpu", gpu,
                     "--energy", gpu.lower())
        slowdowns = [float(value) for value in re.findall(r"slowdown ([\d.]+)", text)]
        watts = re.search(r"([\d.]+) W a GPU", text)
        return slowdowns, float(watts[1]) + 15 if watts else None

    def pair_row(self, history, util, gpu):
        alone = {name: self.predicted(history, [name], gpu)[1] for name in util}
        never = crowded = 0
        fitting, every = [], []
        for a, b in itertools.combinations_with_replacement(util, 2):
            weight = 1 if a == b else 2
            slowdowns, watts = self.predicted(history, [a, b], gpu)
            if watts is None:
                never += weight
                continue
            apart_w = sum(alone[name] / slow for name, slow in zip((a, b), slowdowns))
            pair = [(max(slowdowns), sum(1 / slow for slow in slowdowns), 1 - watts / apart_w)]
            every += weight * pair
            if util[a] + util[b] > 100:
                crowded += weight
            else:
                fitting += weight * pair
        total = len(util) ** 2
        cells = [f"{100 * never / total:.0f} %", f"{100 * crowded / total:.0f} %"]
        for pairs in (fitting, every):
            slow, rates, saved = zip(*pairs)
            cells += [f"{statistics.median(slow):.2f}", f"{statistics.median(rates):.2f}",
                      f"{100 * statistics.median(saved):+.0f} %",
                      f"{100 * sum(s < 0 for s in saved) / len(saved):.0f} %"]
        return cells

    def pairs(self):
        heading("Pairs: potential gain")
        four = ("slower one's slowdown", "sum of rates", "joules saved", "cost joules")
        ruled("pairs", "never together", "above 100 %", *(f"fitting: {name}" for name in four),
              *(f"all: {name}" for name in four))
        library = self.library
        for name, history, util, gpu in (
                ("EaCO's tables, V100", library.tables, TABLE_MODELS, "V100"),
                *((f"Gavel, {gpu}", library.gavel, library.utilisation, gpu)
                  for gpu in ("V100", "P100", "K80"))):
            print(f"| {name} | {' | '.join(self.pair_row(history, util, gpu))} |", flush=True)

    # The paper's study.

    def paper(self):
        cases = {(setup, cluster, occupancy): self.over_seeds(source, occupancy, cluster,
                                                              settings=settings)
                 for setup, (source, settings) in SETUPS.items() for cluster in (SMALL, LARGE)
                 for occupancy in LOADS}
        answers = self.ask(cases)
        self.claims(cases, answers)
        for setup, cluster in itertools.product(SETUPS, (SMALL, LARGE)):
            loads = [cases[setup, cluster, occupancy] for occupancy in LOADS]
            heading(f"{cluster}, {setup}")
            busy = values_cell(answers, loads, FIFO, "occupancy", 0)
            print(f"Loads 40, 60, 80 %; FIFO keeps {busy} % of the GPUs busy.\n")
            ruled("policy", *COLUMNS, "misses, %", "undone")
            units = (1e3, 1e3, 1e3, 1e3, 1, 86400, 3600, 3600)  # MWh, nodes, days, hours
            own = [values_cell(answers, loads, FIFO, name, 2 if name == "epoch time" else 1, unit)
                   for name, unit in zip(COLUMNS, units)]
            print(f"| FIFO | {' | '.join(own)} | {values_cell(answers, loads, FIFO, 'misses')} | |")
            for policy in self.policies[1:]:
                cells = [changes_cell(answers, loads, policy, name, FIFO) for name in COLUMNS]
                cells += [values_cell(answers, loads, policy, "misses"),
                          values_cell(answers, loads, policy, "undone", 0)]
                print(f"| {policy} | {' | '.join(cells)} |", flush=True)

    def claims(self, cases, answers):
        heading("What the paper states")
        ruled("nodes", "what", "against", "paper", *SETUPS)
        claims = [(SMALL, "energy, D", "D", FIFO, "-39"),
                  (SMALL, "energy, D", "D", BASELINES[0], "-24.5"),
                  (SMALL, "energy, D", "D", BASELINES[1], "-8.3"),
                  (SMALL, "energy, C", "C", FIFO, "-39"),
                  (SMALL, "active nodes", "active nodes", FIFO, "-30"),
                  (SMALL, "active nodes", "active nodes", BASELINES[0], "-29"),
                  (SMALL, "active nodes", "active nodes", BASELINES[1], "-4"),
                  (SMALL, "run time", "run", FIFO, "< +3.23"),
                  (SMALL, "job total time", "JCT", FIFO, "to -97"),
                  *((LARGE, f"energy, {name}", name, FIFO, "-39") for name in "DABC"),
                  (LARGE, "active nodes", "active nodes", FIFO, "-47"),
                  (LARGE, "run time", "run", FIFO, "< +3.23"),
                  (LARGE, "epoch time", "epoch time", FIFO, "< +3.23"),
                  (LARGE, "job total time", "JCT", FIFO, "from -4.9")]
        for cluster, what, metric, against, published in claims:
            cells = []
            for setup in SETUPS:
                means = [statistics.fmean(changes(answers, cases[setup, cluster, occupancy], PAPER,
                                                  metric, against)) for occupancy in LOADS]
                cells.append(", ".join(map(signed, means)))
            print(f"| {cluster[:2]} | {what} | {against} | {published} | {' | '.join(cells)} |")
        for policy in (PAPER, EACO, *self.added):
            chain = (FIFO, *BASELINES, policy)
            self.order(cases, answers, " > ".join(chain), itertools.pairwise(chain))
            self.order(cases, answers, f"all three > {policy}",
                       [(name, policy) for name in chain[:-1]])

    def order(self, cases, answers, text, falls):
        """The number of histories in which energy under D falls in these steps."""
        falls = list(falls)
        cells = []
        for setup in SETUPS:
            held = []
            for occupancy in LOADS:
                questions = cases[setup, SMALL, occupancy]
                steps = [[a > b for a, b in zip(values(answers, questions, more, "D"),
                                                values(answers, questions, less, "D"))]
                         for more, less in falls]
                held.append(sum(map(all, zip(*steps))))
            cells.append(", ".join(map(str, held)))
        print(f"| 28 | histories of {len(self.seeds)} with {text} | | all "
              f"| {' | '.join(cells)} |", flush=True)

    # Sensitivity.

    def mixed(self):
        heading("Generations, Gavel's pairs, load 60")
        ruled("cluster", "policy", *COLUMNS, "misses, %", "undone")
        policies = (FIFO, *BASELINES, PAPER, EACO, *self.added)
        cases = {cluster: self.over_seeds(GAVEL, 60, cluster, policies, "k80,p100,v100")
                 for cluster in (LARGE, "64x8:P100", "64x8:K80", MIXED, MIXED_SMALL)}
        answers = self.ask(cases)
        for cluster, questions in cases.items():
            for policy in policies[1:]:
                if policy in BASELINES and cluster != MIXED_SMALL:
                    continue  # no job waits
                print(f"| {cluster} | {policy} "
                      f"| {' | '.join(self.row(answers, questions, policy))} |")

    def ranking(self):
        heading("Candidates: highest, similar or complementary load first, load 60")
        ruled("source", "nodes", "policy", *COLUMNS, "misses, %", "undone")
        parts = [f"fifo+{part}{rank}+sleep" for part in ("share-eaco-paper", "share-eaco")
                 for rank in ("", "-similar", "-complementary")]
        cases = {(source, cluster): self.over_seeds(source, 60, cluster, (FIFO, *parts))
                 for source in (TABLES_SIZES, GAVEL) for cluster in (SMALL, LARGE)}
        answers = self.ask(cases)
        for (source, cluster), questions in cases.items():
            for policy in parts:
                print(f"| {source} | {cluster[:2]} | {policy} "
                      f"| {' | '.join(self.row(answers, questions, policy))} |")

    def sensitivity(self):
        heading("Sensitivity, load 60")
        policies = (FIFO, PAPER, EACO, *self.added)
        cases = {}
        for source, cluster, settings in (
                (TABLES, LARGE, ("util_max_pct=60", "util_max_pct=80", "", "util_max_pct=150",
                                 "jobs_per_gpu_max=2", "jobs_per_gpu_max=3", "power_caps=0")),
                (GAVEL, LARGE, ("util_max_pct=60", "", "util_max_pct=150", "util_max_pct=200",
                                "jobs_per_gpu_max=2", "power_caps=0", "min_saving=0.2")),
                (GAVEL, SMALL, ("", "util_max_pct=200", "lost_deadlines_bind=1"))):
            for setting in settings:
                cases[source, cluster, setting or "nothing"] = self.over_seeds(
                    source, 60, cluster, policies, settings=tuple(filter(None, [setting])))
        for cluster, targets in ((LARGE, ("none", "1.1", "1.3", "2")), (SMALL, ("none", "1.3"))):
            for target in targets:
                name = "no targets" if target == "none" else f"maximum slowdown {target}"
                cases[GAVEL, cluster, name] = self.over_seeds(GAVEL, 60, cluster, policies,
                                                              target=target)
        self.sensitivity_rows(cases, policies[1:], ())

    def sensitivity_rows(self, cases, policies, extra):
        ruled("source", "nodes", "changed", "policy", *BRIEF, "p99 slowdown", "targets missed, %",
              "undone", *extra)
        answers = self.ask(cases)
        for (source, cluster, changed), questions in cases.items():
            for policy in policies:
                row = [change_cell(answers, questions, policy, name, FIFO) for name in BRIEF]
                broken = "misses" if questions[0].workload.target == "deadline" else "broken"
                row += [value_cell(answers, questions, policy, "p99 slowdown"),
                        value_cell(answers, questions, policy, broken, 2),
                        value_cell(answers, questions, policy, "undone", 0)]
                row += [f"{sum(values(answers, questions, policy, 'lost')):,}" for _ in extra]
                print(f"| {source} | {cluster[:2]} | {changed} | {policy} | {' | '.join(row)} |",
                      flush=True)

    def noise(self):
        heading("Errors of the prediction, and observation")
        policies = (FIFO, PAPER, EACO, *self.added)
        cases = {}
        for source in (TABLES, GAVEL):
            cases[source, SMALL, "load 80"] = self.over_seeds(source, 80, SMALL, policies,
                                                              lost=True)
            for percent in (0, 5, 10, 20):
                cases[source, LARGE, f"noise {percent} %"] = self.over_seeds(
                    source, 60, LARGE, policies, options=("--prediction-noise", percent), lost=True)
        for changed, settings, epoch_h in (("epochs of 2 h", (), 2),
                                           ("observe_max_s=300", ("observe_max_s=300",), 0.4)):
            cases[GAVEL, LARGE, f"noise 20 %, {changed}"] = self.over_seeds(
                GAVEL, 60, LARGE, policies, options=("--prediction-noise", 20), settings=settings,
                lost=True, epoch_h=epoch_h)
        self.sensitivity_rows(cases, policies[1:], ("lost after a start in time",))


SECTIONS = {"node": Study.node, "pairs": Study.pairs, "paper": Study.paper, "mixed": Study.mixed,
            "ranking": Study.ranking, "sensitivity": Study.sensitivity, "noise": Study.noise}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--add", default="", help="more policies, as columns of all tables")
    parser.add_argument("--only", default=",".join(SECTIONS))
    parser.add_argument("--state", default=os.path.join(ROOT, "build", "studies", "eaco"))
    options = parser.parse_args()
    added = [name for name in options.add.split(",") if name]
    study = Study(Library(options.state), options.seeds, added)
    for name in options.only.split(","):
        SECTIONS[name](study)


main()
