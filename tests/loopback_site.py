"""What the real clusters of the tests have in common: programs of a cluster on loopback, in a folder and on ports of its own, so that
several stand side by side. Every process carries the folder in its environment: `down` finds and ends exactly these, also those of an
`up` that was killed.
"""

import contextlib
import fcntl
import os
import random
import shutil
import signal
import socket
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


class LoopbackSite:
    """`mark`: the name of the environment's variable. A site has up(), own_processes(), and its `contents`: what it makes in the folder."""

    contents = ()

    def __init__(self, mark, folder):
        self.mark = mark
        self.own_folder = folder is None
        self.folder = os.path.realpath(folder or tempfile.mkdtemp(prefix=mark.lower().replace("_", "-") + "-"))

    def __enter__(self):
        try:
            return self.up()
        except BaseException:
            self.show_logs()
            self.down()
            raise

    def __exit__(self, *_):
        self.down()

    def show_logs(self):
        """After a start that failed."""

    def path(self, name):
        return os.path.join(self.folder, name)

    def down(self):
        """Ends what runs here and removes the folder, if it is our own or empty otherwise."""
        for attempt in range(200):
            left = self.own_processes()
            if not left:
                break
            for process in left:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(process, signal.SIGKILL)
            time.sleep(0.005 if attempt < 20 else 0.05)
        else:
            raise SystemExit(f"processes of {self.folder} do not end: {sorted(left)}")
        for child in self.started():
            child.wait()
        for name in self.contents:
            with contextlib.suppress(OSError):
                os.unlink(self.path(name))
            shutil.rmtree(self.path(name), ignore_errors=True)
        if self.own_folder:
            shutil.rmtree(self.folder, ignore_errors=True)
        else:
            with contextlib.suppress(OSError):
                os.rmdir(self.folder)

    @contextlib.contextmanager
    def ports_of(self, count):
        """Free ports. Inside the block nobody else chooses any: listen on them there."""
        os.makedirs("/tmp/goban-sites", exist_ok=True)
        with open("/tmp/goban-sites/ports", "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield free_ports(count)


def processes():
    """Process id -> parent, environment. Of every process that we may read."""
    found = {}
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            with contextlib.suppress(OSError):
                with open(f"/proc/{entry}/environ", "rb") as environ:
                    variables = environ.read().split(b"\0")
                with open(f"/proc/{entry}/stat", "rb") as stat:
                    after = stat.read().rpartition(b")")[2].split()
                if after[0] not in (b"Z", b"X"):
                    found[int(entry)] = int(after[1]), variables
    return found


def free_ports(count):
    """The first of this many neighbouring ports below those that the system hands out."""
    for _ in range(1000):
        first = random.randrange(15000, 32000 - count)
        sockets = []
        try:
            for port in range(first, first + count):
                sockets.append(socket.socket())
                sockets[-1].setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                sockets[-1].bind(("", port))
            return list(range(first, first + count))
        except OSError:
            continue
        finally:
            for one in sockets:
                one.close()
    raise SystemExit("no free ports")


def documented_blocks(page, heading):
    """The commands of each block below a heading of a page of docs/."""
    with open(os.path.join(ROOT, "docs", page)) as file:
        section = file.read().split(f"\n## {heading}\n")[1].split("\n## ")[0]
    return [[line for line in block.splitlines() if line and not line.startswith("#")] for block in section.split("```\n")[1::2]]


def documented(page, heading):
    """Those of the first block."""
    return documented_blocks(page, heading)[0]
