"""Elastic jobs: sizes by name on a small trace whose outcomes follow from its speeds by hand."""

import json
import os
import subprocess
import tempfile
import unittest
from pathlib import Path

import goban_lab as lab
import numpy

JOBS = """job_id,submit_time,duration,num_gpus,user,model,batch_size,gpus_min,gpus_max,steps,deadline_s,resize_cost_s
a,0,0,1,ann,net,64,1,4,4000,,0
b,1000,0,1,bob,net,64,1,4,2000,,0
c,1000,500,1,bob,,,,,,,
"""
# Of 4 GPUs each adds less than the one before: 1, 1.8 and 3 steps a second.
RATES = """model,batch_size,gpu_model,num_gpus,steps_per_s
net,64,V100,1,1.0
net,64,V100,2,1.8
net,64,V100,4,3.0
"""
CLUSTER = lab.cluster("1x4:V100")


class Base(unittest.TestCase):
    def setUp(self):
        kept = tempfile.TemporaryDirectory()
        self.addCleanup(kept.cleanup)
        self.folder = Path(kept.name)
        self.write("jobs.csv", JOBS)
        self.write("rates.csv", RATES)

    def write(self, name, text):
        (self.folder / name).write_text(text)

    def trace(self, **options):
        return lab.trace(self.folder / "jobs.csv", rates=self.folder / "rates.csv", **options)

    def check(self, result, **columns):
        for name, values in columns.items():
            numpy.testing.assert_allclose(result.columns[name], values, err_msg=name)


