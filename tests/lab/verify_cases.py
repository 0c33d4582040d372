"""python -m goban_lab verify: good policies are scored, and bad ones end in the report, not in harm."""

import json
import os
import subprocess
import sys
import tempfile
import textwrap
import unittest
from pathlib import Path

import goban_lab as lab

SUITE = """
reference = "fifo+packed"
longest_wait = "30d"
[[public]]
name = "one"
cluster = "2x4:V100"
generate = { jobs = 80, load = 1.1, seed = 5 }
[[held_out]]
name = "recorded"
cluster = "2x4:V100"
trace = "jobs.csv"
block = "1h"
"""
GOOD = """
class ShortFirst(lab.Policy):
    select = "skip"
    def order(self, view):
        return view.estimate_s
"""
BAD = {  # what the class does, and what the report says
    "raises": ("def order(self, view):\n    return 1 / 0", "ZeroDivisionError"),
    "nan": ("def order(self, view):\n    return view.gpus * float('nan')", "NaN"),
    "wrong length": ("def order(self, view):\n    return [1.0]* (len(view) + 1)", "keys for"),
    "taken GPU": ("def place(self, view, job):\n    return list(range(job.gpus))", "not free"),
    "ends the process": ("def order(self, view):\n    import os; os._exit(3)", "ended its process"),
    "crashes": ("def order(self, view):\n    import ctypes; ctypes.string_at(0)", "SIGSEGV"),
    "loops in C": ("def order(self, view):\n    sum(range(10**15))", "1 s of CPU"),
    "memory": ("def order(self, view):\n    self.kept = b'x' * (1 << 33)", "MemoryError"),
    "true durations": ("def order(self, view):\n    return view.duration_s", "oracle = True"),
    "oracle": ("oracle = True\ndef order(self, view):\n    return view.duration_s", "oracle = True"),
    "writes": ("def order(self, view):\n    open('/tmp/goban-lab-was-here', 'w')", "Error"),
    "reads the suite": ("def order(self, view):\n    return open(SUITE).read()", "PermissionError"),
    "network": ("def order(self, view):\n    import socket; socket.socket()", "PermissionError"),
    "kills": ("def order(self, view):\n    import os; os.kill(os.getppid(), 9)", "PermissionError"),
    "keeps a view": ("def order(self, view):\n    self.kept = view.gpus; return view.gpus", "still referred to"),
    "edits a view": ("def order(self, view):\n    view.gpus[0] = 1", "read-only"),
    "threads": ("def order(self, view):\n    import threading, time\n"
                "    threading.Thread(target=time.sleep, args=(60,), daemon=True).start(); return view.gpus", "threads"),
    "no such part": ("select = 'nonsense'", "neither a method nor a part"),
}  # fmt: skip
GUARDED = ("reads the suite", "network", "kills")


LIMITS = lab.Limits(1, 256 << 20)


def verify(folder, text, limits=LIMITS):
    """The report of a policy, as JSON gives it."""
    path = Path(folder) / "policy.py"
    path.write_text("import goban_lab as lab\n" + text)
    report = lab.verify(str(path), str(Path(folder) / "suite.toml"), seeds=2, limits=limits)
    return json.loads(json.dumps(report.document()))


def command(folder, *options):
    """The program, on the policy that was verified last."""
    words = [sys.executable, "-m", "goban_lab", "verify", *options]
    return subprocess.run(words, capture_output=True, text=True, check=False, cwd=folder)


def body(text):
    return "class Mine(lab.Policy):\n" + textwrap.indent(text, "    ")


