"""Suites of `verify` whose recorded jobs are elastic: speeds from a file, and sizes by methods and by name."""

import unittest

import goban_lab as lab
from elastic_cases import Base

SUITE = """
reference = "fifo+packed"
options = { restart_cost_s = 0 }
[[public]]
name = "elastic"
cluster = "1x4:V100"
trace = "jobs.csv"
rates = "rates.csv"
block = "2000s"
"""
JOBS = """job_id,submit_time,duration,num_gpus,user,model,batch_size,gpus_min,gpus_max,steps,deadline_s,resize_cost_s
a,0,0,1,ann,net,64,1,4,4000,,0
b,1000,0,1,bob,net,64,1,4,2000,,0
"""
RATES = """model,batch_size,gpu_model,num_gpus,steps_per_s
net,64,V100,1,1.0
net,64,V100,4,3.0
"""
SHARES = """
import goban_lab as lab
class Shares(lab.Policy):
    def size(self, view):
        share = max(1, view.total_gpus // len(view))
        fits = [[n for n in view.sizes(row) if n <= share] for row in range(len(view))]
        for row in range(len(view)):
            assert len(view.steps_per_s(row)) == len(view.sizes(row)) and view.steps_left[row] > 0
        return [max(each) if each else 0 for each in fits]
"""


class Suites(Base):
    def setUp(self):
        super().setUp()
        for name, text in (("suite.toml", SUITE), ("jobs.csv", JOBS), ("rates.csv", RATES), ("policy.py", SHARES)):
            self.write(name, text)

    def verify(self, policy="policy.py"):
        where = self.folder / policy if policy.endswith(".py") else policy
        return lab.verify(str(where), str(self.folder / "suite.toml"), seeds=2).document()

    def test_a_method_decides_as_at_home(self):
        names = {}
        exec(SHARES, names)
        report = self.verify()
        self.assertEqual(report["status"], "scored", report["error"])
        trace, cluster = self.trace(), lab.cluster("1x4:V100")
        jct = [lab.simulate(trace, cluster, each, restart_cost_s=0).mean_jct_s for each in (names["Shares"](), "fifo+packed")]
        found = report["public"]["traces"][0]
        self.assertAlmostEqual(found["gain"], 1 - jct[0] / jct[1], 9)
        # Alone a has 4 GPUs until 1000 s, and 1000 steps to go; then both have one, until it ends at 2000 s; b has
        # 1000 steps left, on 4 GPUs. As requested each would run on one.
        self.assertAlmostEqual(found["metric"], (2000 + 1000 + 1000 / 3) / 2, 6)
        self.assertAlmostEqual(found["reference"], (4000 + 2000) / 2, 6)
        low, high = found["on_real_gpus"]
        self.assertLess(low, found["gain"])
        self.assertGreater(high, found["gain"])

    def test_sizes_by_name(self):
        report = self.verify("fifo+packed+max-marginal")
        self.assertEqual(report["status"], "scored")
        self.assertGreater(report["public"]["gain"], 0.3)
        self.write("jobs.csv", JOBS.replace("0,0,1,ann,net,64,1,4,4000", "0,4000,1,ann,net,64,1,4,"))
        report = self.verify("fifo+packed+max-marginal")
        self.assertFalse(report["constraints"]["no true durations"]["kept"])

    def test_mistakes_of_sizes_are_named(self):
        self.write("policy.py", SHARES.replace("max(each) if each else 0", "3"))
        report = self.verify()
        self.assertEqual(report["status"], "failed")
        self.assertEqual(report["error"]["method"], "size")
        self.assertIn("3, on which the job does not run", report["error"]["text"])

    def test_two_processes_must_choose_the_same_sizes(self):
        text = SHARES.replace("return [max(each) if each else 0 for each in fits]",
                              "return [random.choice([1, 4]) if len(view) == 1 else 1 for _ in view.gpus]")
        self.write("policy.py", "import random\nrandom.seed()\n" + text)
        self.write("jobs.csv", JOBS + "".join(
            f"{i},{i * 5000},0,1,ann,net,64,1,4,1000,,0\n" for i in range(2, 42)))
        self.assertFalse(self.verify()["constraints"]["deterministic"]["kept"])

    def test_numbers_between_measured_ones(self):
        self.write("jobs.csv", JOBS.replace(",1,4,", ",1,3,"))
        with self.assertRaisesRegex(lab.LabError, r"suite.toml: public\[0\]: .*rates.csv: job a: .*measure it"):
            self.verify()
        self.write("suite.toml", SUITE + "interpolate_rates = true\n")
        self.assertGreater(self.verify("fifo+packed+max-marginal")["public"]["gain"], 0)

    def test_usage(self):
        for edit, said in (
                (("rates = \"rates.csv\"", "interpolate_rates = true"), "interpolate_rates needs a file of speeds"),
                (("rates = \"rates.csv\"", "rates = \"none.csv\""), "none.csv"),
                (("rates = \"rates.csv\"", "rates = 4"), "must be of the type str"),
                (("rates = \"rates.csv\"", "rates = \"rates.csv\"\ninterpolate_rates = 1"), "must be of the type bool"),
                (("trace = \"jobs.csv\"", "generate = { jobs = 5 }"), "rates is for recorded traces")):
            self.write("suite.toml", SUITE.replace(*edit))
            with self.assertRaisesRegex(lab.LabError, said):
                self.verify()

    def test_other_metrics_say_what_is_not_known(self):
        self.write("suite.toml", "metric = \"makespan_s\"\n" + SUITE)
        report = lab.verify("fifo+packed+max-marginal", str(self.folder / "suite.toml"), seeds=2)
        self.assertIsNone(report.document()["public"]["on_real_gpus"])
        self.assertIn("in makespan_s is off on real GPUs is not known", report.text())
        self.write("suite.toml", SUITE)
        text = lab.verify("fifo+packed+max-marginal", str(self.folder / "suite.toml"), seeds=2).text()
        self.assertEqual(text.count("(on real GPUs "), 2)
        self.assertNotIn("not known", text)


if __name__ == "__main__":
    unittest.main()
