"""Tests of the installed package goban_lab: python -m unittest cases, in the environment that has it."""

import _thread
import math
import pickle
import sys
import threading
import time
import unittest

import goban_lab as lab
import numpy
from goban_lab.stats import t_quantile

CLUSTER = lab.cluster("4x4:V100")


def jobs(seed=1, limits=True, count=400):
    return lab.generate(jobs=count, gpus=16, load=1.1, seed=seed, limits=limits)


class ShortFirst(lab.Policy):
    select = "skip"

    def order(self, view):
        return view.estimate_s


class Bad(lab.Policy):
    """Does what `wrong` does, in the method that is asked."""

    def __init__(self, method, wrong):
        self.wrong = wrong
        self.name = "Bad"
        self.kept = []
        if method == "place":
            self.place = lambda view, job: wrong(self, view, job)
        elif method == "select":
            self.select = lambda view: wrong(self, view)
        else:
            self.order = lambda view: wrong(self, view)


class Runs(unittest.TestCase):
    def test_a_named_policy_and_the_same_one_in_python_decide_alike(self):
        class Fifo(lab.Policy):
            def order(self, view):
                return view.submit_s

            def place(self, view, job):
                return view.free.packed(job.gpus)

        for limits in (True, False):
            trace = jobs(limits=limits)
            named = lab.simulate(trace, CLUSTER, "fifo+packed").columns
            for when in ("event", "arrival"):
                policy = Fifo()
                policy.when = when
                own = lab.simulate(trace, CLUSTER, policy).columns
                for column in ("start_s", "finish_s"):
                    numpy.testing.assert_array_equal(own[column], named[column])

    def test_shortest_first_is_better_than_fifo(self):
        trace = jobs()
        short, fifo = (lab.simulate(trace, CLUSTER, each) for each in (ShortFirst(), "fifo+packed"))
        self.assertLess(short.mean_jct_s, 0.8 * fifo.mean_jct_s)
        self.assertGreaterEqual(float(min(short.columns["wait_s"])), 0)

    def test_views_name_their_jobs(self):
        trace = jobs(count=50)
        columns = trace._core.columns()
        test = self

        class Look(lab.Policy):
            def order(self, view):
                rows = view.job
                test.assertEqual(len(view), len(rows))
                for name in ("gpus", "submit_s", "limit_s", "user"):
                    numpy.testing.assert_array_equal(getattr(view, name), columns[name][rows])
                numpy.testing.assert_allclose(view.wait_s, view.now_s - view.submit_s, atol=1e-6)
                test.assertFalse(view.gpus.flags.writeable)
                return -view.wait_s

            def place(self, view, job):
                test.assertEqual(job.name, columns["job"][job.id])
                test.assertEqual(int(view.free.by_node.sum()), len(view.free))
                return view.free.lowest(job.gpus)

        lab.simulate(trace, CLUSTER, Look())

    def test_select_and_preempt(self):
        class Last(lab.Policy):
            def select(self, view):
                return [i for i in reversed(range(len(view))) if view.gpus[i] <= view.free_gpus]

        class Urgent(lab.Policy):
            preempt = "sticky"

            def order(self, view):
                return view.attained_s

        class Never(ShortFirst):
            def preempt(self, view):
                return numpy.full(len(view), -math.inf)

        trace = jobs(count=200)
        self.assertEqual(len(lab.simulate(trace, CLUSTER, Last()).columns["jct_s"]), 200)
        self.assertGreater(int(sum(lab.simulate(trace, CLUSTER, Urgent()).columns["preemptions"])), 0)
        self.assertEqual(int(sum(lab.simulate(trace, CLUSTER, Never()).columns["preemptions"])), 0)

    def test_estimates_are_not_true_durations(self):
        class Peek(lab.Policy):
            def order(self, view):
                return view.duration_s

        with self.assertRaisesRegex(lab.PolicyError, "oracle = True"):
            lab.simulate(jobs(), CLUSTER, Peek())
        known = Peek()
        known.oracle = True
        self.assertTrue(lab.simulate(jobs(), CLUSTER, known).oracle)
        self.assertTrue(lab.simulate(jobs(limits=False), CLUSTER, "easy-backfill+packed").oracle)
        self.assertFalse(lab.simulate(jobs(), CLUSTER, "easy-backfill+packed").oracle)

    def test_compare_does_not_depend_on_workers(self):
        class Drawn(lab.Policy):
            def order(self, view):
                return view.rng.random(len(view))

        tables = []
        for workers in (1, 2):
            result = lab.compare(jobs(), CLUSTER, [ShortFirst(), Drawn(), "fifo+packed"], seeds=range(4),
                                 workers=workers)
            tables.append((result.table(), result["Drawn"].columns["start_s"].tobytes()))
        self.assertEqual(*tables)
        self.assertIn("yes", tables[0][0])
        self.assertIn("±", tables[0][0])
        with self.assertRaises(KeyError):
            result["other"]

    def test_compare_of_generated_traces(self):
        result = lab.compare(lambda seed: jobs(seed), CLUSTER, [ShortFirst(), "fifo+packed"], seeds=(1, 2, 3),
                             workers=1)
        means = [lab.simulate(jobs(seed), CLUSTER, "fifo+packed", seed=seed).mean_jct_s for seed in (1, 2, 3)]
        row = result.rows[1]
        self.assertAlmostEqual(row.mean_jct_s.value, sum(means) / 3)
        self.assertAlmostEqual(row.mean_jct_s.half, 4.3027 * numpy.std(means, ddof=1) / math.sqrt(3), 6)
        self.assertAlmostEqual(t_quantile(19), 2.0930, 3)

    def test_inputs_are_checked(self):
        for call in (lambda: lab.cluster("64by8"), lambda: lab.trace("missing.csv"), lambda: lab.seconds("7x"),
                     lambda: lab.simulate(jobs(), CLUSTER, "nonsense"),
                     lambda: lab.simulate(jobs(), CLUSTER, 7),
                     lambda: lab.compare(jobs(), CLUSTER, []),
                     lambda: jobs().first("0s"), lambda: jobs().first(math.nan), lambda: jobs().resampled(-1),
                     lambda: jobs().resampled(1, 1e-9),
                     lambda: lab.simulate(jobs(), CLUSTER, "fifo", seed=-1),
                     lambda: lab.simulate(jobs(), CLUSTER, "fifo", restart_cost_s=math.nan),
                     lambda: lab.compare(jobs(), CLUSTER, ["fifo+packed", "fifo+packed"]),
                     lambda: lab.compare(jobs(), CLUSTER, "goban"), lambda: lab.compare(jobs(), CLUSTER, ShortFirst()),
                     lambda: lab.compare(jobs(), CLUSTER, ["fifo+packed"], seeds=20),
                     lambda: lab.simulate(jobs(), CLUSTER, Locked()),
                     lambda: lab.simulate(jobs(), "4x4", "fifo"), lambda: lab.simulate("jobs.csv", CLUSTER, "fifo"),
                     lambda: lab.simulate(jobs(), CLUSTER, ShortFirst), lambda: lab.seconds(None),
                     lambda: lab.simulate(jobs(), CLUSTER, "fifo", restart_cost_s="30"),
                     lambda: lab.simulate(jobs(), CLUSTER, ShortFirst(), call_limit_s=math.nan),
                     lambda: lab.generate(seed=-1),
                     lambda: lab.compare(jobs(), CLUSTER, ["fifo"], workers=0),
                     lambda: lab.compare(jobs(), CLUSTER, ["fifo"], workers="2"),
                     lambda: lab.compare(jobs(), CLUSTER, ["fifo"], seeds=[1.5]),
                     lambda: lab.compare(jobs(), CLUSTER, ["fifo"], seeds="12"),
                     lambda: lab.compare("jobs.csv", CLUSTER, ["fifo"], seeds=(1, 2)),
                     lambda: lab.compare(lambda seed: None, CLUSTER, ["fifo"], seeds=(1, 2))):
            with self.assertRaises(lab.LabError):
                call()
        wrong = ShortFirst()
        wrong.when = 600
        self.assertEqual(len(lab.simulate(jobs(), CLUSTER, wrong).columns["jct_s"]), 400)
        same = [lab.simulate(jobs(), CLUSTER, "random", seed=seed).mean_jct_s for seed in (3, numpy.int64(3))]
        self.assertEqual(*same)
        same = [lab.simulate(jobs(), CLUSTER, "las+packed", restart_cost_s=cost).mean_jct_s
                for cost in (60, numpy.int64(60), numpy.float32(60))]
        self.assertEqual(len(set(same)), 1)
        wrong.name = 7
        with self.assertRaisesRegex(lab.LabError, "name = 7 of ShortFirst: it must be a text"):
            lab.simulate(jobs(), CLUSTER, wrong)
        wrong.name = ""
        lazy = ShortFirst()
        lazy.place = lambda view, job: None
        with self.assertRaisesRegex(lab.LabError, "400 jobs can never start .* or the policy's methods never chose GPUs"):
            lab.simulate(jobs(), CLUSTER, lazy)
        wrong.select = "packed"
        with self.assertRaisesRegex(lab.LabError, "a part of the kind select"):
            lab.simulate(jobs(), CLUSTER, wrong)

    def test_trace_first_and_resampled(self):
        trace = jobs()
        day = trace.first(trace.span_s / 2)
        self.assertLess(len(day), len(trace))
        self.assertGreater(len(day), 0)
        drawn = trace.resampled(3)._core.columns()["submit_s"]
        self.assertTrue(all(numpy.diff(drawn) >= 0))
        numpy.testing.assert_array_equal(drawn, trace.resampled(3)._core.columns()["submit_s"])


