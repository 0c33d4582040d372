#!/usr/bin/env python3
"""Does the score of `verify` rank policies rightly? Known policies are ranked by their gains over many
draws of a suite of generated traces; then, by bootstrap, how often few other draws give the same order of
two policies. Needs goban_lab.

usage: lab_rank.py [SUITE]
"""

import itertools
import sys

import goban_lab as lab
import numpy
from goban_lab.suite import read_suite

POLICIES = ("fifo+packed", "easy-backfill+packed", "skip+packed", "las+packed", "srtf+packed")
MANY, MOST_FEW, RESAMPLES = 200, 20, 1000


def gains(entries, suite, policy, seeds):
    """A row for each seed: the mean of the gains over the traces, as in verify()."""
    out = []
    for seed in seeds:
        ratios = []
        for entry in entries:
            jobs = entry.draw(seed)
            own, base = (getattr(lab.simulate(jobs, entry.cluster, each, **suite.options), suite.metric)
                         for each in (policy, suite.reference))
            ratios.append(1 - own / base)
        out.append(numpy.mean(ratios))
    return numpy.array(out)


def main():
    suite = read_suite(sys.argv[1] if len(sys.argv) > 1 else "small")
    draw = numpy.random.default_rng(1)
    for title, entries in (("public", suite.public), ("held out", suite.held_out)):
        many = {each: gains(entries, suite, each, range(1000, 1000 + MANY)) for each in POLICIES}
        few = {each: gains(entries, suite, each, range(MOST_FEW)) for each in POLICIES}
        print(f"{title}, mean gains over {MANY} draws: "
              + ", ".join(f"{each} {100 * many[each].mean():.1f} %" for each in sorted(many, key=lambda p: -many[p].mean())))
        for count in (5, MOST_FEW):
            right = []
            for one, other in itertools.combinations(POLICIES, 2):
                difference = many[one] - many[other]
                if abs(difference.mean()) < 2 * difference.std(ddof=1) / MANY**0.5:
                    continue  # not even many draws tell them apart
                picks = draw.integers(MOST_FEW, size=(RESAMPLES, count))
                seen = (few[one] - few[other])[picks].mean(axis=1)
                right.append((float(numpy.mean(seen * difference.mean() > 0)), one, other))
            least = min(right)
            print(f"  {count} draws: {len(right)} pairs ordered rightly in {100 * numpy.mean([r[0] for r in right]):.1f} % of "
                  f"{RESAMPLES} resamples, {least[1]} and {least[2]} in {100 * least[0]:.1f} %")


if __name__ == "__main__":
    main()
