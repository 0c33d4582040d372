"""The numbers of goban_wrap.training, with a simulated clock and without PyTorch.

    wrap_training_test.py FOLDER_OF_THE_PACKAGE
"""

import sys
import unittest

sys.path.insert(0, sys.argv.pop(1))
from goban_wrap.training import Training  # noqa: E402


class Clock:
    def __init__(self):
        self.now = 100.0

    def __call__(self):
        return self.now

    def pass_(self, seconds):
        self.now += seconds


class TrainingTest(unittest.TestCase):
    def setUp(self):
        self.clock = Clock()
        self.training = Training(rank=1, ranks=4, epochs=3, clock=self.clock)

    def one_step(self, data=0.125, work=0.5, reduction=0.25, other=0.0):
        self.clock.pass_(data)
        self.training.data_waited(data)
        self.clock.pass_(work)
        self.training.gradient_ready()
        self.clock.pass_(reduction)
        self.training.backward_ended()
        self.clock.pass_(other)
        self.training.collective_waited(other)
        return self.training.stepped()

    def test_time_is_split_and_adds_up(self):
        start = self.clock.now
        for _ in range(8):
            self.one_step(other=0.0625)
        training = self.training
        self.assertEqual(training.busy_s, 8 * 0.5)
        self.assertEqual(training.wait_s, 8 * 0.3125)
        self.assertEqual(training.data_s, 8 * 0.125)
        self.assertEqual(training.busy_s + training.wait_s + training.data_s,
                         self.clock.now - start)
        self.assertEqual(training.rank_line(),
                         "rank rank=1 ranks=4 steps=8 busy_s=4.000000 wait_s=2.500000 data_s=1.000000")

    def test_without_reductions_nothing_waits(self):
        self.clock.pass_(1)
        self.training.backward_ended()
        self.training.stepped()
        self.assertEqual(self.training.wait_s, 0)

    def test_the_line_of_progress(self):
        self.training.loader_started(1, 10, 32)
        self.one_step()
        self.assertEqual(self.training.progress_line(), "progress epoch=1 epochs=3 step=1 steps=30")
        self.one_step(data=0, work=1, reduction=0)
        self.one_step(data=0, work=1, reduction=0)
        self.assertEqual(self.training.progress_line(),
                         "progress epoch=1 epochs=3 step=3 steps=30 samples_per_s=128")
        self.training.loader_started(2, 10, 32)
        self.one_step()
        self.assertIn("epoch=2 epochs=3 step=4", self.training.progress_line())

    def test_a_loader_that_trains_nothing_is_no_epoch(self):
        self.training.loader_started(1, 10, 32)
        self.one_step()
        self.training.loader_started(1, 99, 64)  # validation
        self.assertIn("steps=30", self.training.progress_line())

    def test_the_optimizer_with_most_steps_counts(self):
        self.assertTrue(self.training.stepped("generator"))
        self.assertFalse(self.training.stepped("critic"))
        self.assertTrue(self.training.stepped("critic"))
        self.assertEqual(self.training.step, 2)

    def test_a_loaded_state_goes_on(self):
        self.training.loaded(20)
        self.training.loader_started(1, 10, 32)
        self.one_step()
        self.assertEqual(self.training.progress_line(), "progress epoch=3 epochs=3 step=21 steps=30")

    def test_when_the_next_checkpoint_comes(self):
        self.assertIsNone(self.training.next_checkpoint_in_s())
        self.clock.pass_(1000)  # start of the program: not part of the interval
        self.training.stepped()
        self.clock.pass_(8)
        self.training.checkpointed()
        self.clock.pass_(3)
        self.assertEqual(self.training.next_checkpoint_in_s(), 5)
        self.clock.pass_(30)
        self.assertEqual(self.training.next_checkpoint_in_s(), 0)


unittest.main()
