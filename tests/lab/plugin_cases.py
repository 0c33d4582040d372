"""Policies in shared libraries: what wheel.py built, by the header and the CMake package of the wheel."""

import os
import unittest

import goban_lab as lab
import numpy

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

    def test_names(self):
        with self.assertRaisesRegex(lab.LabError, "has no policy 'other': name one of small-first"):
            lab.plugin(BUILT, "other")

    def test_another_version_is_refused(self):
        with self.assertRaisesRegex(lab.LabError, "was built for version 999 of the interface; this goban has "
                                                  "version 1 .rebuild it"):
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
