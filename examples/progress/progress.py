#!/usr/bin/env python3
"""A training loop that reports its progress to Goban, and stops on request.

usage: progress.py [STEPS]
"""

import os
import socket
import sys
import time


class Progress:
    """Writes lines to the socket in GOBAN_PROGRESS_SOCKET; does nothing without one."""

    def __init__(self):
        self.socket = None
        path = os.environ.get("GOBAN_PROGRESS_SOCKET")
        if path:
            self.socket = socket.socket(socket.AF_UNIX)
            self.socket.connect(path)
            self.socket.setblocking(False)
            self.say(f"goban-progress 1 job={os.environ.get('GOBAN_JOB_ID', '-')} pid={os.getpid()}")

    def say(self, line):
        try:
            if self.socket:
                self.socket.send(line.encode() + b"\n")
        except OSError:  # a slow or absent reader must not block the training
            pass

    def must_stop(self):
        try:
            return self.socket is not None and b"stop " in self.socket.recv(4096)
        except OSError:
            return False


steps = int(sys.argv[1]) if len(sys.argv) > 1 else 100
progress = Progress()
for step in range(1, steps + 1):
    time.sleep(0.05)  # one training step
    progress.say(f"progress epochs=4 step={step} steps={steps} loss={1 / step:.4g}")
    if progress.must_stop():
        progress.say(f"checkpoint step={step}")  # after writing it
        progress.say("end stopped")
        sys.exit(0)
progress.say("end done")