class Verify(unittest.TestCase):
    def setUp(self):
        kept = tempfile.TemporaryDirectory()
        self.addCleanup(kept.cleanup)
        self.folder = kept.name
        (Path(kept.name) / "suite.toml").write_text(SUITE)
        columns = lab.generate(jobs=80, gpus=8, load=1.2, seed=9)._core.columns()
        rows = zip(columns["job"], columns["submit_s"], columns["gpus"], columns["duration_s"], columns["limit_s"])
        (Path(kept.name) / "jobs.csv").write_text(
            "job_id,user,submit_time,num_gpus,duration,walltime_s\n"
            + "".join(f"{job},a,{submit:.3f},{gpus},{duration:.3f},{limit:.0f}\n" for job, submit, gpus, duration, limit in rows))

    def test_a_good_policy_is_scored(self):
        report = verify(self.folder, GOOD)
        self.assertEqual((report["status"], report["policy"]), ("scored", "ShortFirst"))
        done = command(self.folder, "policy.py", "--suite", "suite.toml", "--seeds", "2", "--time", "1", "--mem", "256M",
                       "--json")
        self.assertEqual(done.returncode, 0)
        printed = json.loads(done.stdout)
        self.assertEqual(printed | {"cost": 0}, report | {"cost": 0})
        self.assertTrue(all(each["kept"] for each in report["constraints"].values()))
        self.assertEqual(len(report["constraints"]), 3)
        self.assertEqual(report["cost"]["runs"], 2 + 2 + 3)

        class ShortFirst(lab.Policy):
            select = "skip"

            def order(self, view):
                return view.estimate_s

        gains = []
        cluster = lab.cluster("2x4:V100")
        for seed in (5, 6):
            trace = lab.generate(jobs=80, gpus=8, load=1.1, seed=seed)
            own, base = (lab.simulate(trace, cluster, each) for each in (ShortFirst(), "fifo+packed"))
            gains.append(1 - own.mean_jct_s / base.mean_jct_s)
        self.assertAlmostEqual(report["public"]["gain"], sum(gains) / 2, 9)
        self.assertAlmostEqual(report["public"]["half"], 12.7062 * abs(gains[0] - gains[1]) / 2, 9)
        self.assertGreater(report["public"]["gain"], 0)
        self.assertEqual(report["held_out"]["traces"][0]["name"], "recorded")

    def test_select_and_place_see_what_they_see_at_home(self):
        text = """
class Mine(lab.Policy):
    def select(self, view):
        return [row for row in range(len(view)) if view.gpus[row] <= view.free_gpus]
    def place(self, view, job):
        assert len(view.free) == int(view.free.by_node.sum()) and job.name and view.now_s >= job.submit_s
        free = view.free.one_node(job.gpus) or view.free.packed(job.gpus)
        return free if view.rng.random() < 2 else None
"""
        report = verify(self.folder, text)
        self.assertEqual(report["status"], "scored", report["error"])
        names = {}
        exec("import goban_lab as lab\n" + text, names)
        trace, cluster = lab.generate(jobs=80, gpus=8, load=1.1, seed=5), lab.cluster("2x4:V100")
        home = [lab.simulate(trace, cluster, each).mean_jct_s for each in (names["Mine"](), "fifo+packed")]
        other = lab.generate(jobs=80, gpus=8, load=1.1, seed=6)
        home += [lab.simulate(other, cluster, each).mean_jct_s for each in (names["Mine"](), "fifo+packed")]
        self.assertAlmostEqual(report["public"]["traces"][0]["metric"], (home[0] + home[2]) / 2, 6)

    def test_bad_policies_fail(self):
        guarded = True
        for name, (text, said) in BAD.items():
            with self.subTest(name):
                if name in GUARDED and not guarded:
                    self.skipTest("this kernel does not guard files or calls")
                report = verify(self.folder, f"SUITE = {self.folder!r} + '/suite.toml'\n" + body(text))
                self.assertEqual(report["status"], "failed")
                self.assertIn(said, report["error"]["text"])
                self.assertTrue(report["error"]["remedy"])
                guarded = guarded and all(report["guards"].values())
        self.assertFalse(os.path.exists("/tmp/goban-lab-was-here"))

    def test_a_policy_that_sleeps_is_ended(self):
        report = verify(self.folder, body("def order(self, view):\n    import time; time.sleep(600)"),
                        lab.Limits(9, call_s=2.0))
        self.assertIn("did not return within 2 s", report["error"]["text"])

    def test_a_place_is_named(self):
        report = verify(self.folder, body(BAD["raises"][0]))
        done = command(self.folder, "policy.py", "--suite", "suite.toml", "--seeds", "2")
        self.assertEqual(done.returncode, 1)
        self.assertIn("FAILED", done.stdout)
        self.assertTrue(report["error"]["place"].endswith("policy.py:4"), report["error"]["place"])
        self.assertEqual(report["error"]["trace"], "one")
        report = verify(self.folder, "class Mine(lab.Policy)\n")
        self.assertIn("SyntaxError", report["error"]["text"])

    def test_draws_of_its_own_are_found(self):
        for text in ("import random\nreturn [random.random() for _ in view.gpus]",
                     "import numpy\nreturn numpy.random.rand(len(view))",
                     "return [hash(str(each)) for each in view.job]"):
            report = verify(self.folder, body("def order(self, view):\n" + textwrap.indent(text, "    ")))
            self.assertEqual(report["status"], "failed")
            self.assertFalse(report["constraints"]["deterministic"]["kept"])
        report = verify(self.folder, body("def order(self, view):\n    return view.rng.random(len(view))"))
        self.assertTrue(report["constraints"]["deterministic"]["kept"])

    def test_starvation_is_found(self):
        text = body("select = 'skip'\ndef order(self, view):\n    return -view.submit_s")
        suite = (Path(self.folder) / "suite.toml")
        suite.write_text(SUITE.replace("30d", "1m"))
        report = verify(self.folder, text)
        self.assertEqual(report["status"], "failed")
        self.assertFalse(report["constraints"]["no starvation"]["kept"])
        self.assertIn("of at most 60 s: job", report["constraints"]["no starvation"]["detail"])
        self.assertIsNone(report["error"])

    def test_asking_for_true_durations_breaks_a_constraint(self):
        report = verify(self.folder, body("def order(self, view):\n    return getattr(view, 'duration_s', view.gpus)"))
        self.assertEqual(report["status"], "failed")
        self.assertFalse(report["constraints"]["no true durations"]["kept"])

    def test_policies_by_name_and_the_suite_of_the_package(self):
        done = command(self.folder, "fifo+packed", "--suite", "small", "--seeds", "2")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn("gain over fifo+packed in mean_jct_s 0.0 ± 0.0 %", done.stdout)

    def test_usage(self):
        (Path(self.folder) / "policy.py").write_text("import goban_lab as lab\n" + GOOD)
        for options in (("--suite", "suite.toml", "--mem", "much"), ("--suite", "nonsense"), ()):
            self.assertEqual(command(self.folder, "policy.py", *options).returncode, 2)
        suite = Path(self.folder) / "suite.toml"
        for text, said in (("[[public]]\ncluster = '2x4'", "give either trace"), ("metric = 'speed'", "choose one of"),
                           ("nonsense = 1", "nonsense is unknown"), ("", "at least one"),
                           ("[[public]]\ncluster = 4", "must be of the type str"), ("x =", "suite.toml"),
                           ("reference = 'none'\n" + SUITE.replace("reference", "name"), "none")):
            suite.write_text(text)
            with self.assertRaisesRegex(lab.LabError, said):
                lab.verify("policy.py", str(suite))
        with self.assertRaisesRegex(lab.LabError, "at least 2"):
            lab.verify("policy.py", "small", seeds=1)
        with self.assertRaisesRegex(lab.LabError, "missing.py"):
            lab.verify("missing.py", "small")


if __name__ == "__main__":
    unittest.main()
