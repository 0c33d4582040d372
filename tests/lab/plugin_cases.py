"""Policies in shared libraries: what wheel.py built, by the header and the CMake package of the wheel."""

import json
import os
import subprocess
import tempfile
import unittest
from pathlib import Path

import goban_lab as lab
import numpy

JOBS = "job_id,submit_time,duration,num_gpus,user,model,batch_size,gpus_min,gpus_max,steps,resize_cost_s\n" + "".join(
    f"{i},{i * 400},0,1,u{i % 3},net,64,1,{1 << (i % 5)},{500 + 37 * (i * i % 97)},0\n" for i in range(40))
RATES = "model,batch_size,gpu_model,num_gpus,steps_per_s\n" + "".join(
    f"net,64,V100,{gpus},{gpus**0.8:.3f}\n" for gpus in (1, 2, 4, 8, 16))
CLUSTER = lab.cluster("4x4:V100")
BUILT, OTHER_VERSION = os.environ.get("GOBAN_LAB_PLUGIN", ""), os.environ.get("GOBAN_LAB_OLD_PLUGIN", "")


class SmallFirst(lab.Policy):
    select = "easy-backfill"

    def order(self, view):
        return view.gpus * view.estimate_s - 10 * view.wait_s

    def place(self, view, job):
        return view.free.one_node(job.gpus) or view.free.lowest(job.gpus)


@unittest.skipUnless(BUILT, "no compiler built the plugin")
class Plugins(unittest.TestCase):
    def test_decides_like_the_same_policy_in_python(self):
        for limits in (True, False):
            trace = lab.generate(jobs=500, gpus=16, load=1.1, seed=5, limits=limits)
            own = lab.simulate(trace, CLUSTER, lab.plugin(BUILT), actions=True)
            python = lab.simulate(trace, CLUSTER, SmallFirst(), actions=True)
            for column in ("start_s", "finish_s"):
                numpy.testing.assert_array_equal(own.columns[column], python.columns[column])
            for mine, its in zip(own.actions.columns["gpus"], python.actions.columns["gpus"], strict=True):
                numpy.testing.assert_array_equal(mine, its)
            self.assertFalse(own.oracle)

    def test_is_compared_with_others(self):
        trace = lab.generate(jobs=300, gpus=16, load=1.1, seed=5)
        tables = [lab.compare(trace, CLUSTER, [lab.plugin(BUILT, "small-first"), SmallFirst(), "fifo+packed"],
                              seeds=range(3), workers=workers).table() for workers in (1, 2)]
        self.assertEqual(*tables)
        rows = [line.split()[1:] for line in tables[0].splitlines()[1:3]]
        self.assertEqual(rows[0], rows[1])

    def test_chooses_sizes_like_the_same_policy_in_python(self):
        class EqualShares(lab.Policy):
            def size(self, view):
                share = max(1, view.total_gpus // len(view))
                return [max([n for n in view.sizes(row) if n <= share], default=view.gpus_min[row])
                        for row in range(len(view))]

        with tempfile.TemporaryDirectory() as folder:
            for name, text in (("jobs.csv", JOBS), ("rates.csv", RATES)):
                Path(folder, name).write_text(text)
            trace = lab.trace(Path(folder, "jobs.csv"), rates=Path(folder, "rates.csv"))
            library = Path(BUILT).with_name("libshares.so")
            own, python = (lab.simulate(trace, CLUSTER, each, actions=True, restart_cost_s=0)
                           for each in (lab.plugin(library), EqualShares()))
            self.assertGreater(own.resizes, 10)
            self.assertFalse(own.oracle)
            for column in ("start_s", "finish_s", "resizes", "gpus_least", "gpus_most"):
                numpy.testing.assert_array_equal(own.columns[column], python.columns[column])
            goban = os.environ.get("GOBAN_PROGRAM")
            if goban:
                options = ["--cluster", "4x4:V100", "--jobs", Path(folder, "jobs.csv"), "--rates", Path(folder, "rates.csv"),
                           "--plugin", library, "--policy", "equal-shares", "--restart-cost", "0", "--json"]
                done = subprocess.run([goban, "simulate", *map(str, options)], capture_output=True, text=True, check=True)
                run = json.loads(done.stdout)["runs"][0]
                self.assertAlmostEqual(run["avg_jct_s"], own.mean_jct_s, 6)
                self.assertEqual(run["elastic"]["resizes"], own.resizes)

    def test_names(self):
        with self.assertRaisesRegex(lab.LabError, "has no policy 'other': name one of small-first"):
            lab.plugin(BUILT, "other")

    def test_another_version_is_refused(self):
        with self.assertRaisesRegex(lab.LabError, "was built for version 999 of the interface; this goban has "
                                                  "version 2 .rebuild it"):
            lab.plugin(OTHER_VERSION)


class WithoutALibrary(unittest.TestCase):
    def test_files(self):
        with self.assertRaisesRegex(lab.LabError, "there is no such file"):
            lab.plugin("/nowhere/libmine.so")
        with self.assertRaisesRegex(lab.LabError, "cannot be loaded"):
            lab.plugin(__file__)

    def test_the_cmake_package(self):
        self.assertTrue(os.path.exists(os.path.join(lab.cmake_dir(), "goban_labConfig.cmake")))


if __name__ == "__main__":
    unittest.main()