class Elastic(Base):
    """Parts by name."""

    def run_sizes(self, size, trace=None):
        class Mine(lab.Policy):
            select = "skip"

            def order(self, view):
                return view.submit_s

        policy = Mine()
        policy.size = size
        return lab.simulate(trace or self.trace(), CLUSTER, policy, restart_cost_s=0)

    def test_fixed_jobs_run_on_what_they_request(self):
        self.check(self.run_sizes("fixed"), jct_s=[4000, 2000, 500], resizes=[0, 0, 0], gpus_least=[1, 1, 1],
                   gpus_most=[1, 1, 1], gpu_hours=numpy.array([4000, 2000, 500]) / 3600)

    def test_max_marginal_shares_what_is_left(self):
        # a does 3 steps a second on 4 GPUs, so 1000 are left when the others come. Then each gets one, and the
        # fourth goes to b, which saves 889 s by it; a would save 444 s. At 1500 s c has ended: a has 500 steps
        # left and takes its GPU, too. Then b is alone, on all four.
        result = self.run_sizes("max-marginal")
        a_end = 1500 + 500 / 1.8
        b_end = a_end + (2000 - 1.8 * (a_end - 1000)) / 3
        self.check(result, finish_s=[a_end, b_end, 1500], resizes=[2, 1, 0], gpus_least=[1, 2, 1],
                   gpus_most=[4, 4, 1])
        self.assertEqual(result.resizes, 3)
        self.assertGreater(float(result.columns["gpu_hours"][0]), 4000 / 3600)

    def test_a_part_by_name_is_that_of_the_program(self):
        goban = os.environ.get("GOBAN_PROGRAM")
        if not goban:
            self.skipTest("GOBAN_PROGRAM is not set")
        for size in ("edf", "max-marginal"):
            named = f"fifo+skip+packed+{size}"
            options = ["--cluster", "1x4:V100", "--jobs", self.folder / "jobs.csv", "--rates", self.folder / "rates.csv",
                       "--policy", named, "--restart-cost", "0", "--json"]
            done = subprocess.run([goban, "simulate", *map(str, options)], capture_output=True, text=True, check=True)
            run = json.loads(done.stdout)["runs"][0]
            for result in (self.run_sizes(size), lab.simulate(self.trace(), CLUSTER, named, restart_cost_s=0)):
                self.assertAlmostEqual(result.mean_jct_s, run["avg_jct_s"], 6)
                self.assertEqual(result.resizes, run["elastic"]["resizes"])

    def test_the_table_counts_resizes(self):
        class Grows(lab.Policy):
            size = "max-marginal"

        options = {"seeds": range(3), "workers": 2, "restart_cost_s": 0, "block": 900}
        text = lab.compare(self.trace(), CLUSTER, [Grows(), "fifo+packed"], **options).table()
        self.assertEqual(text, lab.compare(self.trace(), CLUSTER, [Grows(), "fifo+packed"],
                                           **{**options, "workers": 1}).table())
        self.assertRegex(text.splitlines()[0], r"resizes$")
        self.assertRegex(text.splitlines()[1], r"^Grows .* 3$")
        self.assertIn("1 job is rigid: it has no range of GPUs", text)
        self.assertNotIn("resizes", lab.compare(lab.generate(jobs=20), CLUSTER, ["fifo+packed"]).table())

    def test_numbers_between_measured_ones_are_marked(self):
        self.write("rates.csv", RATES.replace("net,64,V100,2,1.8\n", ""))
        self.check(self.run_sizes("max-marginal"), interpolated=[0, 0, 0])
        between = lab.compare(self.trace(interpolate_rates=True), CLUSTER, ["fifo+packed+max-marginal"])
        self.assertEqual(max(between["fifo+packed+max-marginal"].columns["interpolated"]), 1)
        self.assertIn("ran at interpolated speeds", between.table())

    def test_a_trace_without_rates_is_rigid(self):
        plain = lab.trace(self.folder / "jobs.csv", cluster=CLUSTER)
        self.assertIn("without rates they run on num_gpus", " ".join(plain.notes))
        self.assertIsNone(self.run_sizes("edf", plain).resizes)

    def test_parts_of_a_trace_keep_its_rates(self):
        self.check(self.run_sizes("max-marginal", self.trace().first("10s")), jct_s=[4000 / 3], gpus_most=[4])

    def test_steps_that_follow_from_true_run_times_are_marked(self):
        self.assertFalse(self.run_sizes("edf").oracle)
        self.write("jobs.csv", JOBS.replace("0,0,1,ann,net,64,1,4,4000", "0,4000,1,ann,net,64,1,4,"))
        self.assertTrue(self.run_sizes("edf").oracle)
        self.assertTrue(lab.simulate(self.trace(), CLUSTER, "fifo+packed+max-marginal").oracle)
        self.assertFalse(self.run_sizes("fixed").oracle)
        self.check(self.run_sizes("max-marginal", self.trace().first("10s")), jct_s=[4000 / 3])

    def test_mistakes_are_named(self):
        for edit, text in (((RATES, RATES.replace("1.8", "fast")), r"rates.csv:3:15: steps_per_s: 'fast'"),
                           ((RATES, RATES.replace("V100", "H100")), "no row is of a GPU model"),
                           ((RATES, RATES.replace("net,64,V100,4,3.0\n", "")), "job a: .*measure it")):
            self.write("rates.csv", edit[1])
            with self.assertRaisesRegex(lab.LabError, f"(?s){text}"):
                self.run_sizes("edf")
        with self.assertRaisesRegex(lab.LabError, "needs a file of rates"):
            lab.trace(self.folder / "jobs.csv", interpolate_rates=True)
        with self.assertRaisesRegex(lab.LabError, "neither a method nor a part of the kind size"):
            self.run_sizes("packed", lab.generate(jobs=5))
        self.write("rates.csv", RATES)
        with self.assertRaisesRegex(lab.LabError, "gpus_max"):
            lab.trace(self.folder / "jobs.csv", rates=self.folder / "jobs.csv")


class Least(lab.Policy):
    """As `max-marginal`, in Python."""

    def size(self, view):
        out = numpy.minimum(view.gpus_min, 1)
        left = view.total_gpus - int(out.sum())
        while True:
            best = (0.0, 0, 0)
            for row, gpus in enumerate(out):
                sizes, speeds = view.sizes(row), view.steps_per_s(row)
                speed = speeds[sizes == gpus][0]
                for more, faster in zip(sizes[sizes > gpus], speeds[sizes > gpus]):
                    if more - gpus <= left:
                        saved = view.steps_left[row] * (1 / speed - 1 / faster)
                        best = max(best, (float(saved / (more - gpus)), -row, int(more)))
            if best[0] <= 0:
                return out
            left -= best[2] - int(out[-best[1]])
            out[-best[1]] = best[2]


