"""Predictions of runs on a real cluster: figures by hand, mistakes, and the recorded run where it is at hand."""

import gzip
import json
import math
import os
import tempfile
import unittest
from pathlib import Path

import goban_lab as lab
from goban_lab import gains
from goban_lab import real_runs as truth

SHARED = Path(os.environ.get("GOBAN_SHARED", Path(__file__).resolve().parents[3] / "shared"))
PLACES = (Path(os.environ.get("GOBAN_DATA", "~/.cache/goban/data")).expanduser(), SHARED / "data")
RECORDED = next((place / "rivals" / "shockwave" for place in PLACES if (place / "rivals" / "shockwave").exists()), None)


def run(policy, real, predicted, low, high, jobs=None):
    figures = truth.Prediction(predicted, low, high)
    return truth.RealRun(policy, real, figures, figures, real_makespan_s=None if jobs is None else 2000.0,
                         job_errors=jobs)


class ByHand(unittest.TestCase):
    def test_errors_and_bounds(self):
        found = truth.Reality([run("a", 1000, 1040, 900, 1200, (0.02, 0.04, 0.5)), run("b", 1000, 900, 800, 950)], 20)
        self.assertAlmostEqual(found.runs[0].error, 0.04)
        self.assertAlmostEqual(found.runs[0].mean_jct_s.half, 150 / 1040)
        self.assertAlmostEqual(found.runs[0].makespan_error, 1040 / 2000 - 1)
        self.assertEqual((found.runs[0].inside, found.runs[1].inside), (True, False))
        by_name = {each.name: each for each in found.verdicts}
        error = by_name["mean |error of mean JCT|"]
        self.assertAlmostEqual(error.value, 0.07)
        self.assertFalse(error.met)
        # Only one of two runs has figures of jobs: shown, not judged.
        jobs = by_name["median |error of a job|, mean of 1 runs"]
        self.assertEqual((jobs.value, jobs.met), (0.04, None))
        # Half widths: 150 / 1040 and 75 / 900.
        self.assertAlmostEqual(by_name["widest half of an interval"].value, 150 / 1040)
        self.assertIn("MISSED", found.table())
        json.dumps(found.document())

    def test_the_spread_of_gains(self):
        # Errors of +10 % and -10 % in the logarithm: deviation 0.1 sqrt(2), Student with one degree.
        spread = gains.spread_of_gains([(math.exp(0.1), 1.0), (math.exp(-0.1), 1.0)])
        self.assertAlmostEqual(spread, 12.7062 * 0.2, 4)
        low, high = gains.on_a_real_cluster(0.5)
        self.assertLess(low, 0.5)
        self.assertGreater(high, 0.5)
        self.assertAlmostEqual((1 - low) * (1 - high), 0.25)

    def test_speeds_are_drawn_by_seed(self):
        self.assertEqual(truth.speeds(3, 0, 1, 0.05, 0.05), truth.speeds(3, 0, 1, 0.05, 0.05))
        self.assertNotEqual(truth.speeds(3, 0, 1, 0.05, 0.05), truth.speeds(3, 1, 1, 0.05, 0.05))
        drawn = [math.log(each) for draw in range(400) for each in truth.speeds(20, draw, 1, 0.05, 0.05)]
        self.assertAlmostEqual(sum(each**2 for each in drawn) / len(drawn), 2 * 0.05**2, delta=0.0008)
        self.assertEqual(truth.speeds(2, 5, 1, 0, 0), [1, 1])


class Mistakes(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def test_restarts(self):
        path = self.folder / "restarts.csv"
        for text, said in (("rank,cost\n", ":1: the column restart_s is missing"), ("restart_s\n", "no restart costs"),
                           ("rank,restart_s\n0,1\n1,soon\n", ":3: restart_s 'soon' is no number"),
                           ("rank,restart_s\n0,120\n", ":2: restart_s '120'")):
            path.write_text(text)
            with self.assertRaisesRegex(lab.LabError, said):
                truth.read_restarts(path)
        path.write_text("rank,restart_s\n0,1.5\n")
        self.assertEqual(truth.read_restarts(path), [1.5])

    def test_recorded_runs(self):
        path = self.folder / "a.physical.jsonl.gz"
        for text, said in (("[]", "not a recorded run"), ('{"jct": [1]}', "makespan"),
                           ('{"makespan": 9, "jct": [1]}', "jct: 1 jobs where the trace has 2"),
                           ('{"makespan": 9, "jct": [1, -1]}', "not all are positive"), ("", "not a recorded run")):
            with gzip.open(path, "wt") as file:
                file.write(text + "\n[[0, [1]]]\n")
            with self.assertRaisesRegex(lab.LabError, f"a.physical.jsonl.gz.*{said}"):
                truth.read_real_run(path, 2)
        path.write_bytes(b"no gzip")
        with self.assertRaises(lab.LabError):
            truth.read_real_run(path, 2)

    def test_options_and_folders(self):
        for words in ({"draws": 3}, {"common": -1}, {"each": 2}):
            with self.assertRaises(lab.LabError):
                lab.reality(self.folder, **words)
        with self.assertRaisesRegex(lab.LabError, "trace.csv"):
            lab.reality(self.folder)


@unittest.skipIf(RECORDED is None, "the recorded runs are not here")
class Recorded(unittest.TestCase):
    def test_the_bounds(self):
        found = lab.reality(RECORDED)
        known = gains.known_runs()
        for each in found.runs:
            self.assertAlmostEqual(each.mean_jct_s.value, known[each.policy]["predicted_mean_jct_s"], delta=0.06)
        seen = next(each for each in found.runs if not each.held_out)
        self.assertAlmostEqual(seen.real_mean_jct_s, 12113.0, delta=0.1)
        self.assertEqual(len(seen.job_errors), 120)
        by_name = {each.name: each for each in found.verdicts}
        for name in ("mean |error of mean JCT|", "runs whose truth is inside", "widest half of an interval"):
            self.assertTrue(by_name[name].met, found.table())
        self.assertEqual(found.gain_spread, gains.spread_of_gains(
            (each.mean_jct_s.value, each.real_mean_jct_s) for each in found.runs))
        again = lab.reality(RECORDED, draws=20)
        self.assertNotEqual(again.runs[0].mean_jct_s, found.runs[0].mean_jct_s)


if __name__ == "__main__":
    unittest.main()
