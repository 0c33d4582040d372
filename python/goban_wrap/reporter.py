"""Progress lines to the scheduler (docs/progress.md), and its stop requests.

Lines are sent without blocking: a slow or absent reader loses them, and the training continues.
A thread waits for messages of the scheduler.
"""

import os
import socket
import threading
import time


class Reporter:
    def __init__(self, path, on_stop):
        """`on_stop(left_s)` is called once, in a separate thread. Raises OSError."""
        self._on_stop = on_stop
        self._lock = threading.Lock()
        self._socket = socket.socket(socket.AF_UNIX)
        self._socket.connect(path)
        self.say(f"goban-progress 1 job={os.environ.get('GOBAN_JOB_ID', '-')} pid={os.getpid()}")
        threading.Thread(target=self._listen, name="goban-wrap", daemon=True).start()

    def say(self, line):
        """A line must never be sent in part, so the socket takes all of it or none."""
        try:
            with self._lock:
                self._socket.send(line.encode("ascii", "replace") + b"\n", socket.MSG_DONTWAIT)
        except OSError:
            pass

    def flush(self, limit_s=1.0):
        """Waits until the reader has taken everything; for lines that must not be lost."""
        end = time.monotonic() + limit_s
        while time.monotonic() < end and self._unread():
            time.sleep(0.005)

    def _unread(self):
        try:
            import array
            import fcntl
            import termios

            left = array.array("i", [0])
            fcntl.ioctl(self._socket.fileno(), termios.TIOCOUTQ, left)
            return left[0] > 0
        except OSError:
            return False

    def _listen(self):
        text = b""
        while True:
            try:
                part = self._socket.recv(4096)
            except OSError:
                return
            if not part:
                return
            text += part
            *lines, text = text.split(b"\n")
            for line in lines:
                if line.startswith(b"stop"):
                    self._on_stop(_left_s(line.decode("ascii", "replace")))
                    return


def _left_s(line):
    for word in line.split():
        if word.startswith("left_s="):
            try:
                return float(word[7:])
            except ValueError:
                break
    return 0.0