class BadInput(unittest.TestCase):
    """Every mistake is an error that names policy, method, time, and what was returned."""

    def check(self, method, wrong, text, job=False, **options):
        trace = jobs(count=60)
        before = lab.simulate(trace, CLUSTER, ShortFirst()).columns["start_s"]
        with self.assertRaises(lab.PolicyError) as caught:
            lab.simulate(trace, CLUSTER, Bad(method, wrong), **options)
        error = caught.exception
        self.assertIn(text, str(error))
        self.assertEqual((error.policy, error.method), ("Bad", method))
        self.assertIsNotNone(error.at_s)
        self.assertTrue(error.remedy)
        if job:
            self.assertIn(error.job, trace._core.columns()["job"])
        self.assertEqual(str(pickle.loads(pickle.dumps(error))), str(error))
        after = lab.simulate(trace, CLUSTER, ShortFirst()).columns["start_s"]
        numpy.testing.assert_array_equal(before, after)
        return error

    def test_keys(self):
        self.check("order", lambda p, v: v.gpus * math.nan, "NaN")
        self.check("order", lambda p, v: [1.0] * (len(v) + 1), "keys for")
        self.check("order", lambda p, v: "abc", "returned str 'abc'")
        self.check("order", lambda p, v: None, "None")
        self.check("order", lambda p, v: 3.0, "returned float 3.0")
        self.check("order", lambda p, v: v.gpus * 1j, "not real numbers")

    def test_keys_on_arrival_depend_on_their_own_job(self):
        class Rank(lab.Policy):
            when = "arrival"

            def order(self, view):
                return numpy.arange(len(view))[::-1]

        with self.assertRaisesRegex(lab.PolicyError, "alone"):
            lab.simulate(jobs(), CLUSTER, Rank())

    def test_rows(self):
        self.check("select", lambda p, v: [len(v)], "does not exist")
        self.check("select", lambda p, v: [0, 0], "returned twice", job=True)
        self.check("select", lambda p, v: [0.5], "not whole numbers")
        self.check("select", lambda p, v: 5, "not whole numbers")

    def test_gpus(self):
        self.check("place", lambda p, v, j: [0] * j.gpus if j.gpus > 1 else [99], "", job=True)
        self.check("place", lambda p, v, j: [99] * j.gpus, "", job=True)
        self.check("place", lambda p, v, j: [-1], "", job=True)
        self.check("place", lambda p, v, j: [], "returned 0 GPUs", job=True)
        self.check("place", lambda p, v, j: list(range(j.gpus)), "which is not free", job=True)
        self.check("place", lambda p, v, j: "0", "not whole numbers", job=True)

    def test_exceptions_name_their_line(self):
        error = self.check("order", lambda p, v: 1 / 0, "ZeroDivisionError")
        self.assertIn("cases.py:", error.place)
        self.assertIsInstance(error.__cause__, ZeroDivisionError)
        self.check("order", lambda p, v: numpy.zeros(10**15), "MemoryError")

    def test_a_method_may_end_its_run_but_not_the_program(self):
        self.check("order", lambda p, v: sys.exit(3), "raised SystemExit: 3")
        with self.assertRaisesRegex(lab.PolicyError, "raised SystemExit"):
            lab.compare(jobs(count=60), CLUSTER, [Bad("order", lambda p, v: sys.exit(3)), "fifo+packed"], workers=2)
        error = self.check("order", lambda p, v: lab.seconds("soon"), "raised LabError: 'soon' is no time")
        self.assertIn("cases.py:", error.place)

    def test_a_method_with_other_arguments(self):
        class Wrong(lab.Policy):
            def order(self):
                return []

        with self.assertRaisesRegex(lab.PolicyError, "raised TypeError.* takes 1 positional argument") as caught:
            lab.simulate(jobs(count=60), CLUSTER, Wrong())
        self.assertIn("cases.py:", caught.exception.place)

    def test_loops_end(self):
        def loop(policy, view):
            while True:
                time.sleep(0.01)

        self.check("order", loop, "did not return within 0.2 s", call_limit_s=0.2)

    def test_views_are_read_only_and_end_with_the_call(self):
        def edit(policy, view):
            view.gpus[0] = 1

        def keep(policy, view):
            policy.kept.append(view.gpus[1:])
            return view.submit_s

        def keep_view(policy, view):
            if policy.kept:
                return policy.kept[0].submit_s
            policy.kept.append(view)
            return view.submit_s

        self.check("order", edit, "read-only")
        self.check("order", keep, "still referred to")
        self.check("order", keep_view, "used after the call")

    def test_threads_left_behind(self):
        done = threading.Event()
        started = []

        def leave(policy, view):
            if not started:
                started.append(threading.Thread(target=done.wait, name="left", daemon=True))
                started[0].start()
            return view.submit_s

        with self.assertRaisesRegex(lab.PolicyError, "threads behind: left"):
            lab.simulate(jobs(count=60), CLUSTER, Bad("order", leave))
        done.set()

    def test_threads_that_have_no_name(self):
        done, runs = threading.Event(), threading.Event()
        started = []

        def left():
            runs.set()
            done.wait()

        def leave(policy, view):
            if not started:
                started.append(_thread.start_new_thread(left, ()))
                runs.wait()
            return view.submit_s

        with self.assertRaisesRegex(lab.PolicyError, "1 threads behind: without a name"):
            lab.simulate(jobs(count=60), CLUSTER, Bad("order", leave))
        done.set()

    def test_threads_that_are_joined(self):
        def join(policy, view):
            thread = threading.Thread(target=time.sleep, args=(0,))
            thread.start()
            thread.join()
            return view.submit_s

        self.assertEqual(len(lab.simulate(jobs(count=60), CLUSTER, Bad("order", join)).columns["jct_s"]), 60)

    def test_errors_of_processes(self):
        with self.assertRaisesRegex(lab.PolicyError, "raised ValueError: no"):
            lab.compare(jobs(count=60), CLUSTER, [Raises(), "fifo+packed"], seeds=range(2), workers=2)


class Locked(ShortFirst):
    """Holds what cannot be copied."""

    def __init__(self):
        self.lock = threading.Lock()


class Raises(lab.Policy):
    def order(self, view):
        raise ValueError("no")


if __name__ == "__main__":
    unittest.main()
