"""Counts steps, epochs and times of a training. Independent of PyTorch; tests call it directly.

The time of a step, on this rank's host clock, is split into
    data     waiting for the next batch
    wait     inside collectives: waiting for other ranks, and moving bytes
    busy     everything else: this rank's own work
Collectives make steps equally long on all ranks; `busy` identifies a slow one.
"""

import time


class Training:
    def __init__(self, rank=0, ranks=1, epochs=0, clock=time.monotonic):
        self.rank = rank
        self.ranks = ranks
        self.epochs = epochs  # of all the work; 0 = unknown
        self.step = 0  # optimizer steps of this run
        self.earlier = 0  # steps of earlier runs, if the loaded state has them
        self.epoch = 0  # the current epoch, from 1; 0 = unknown
        self.steps_in_epoch = 0  # 0 = unknown
        self.batch_size = 0  # of this rank; 0 = unknown
        self.data_s = 0.0
        self.wait_s = 0.0
        self.busy_s = 0.0
        self.checkpoints = 0
        self.checkpoint_every_s = 0.0  # between the last two; 0 = unknown
        self.samples_per_s = 0.0  # of all ranks, since the last report; 0 = unknown
        self._clock = clock
        self._step_start = None
        self._data = 0.0
        self._wait = 0.0
        self._last_ready = None
        self._loader = None
        self._checkpoint_at = clock()
        self._reported = (clock(), 0)
        self._steps = {}  # by optimizer

    # Called by the hooks.

    def data_waited(self, seconds):
        if self._step_start is None:
            self._step_start = self._clock() - seconds
        self._data += seconds

    def collective_waited(self, seconds):
        self._wait += seconds

    def gradient_ready(self):
        """A gradient that is reduced over the ranks is ready."""
        self._last_ready = self._clock()

    def backward_ended(self):
        """After the last gradient, a backward pass only waits for the reduction."""
        if self._last_ready is not None:
            self._wait += self._clock() - self._last_ready
        self._last_ready = None

    def loader_started(self, epoch, steps, batch_size):
        """An iteration of a loader began, its `epoch`-th, from 1. Whether the loader is used for training
        is known when an optimizer steps."""
        self._loader = (epoch, steps, batch_size)

    def stepped(self, optimizer=0):
        """An optimizer made a step. With several optimizers, the one with most steps counts."""
        self._steps[optimizer] = self._steps.get(optimizer, 0) + 1
        if self._steps[optimizer] <= self.step:
            return False
        self.step = self._steps[optimizer]
        now = self._clock()
        if self.step == 1:
            self._checkpoint_at = now
        if self._loader is not None:
            self.epoch, self.steps_in_epoch, self.batch_size = self._loader
            if self.steps_in_epoch > 0:
                self.epoch += self.earlier // self.steps_in_epoch
        if self._step_start is not None:
            data, wait = self._data, self._wait
            self.data_s += data
            self.wait_s += wait
            self.busy_s += max(0.0, now - self._step_start - data - wait)
        self._data = self._wait = 0.0
        self._step_start = now
        return True

    def loaded(self, steps):
        """The state of an optimizer with this number of steps was loaded."""
        self.earlier = max(0, steps - self.step)

    def total_steps(self):
        return self.earlier + self.step

    def checkpointed(self):
        now = self._clock()
        self.checkpoints += 1
        self.checkpoint_every_s = now - self._checkpoint_at
        self._checkpoint_at = now

    # Read by the reports.

    def next_checkpoint_in_s(self):
        """Expected time until the next save, by the last interval; None if there was no save."""
        if self.checkpoints == 0:
            return None
        return max(0.0, self._checkpoint_at + self.checkpoint_every_s - self._clock())

    def progress_line(self):
        """The progress of the whole job; one rank sends it."""
        at, step = self._reported
        now = self._clock()
        words = ["progress"]
        if self.epoch > 0:
            words.append(f"epoch={self.epoch}")
        if self.epochs > 0:
            words.append(f"epochs={self.epochs}")
        words.append(f"step={self.total_steps()}")
        if self.epochs > 0 and self.steps_in_epoch > 0:
            words.append(f"steps={self.epochs * self.steps_in_epoch}")
        if self.batch_size > 0 and now > at and self.step > step > 0:
            samples = (self.step - step) * self.batch_size * self.ranks
            self.samples_per_s = samples / (now - at)
            words.append(f"samples_per_s={self.samples_per_s:.6g}")
        self._reported = (now, self.step)
        return " ".join(words)

    def rank_line(self):
        """The times of this rank: sums since the first step."""
        return (
            f"rank rank={self.rank} ranks={self.ranks} steps={self.step} busy_s={self.busy_s:.6f} "
            f"wait_s={self.wait_s:.6f} data_s={self.data_s:.6f}"
        )
