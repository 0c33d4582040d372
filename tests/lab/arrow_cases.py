"""Results as Arrow streams, read by nanoarrow, an implementation that is not ours."""

import unittest

import goban_lab as lab
import numpy
from goban_lab import _core

try:
    import nanoarrow
except ImportError:
    nanoarrow = None

CLUSTER = lab.cluster("4x4:V100")


@unittest.skipUnless(nanoarrow, "nanoarrow is not installed")
class Arrow(unittest.TestCase):
    def setUp(self):
        self.result = lab.simulate(lab.generate(jobs=200, gpus=16, load=1.2), CLUSTER, "las+packed", actions=True)

    def check(self, table, columns):
        stream = nanoarrow.ArrayStream(table)
        names = [field.name for field in stream.schema.fields]
        self.assertEqual(names, list(columns))
        rows = stream.read_all().to_pylist()
        for name, values in columns.items():
            self.assertEqual([row[name] for row in rows], values.tolist() if hasattr(values, "tolist") else values)

    def test_a_row_a_job(self):
        self.check(self.result, self.result.columns)
        self.assertEqual(len(self.result.columns["job"]), 200)
        trace = lab.generate(jobs=10)
        self.check(trace, trace._core.columns())

    def test_actions_are_what_happened(self):
        actions = self.result.actions
        rows = nanoarrow.ArrayStream(actions).read_all().to_pylist()
        columns = self.result.columns
        held = {}
        starts = {}
        for row in rows:
            job = row["job"]
            if row["action"] == "start":
                self.assertEqual(len(row["gpus"]), columns["gpus"][job])
                for gpu in row["gpus"]:
                    self.assertNotIn(gpu, held)  # no GPU is held twice
                    held[gpu] = job
                starts.setdefault(job, row["at_s"])
            else:
                self.assertEqual(row["gpus"], [])
                held = {gpu: holder for gpu, holder in held.items() if holder != job}
        self.assertFalse(held)
        self.assertEqual([starts[job] for job in range(200)], columns["start_s"].tolist())
        self.assertEqual(sum(row["action"] == "preempt" for row in rows), int(columns["preemptions"].sum()))
        with self.assertRaisesRegex(lab.LabError, "actions=True"):
            lab.simulate(lab.generate(jobs=10), CLUSTER, "fifo+packed").actions

    def test_a_stream_ends_after_its_batch(self):
        stream = nanoarrow.c_array_stream(self.result)
        self.assertEqual(stream.get_next().length, 200)
        with self.assertRaises(StopIteration):
            stream.get_next()
        self.result.__arrow_c_stream__()  # a capsule that nobody takes frees its stream
        self.check(lab.Table({}), {})

    def test_columns_are_checked(self):
        with self.assertRaisesRegex(ValueError, "column b has 2 rows, the first one 3"):
            _core.arrow_stream({"a": numpy.zeros(3), "b": numpy.zeros(2)})
        with self.assertRaisesRegex(TypeError, "column a"):
            _core.arrow_stream({"a": numpy.zeros(3, dtype=complex)})
        with self.assertRaisesRegex(TypeError, "column a"):
            _core.arrow_stream({"a": (numpy.array([0, 5], dtype=numpy.int32), numpy.zeros(3, dtype=numpy.int32))})


if __name__ == "__main__":
    unittest.main()