class Sizes(Base):
    """The method `size`."""

    def mistake(self, returned, trace=None):
        class Wrong(lab.Policy):
            def size(self, view):
                return returned(view)

        with self.assertRaises(lab.PolicyError) as caught:
            lab.simulate(trace or self.trace(), CLUSTER, Wrong(), restart_cost_s=0)
        self.assertEqual((caught.exception.policy, caught.exception.method), ("Wrong", "size"))
        self.assertIn("elastic_cases.py", caught.exception.place)
        return caught.exception

    def test_a_rule_in_python_decides_as_the_same_part(self):
        own = lab.simulate(self.trace(), CLUSTER, Least(), restart_cost_s=0)
        part = lab.simulate(self.trace(), CLUSTER, "fifo+packed+max-marginal", restart_cost_s=0)
        self.assertEqual(part.resizes, 3)
        for name in ("start_s", "finish_s", "resizes", "gpus_least", "gpus_most"):
            numpy.testing.assert_array_equal(own.columns[name], part.columns[name])

    def test_none_waits_and_is_stopped(self):
        class OneByOne(lab.Policy):
            def size(self, view):
                out = numpy.zeros(len(view))
                last = len(view) - 1  # whoever came last has all that it can use
                out[last] = view.gpus_max[last]
                return out

        # a is stopped at 1000 s, as b is; c runs alone for 500 s. Then b takes 2000 / 3 s, and a the rest.
        result = lab.simulate(self.trace(), CLUSTER, OneByOne(), restart_cost_s=0)
        self.assertEqual(float(result.columns["finish_s"][2]), 1500)
        self.assertEqual(int(result.columns["preemptions"][0]), 1)

    def test_views_show_what_the_trace_states(self):
        test = self
        seen = []

        class Look(lab.Policy):
            def size(self, view):
                seen.append(len(view))
                if len(view) == 1 and view.now_s == 0:
                    test.assertEqual(view.sizes(0).tolist(), [1, 2, 4])
                    test.assertEqual(view.steps_per_s(0).tolist(), [1.0, 1.8, 3.0])
                    test.assertEqual(view.steps_left.tolist(), [4000])
                    test.assertEqual(view.deadline_s.tolist(), [9000])
                    test.assertEqual((view.gpus_min[0], view.gpus_max[0], view.total_gpus), (1, 4, 4))
                    test.assertFalse(view.gpus_min.flags.writeable)
                if len(view) == 3:
                    test.assertEqual(view.gpus_max.tolist(), [4, 4, 1])
                    test.assertEqual(view.running.tolist(), [1, 0, 0])
                return view.gpus_min

        self.write("jobs.csv", JOBS.replace("1,4,4000,,0", "1,4,4000,9000,0"))
        lab.simulate(self.trace(), CLUSTER, Look())
        self.assertIn(3, seen)

    def test_true_run_times_need_an_oracle(self):
        self.write("jobs.csv", JOBS.replace("0,0,1,ann,net,64,1,4,4000", "0,4000,1,ann,net,64,1,4,"))
        seen = []

        class Look(lab.Policy):
            def size(self, view):
                seen.append(float(view.steps_left[0]))
                return view.gpus_min

        self.assertFalse(lab.simulate(self.trace(), CLUSTER, Look()).oracle)
        knows = Look()
        knows.oracle = True
        first = seen[0]
        seen.clear()
        lab.simulate(self.trace(), CLUSTER, knows)
        self.assertEqual((first, seen[0]), (numpy.inf, 4000))

    def test_mistakes_of_methods_are_named(self):
        for returned, problem in ((lambda view: [1.0] * (len(view) + 1), "2 sizes for 1 jobs"),
                                  (lambda view: [float("nan")] * len(view), "NaN"),
                                  (lambda view: [5] * len(view), "5, above its greatest number of GPUs, 4"),
                                  (lambda view: [-1] * len(view), "-1, below its least number of GPUs, 1"),
                                  (lambda view: [3] * len(view), "3, on which the job does not run"),
                                  (lambda view: [1.5] * len(view), "1.5, on which the job does not run"),
                                  (lambda view: "all", "not a number for each row"),
                                  (lambda view: view.sizes(7), "no such row"),
                                  (lambda view: 1 // 0, "ZeroDivisionError")):
            error = self.mistake(returned)
            self.assertIn(problem, error.problem)
            self.assertEqual((error.job, error.at_s), ("a", 0.0))
        self.assertIn("here 1, 2, 4", self.mistake(lambda view: [3] * len(view)).remedy)
        self.assertIn("leave fewer GPUs", self.mistake(
            lambda view: view.gpus_max if sum(view.running) > 1 else view.gpus_min).problem)

    def test_no_size_for_ever_ends_the_run(self):
        class Nothing(lab.Policy):
            def size(self, view):
                return numpy.zeros(len(view))

        with self.assertRaises(lab.LabError):
            lab.simulate(self.trace(), CLUSTER, Nothing())

    def test_kept_views_end_the_run(self):
        kept = []
        self.assertIn("still referred to", self.mistake(lambda view: (kept.append(view.gpus_min), view.gpus)[1]).problem)


if __name__ == "__main__":
    unittest.main()
