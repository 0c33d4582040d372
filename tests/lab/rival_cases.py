"""Published schedulers from Python: a case by hand, and the published logs where they are at hand."""

import gzip
import json
import os
import tempfile
import unittest
from pathlib import Path

import goban_lab as lab

PUBLISHED = Path(__file__).resolve().parents[3] / "shared" / "data" / "rivals"
TRACE = ("job_id,submit_time,iteration,model_name,ddl,batch_size,num_gpu,duration,best_effort\n"
         "0,0,10000,m,0,8,8,300,0\n1,0,10000,m,0,8,8,200,0\n")
RATES = "model,batch_size,num_gpus,steps_per_s\nm,8,8,1\n"


class Rivals(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.trace, self.rates = (os.path.join(folder.name, name) for name in ("trace.csv", "rates.csv"))
        Path(self.trace).write_text(TRACE)
        Path(self.rates).write_text(RATES)

    def test_leases_by_hand(self):
        done = lab.rival("elasticflow-themis", self.trace, self.rates, "1x8")
        self.assertEqual(done.columns["finish_s"].tolist(), [540, 440])
        self.assertEqual(done.columns["preemptions"].tolist(), [1, 0])
        self.assertEqual((done.mean_jct_s, done.makespan_s, done.rounds, done.shares), (490, 540, 4, "own solver"))
        decisions = done.decisions.columns
        self.assertEqual(decisions["at_s"].tolist(), [0, 240, 480])
        self.assertEqual(decisions["job"].tolist(), [0, 1, 0])
        self.assertEqual(decisions["gpus"][1].tolist(), list(range(8)) * 3)

    def test_mistakes(self):
        self.assertIn("elasticflow-themis", lab.rivals())
        for words, text in ((("las", self.trace, self.rates, "1x8"), "unknown rival 'las'"),
                            (("elasticflow-edf", self.trace, self.rates, "1x4"), "does not fit format elasticflow"),
                            (("elasticflow-edf", self.rates, self.rates, "1x8"), "rates.csv"),
                            (("elasticflow-edf", self.trace, "", "1x8"), "--rates is required")):
            with self.assertRaisesRegex(lab.LabError, text):
                lab.rival(*words)

    @unittest.skipUnless(PUBLISHED.exists(), "the published logs are not here")
    def test_the_published_rounds(self):
        folder = PUBLISHED / "shockwave"
        done = lab.rival("gavel-gandiva-fair", folder / "trace.csv", folder / "rates_v100.csv", "32x1",
                         batch_sizes=folder / "gns_batch_sizes.csv")
        with gzip.open(folder / "gandiva_fair.rounds.jsonl.gz", "rt") as file:
            rounds = [json.loads(line) for line in file][1:]  # behind the figures
        offsets, gpus = (each.tolist() for each in done.decisions.columns["gpus"])
        mine = [(job, gpus[first:last]) for job, first, last in
                zip(done.decisions.columns["job"].tolist(), offsets[:-1], offsets[1:], strict=True)]
        self.assertEqual(mine, [(job, ids) for each in rounds for job, ids in each])


if __name__ == "__main__":
    unittest.main()
