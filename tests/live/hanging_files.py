"""A file system in user space, for root, that stops answering when told to: it stands for a server of home folders that has
gone away. Needs /dev/fuse and the right to mount, and no library."""

import ctypes
import os
import select
import stat
import struct
import tempfile
import threading
import time

LIBC = ctypes.CDLL(None, use_errno=True)
DETACH = 2
LOOKUP, FORGET, GETATTR, OPEN, READ, RELEASE, FLUSH, INIT = 1, 2, 3, 14, 15, 18, 25, 26
OPENDIR, RELEASEDIR, ACCESS, INTERRUPT, BATCH_FORGET = 27, 29, 34, 36, 42
NO_REPLY = (FORGET, INTERRUPT, BATCH_FORGET)
ENOENT, ENOSYS = 2, 38
ROOT = 1


class CannotMount(Exception):
    pass


class HangingFiles:
    """The files `files` (name: bytes) of root at `path`. It answers until hang()."""

    def __init__(self, files):
        self.path = tempfile.mkdtemp(prefix="goban-hanging-")
        self.files = [(name.encode(), content) for name, content in files.items()]
        self.lock = threading.Lock()  # held from the reading of a request to its reply
        self.answers = True
        self.swallows = False
        self.error = 0
        self.stopping = False
        try:
            self.device = os.open("/dev/fuse", os.O_RDWR)
        except OSError as error:
            os.rmdir(self.path)
            raise CannotMount(str(error)) from error
        options = f"fd={self.device},rootmode=40755,user_id=0,group_id=0,allow_other"
        if LIBC.mount(b"goban", self.path.encode(), b"fuse", 0, options.encode()) != 0:
            os.close(self.device)
            os.rmdir(self.path)
            raise CannotMount(os.strerror(ctypes.get_errno()))
        self.thread = threading.Thread(target=self._serve)
        self.thread.start()

    def hang(self, killable=True):
        """Processes that use it wait. Those that wait for the reply to a request that was read cannot be killed."""
        with self.lock:
            self.answers, self.swallows = False, not killable

    def answer(self):
        with self.lock:
            self.answers, self.swallows, self.error = True, False, 0

    def fail(self, error):
        """Whoever uses it gets this error, as every file system in user space can say."""
        with self.lock:
            self.answers, self.swallows, self.error = True, False, error

    def close(self):
        """All that waits gets an error."""
        self.stopping = True
        self.thread.join()
        os.close(self.device)
        LIBC.umount2(self.path.encode(), DETACH)
        os.rmdir(self.path)

    def _serve(self):
        while not self.stopping:
            with self.lock:
                if self.answers or self.swallows:
                    self._serve_one()
            time.sleep(0.0005)

    def _serve_one(self):
        if not select.select([self.device], [], [], 0.01)[0]:
            return
        try:
            request = os.read(self.device, 1 << 20)
        except OSError:  # it was interrupted meanwhile
            return
        opcode, unique, node = struct.unpack_from("<4xIQQ", request)
        if opcode in NO_REPLY or not self.answers:
            return
        error, reply = (self.error, b"") if self.error else self._answer(opcode, node, request[40:])
        try:
            os.write(self.device, struct.pack("<IiQ", 16 + len(reply), -error, unique) + reply)
        except OSError:
            pass

    def _attributes(self, node):
        mode, size = (stat.S_IFDIR | 0o755, 0) if node == ROOT else (stat.S_IFREG | 0o755, len(self.files[node - 2][1]))
        return struct.pack("<6Q10I", node, size, 1, 0, 0, 0, 0, 0, 0, mode, 1, 0, 0, 0, 4096, 0)

    def _answer(self, opcode, node, body):
        if opcode == INIT:
            return 0, struct.pack("<4I2H2I2H8I", 7, 31, 0, 0, 0, 0, 1 << 16, 1, 0, 0, *([0] * 8))
        if opcode == LOOKUP:
            names = [name for name, _ in self.files]
            name = body.rstrip(b"\0")
            if name not in names:
                return ENOENT, b""
            found = names.index(name) + 2
            return 0, struct.pack("<4Q2I", found, 0, 0, 0, 0, 0) + self._attributes(found)
        if opcode == GETATTR:
            return 0, struct.pack("<Q2I", 0, 0, 0) + self._attributes(node)
        if opcode in (OPEN, OPENDIR):
            return 0, struct.pack("<Q2I", 0, 1, 0)  # direct I/O: every read is a request
        if opcode == READ:
            offset, size = struct.unpack_from("<8xQI", body)
            return 0, self.files[node - 2][1][offset:offset + size]
        if opcode in (RELEASE, RELEASEDIR, FLUSH, ACCESS):
            return 0, b""
        return ENOSYS, b""
