#!/usr/bin/env python3
"""Tests data_sets.py against a local HTTP server with injected faults. Needs no network."""

import gzip
import hashlib
import io
import json
import os
import signal
import subprocess
import sys
import tarfile
import tempfile
import threading
import time
import unittest
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import data_sets

PROGRAM = Path(__file__).with_name("data_sets.py")
CONTENT = b"job,gpus\n" + b"".join(b"%d,%d\n" % (i, i % 8) for i in range(20000))


def archive(name, content):
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as tar:
        info = tarfile.TarInfo(name)
        info.size = len(content)
        tar.addfile(info, io.BytesIO(content))
    return buffer.getvalue()


def heed_interrupts():
    """Restores SIGINT, which background jobs of a shell ignore."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


class Server(ThreadingHTTPServer):
    """Responds by the first part of the path; `asked`: the requests so far, (path, range)."""

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Handler)
        self.asked = []
        self.end = threading.Event()
        threading.Thread(target=self.serve_forever, args=[0.02], daemon=True).start()

    def address(self, path):
        return f"http://127.0.0.1:{self.server_address[1]}/{path}"


class Handler(BaseHTTPRequestHandler):
    def log_message(self, *_):
        pass

    def send(self, body, status=200, length=None, **headers):
        self.send_response(status)
        self.send_header("Content-Length", str(len(body) if length is None else length))
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self):  # pylint: disable=invalid-name
        how = self.path.split("/")[1]
        asked = self.headers.get("Range")
        first = not any(path == self.path for path, _ in self.server.asked)
        self.server.asked.append((self.path, asked))
        begin = int(asked.removeprefix("bytes=").rstrip("-")) if asked else 0
        if how == "good":
            self.send(CONTENT)
        elif how == "wrong":
            self.send(CONTENT.replace(b"7", b"8"))
        elif how == "gz":
            self.send(gzip.compress(CONTENT))
        elif how == "tar":
            self.send(archive("folder/jobs.csv", CONTENT))
        elif how == "moved":
            self.send(b"", 302, Location="/good")
        elif how == "ring":
            self.send(b"", 302, Location="/ring")
        elif how == "busy" and first:
            self.send(b"", 503)
        elif how in ("cut", "busy"):  # half of it, each time; the remainder on request
            rest = CONTENT[begin:]
            self.send(rest if begin else rest[:60000], 206 if begin else 200, len(rest))
        elif how == "always-cut":
            self.send(CONTENT[:1000], length=len(CONTENT))
        elif how == "stalled":
            self.send(CONTENT[begin:begin + 1000], 206 if begin else 200, len(CONTENT) - begin)
            self.wfile.flush()
            self.server.end.wait(30)
        elif how == "short-range" and begin:
            self.send(b"", 416)
        elif how == "short-range":
            self.send(CONTENT)
        else:
            self.send(b"gone", 404)


class DataSetsTest(unittest.TestCase):
    def setUp(self):
        self.server = Server()
        self.folder = tempfile.TemporaryDirectory()
        self.to = Path(self.folder.name) / "data"

    def tearDown(self):
        self.server.end.set()
        self.server.shutdown()
        self.server.server_close()
        self.folder.cleanup()

    def table(self, *files):
        """Writes a table of one set; files are (path, addresses below the server, member)."""
        text = '[[set]]\nname = "x"\nabout = "X"\nsource = "s"\nlicence = "MIT"\nused_by = "u"\n'
        for path, addresses, *member in files:
            address = ", ".join(f'"{self.server.address(each)}"' for each in addresses)
            text += (f'[[set.file]]\npath = "{path}"\naddress = [{address}]\n'
                     f'bytes = {len(CONTENT)}\nsha256 = "{hashlib.sha256(CONTENT).hexdigest()}"\n')
            text += "".join(f'member = "{each}"\n' for each in member)
        text += '[[unpublished]]\npath = "y"\nwhy = "nobody has it"\ninstead = "nothing"\n'
        file = Path(self.folder.name) / "table.toml"
        file.write_text(text, encoding="utf-8")
        return file

    def run_data(self, table, *arguments):
        return subprocess.run(
            [sys.executable, PROGRAM, "--table", table, "--to", self.to, "--timeout", "0.5",
             *arguments], capture_output=True, text=True, check=False,
            env={**os.environ, "no_proxy": "127.0.0.1"})

    def assert_fetched(self, done, path="x/jobs.csv"):
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        data = (self.to / path).read_bytes()
        self.assertEqual(gzip.decompress(data) if path.endswith(".gz") else data, CONTENT)
        self.assertEqual([each.name for each in self.to.rglob("*.half")], [])
        self.assertEqual(list((self.to / ".parts").glob("*")), [])

    def assert_failed(self, done, *texts):
        self.assertEqual(done.returncode, 1, done.stdout)
        for text in ("x/jobs.csv: ", "remedy: ", *texts):
            self.assertIn(text, done.stderr)
        self.assertFalse((self.to / "x/jobs.csv").exists())

    def test_a_good_file_is_fetched_once(self):
        table = self.table(("x/jobs.csv", ["good"]))
        first = self.run_data(table)
        self.assert_fetched(first)
        size = f"{len(CONTENT) / 1e6:.1f} MB unpacked"
        self.assertTrue(first.stdout.startswith(f"to fetch: 1 files, {size}, into {self.to}: x\n"), first.stdout)
        again = self.run_data(table)
        self.assert_fetched(again)
        self.assertNotIn("to fetch", again.stdout)
        self.assertIn("1 files were present, 0 fetched, 0 failed", again.stdout)
        self.assertEqual(len(self.server.asked), 1)

    def test_files_are_packed_and_unpacked_as_their_names_say(self):
        for path, address, *member in (("x/jobs.csv.gz", "good"), ("x/jobs.csv", "gz/jobs.csv.gz"),
                                       ("x/b.csv.gz", "gz/b.csv.gz"),
                                       ("x/c.csv", "tar/c.tar.gz", "jobs.csv"),
                                       ("x/d.csv.gz", "tar/d.tar.gz", "jobs.csv")):
            with self.subTest(path):
                self.assert_fetched(self.run_data(self.table((path, [address], *member))), path)

    def test_a_member_that_is_not_in_the_archive(self):
        done = self.run_data(self.table(("x/jobs.csv", ["tar/c.tar.gz"], "no.csv")))
        self.assert_failed(done, "no.csv is not in the archive; it contains folder/jobs.csv")

    def test_a_wrong_checksum_leaves_nothing(self):
        done = self.run_data(self.table(("x/jobs.csv", ["wrong"])))
        self.assert_failed(done, "wrong checksum", f"address: {self.server.address('wrong')}",
                           f"expected: {hashlib.sha256(CONTENT).hexdigest()}", "found: ")
        self.assertEqual(list((self.to / ".parts").iterdir()), [])

    def test_what_is_no_archive(self):
        done = self.run_data(self.table(("x/jobs.csv", ["good/x.gz"])))
        self.assert_failed(done, "cannot unpack: Not a gzipped file")

    def test_a_truncated_file_is_resumed(self):
        self.assert_fetched(self.run_data(self.table(("x/jobs.csv", ["cut"]))))
        self.assertEqual(self.server.asked, [("/cut", None), ("/cut", "bytes=60000-")])

    def test_a_file_that_stays_truncated(self):
        done = self.run_data(self.table(("x/jobs.csv", ["always-cut"])))
        self.assert_failed(done, "not reached after 3 attempts: the connection closed after 1000 of")

    def test_a_stalled_server_is_given_up_and_resumed_by_the_next_run(self):
        table = self.table(("x/jobs.csv", ["stalled"]))
        self.assert_failed(self.run_data(table), "not reached after 3 attempts: no data for 0.5 s")
        self.assertEqual([asked for _, asked in self.server.asked],
                         [None, "bytes=1000-", "bytes=2000-"])
        self.run_data(table)
        self.assertEqual(self.server.asked[3], ("/stalled", "bytes=3000-"))

    def test_an_interrupted_run_says_how_to_go_on(self):
        with subprocess.Popen([sys.executable, PROGRAM, "--table",
                               self.table(("x/jobs.csv", ["stalled"])), "--to", self.to],
                              stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
                              preexec_fn=heed_interrupts) as run:
            while not list(self.to.glob(".parts/*")) and run.poll() is None:
                time.sleep(0.01)
            second = self.run_data(self.table(("x/jobs.csv", ["good"])))
            run.send_signal(signal.SIGINT)
            self.assertEqual(run.communicate()[1], "data: interrupted; run again to resume\n")
        self.assertEqual(run.returncode, 130)
        self.assertEqual(second.returncode, 1)
        self.assertIn("another ./dev data is fetching into", second.stderr)

    def test_a_busy_server_is_asked_again(self):
        self.assert_fetched(self.run_data(self.table(("x/jobs.csv", ["busy"]))))

    def test_a_rest_of_another_file_is_fetched_anew(self):
        table = self.table(("x/jobs.csv", ["short-range"]), ("x/b.csv", ["cut"]))
        for each, size in (("short-range", 10 ** 6), ("cut", 70000)):
            name = hashlib.sha256(self.server.address(each).encode()).hexdigest()[:16]
            (self.to / ".parts").mkdir(parents=True, exist_ok=True)
            (self.to / ".parts" / name).write_bytes(b"x" * size)
        self.assert_fetched(self.run_data(table))

    def test_a_missing_file_does_not_stop_the_others(self):
        done = self.run_data(self.table(("x/jobs.csv", ["gone"]), ("x/b.csv", ["good"])))
        self.assert_failed(done, "the server responded with 404", f"address: {self.server.address('gone')}")
        self.assertEqual((self.to / "x/b.csv").read_bytes(), CONTENT)
        self.assertIn("0 files were present, 1 fetched, 1 failed", done.stdout)
        self.assertEqual(self.server.asked.count(("/gone", None)), 1)

    def test_redirects(self):
        self.assert_fetched(self.run_data(self.table(("x/jobs.csv", ["moved"]))))
        (self.to / "x/jobs.csv").unlink()
        self.assert_failed(self.run_data(self.table(("x/jobs.csv", ["ring"]))), "302")

    def test_the_next_address_is_tried(self):
        done = self.run_data(self.table(("x/jobs.csv", ["gone", "good"])))
        self.assertEqual(done.returncode, 0)
        self.assertIn("trying the next address", done.stderr)
        self.assertEqual((self.to / "x/jobs.csv").read_bytes(), CONTENT)

    def test_a_server_that_is_not_there(self):
        address = self.server.address("good")
        table = self.table(("x/jobs.csv", ["good"]))
        self.server.shutdown()
        self.server.server_close()
        self.assert_failed(self.run_data(table), "Connection refused", f"address: {address}")

    def test_mirrors(self):
        table = self.table(("gz/jobs.csv.gz", ["gone"]))
        self.assert_fetched(self.run_data(table, "--mirror", self.server.address("")),
                            "gz/jobs.csv.gz")
        copy = Path(self.folder.name) / "copy"
        self.to.rename(copy)
        done = self.run_data(table, "--mirror", copy)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual(gzip.decompress((self.to / "gz/jobs.csv.gz").read_bytes()), CONTENT)
        done = self.run_data(self.table(("x/jobs.csv", ["good"])), "--mirror", copy)
        self.assert_failed(done, "No such file or directory", f"address: {copy}/x/jobs.csv")

    def test_a_damaged_file_is_replaced(self):
        table = self.table(("x/jobs.csv.gz", ["good"]))
        self.run_data(table)
        (self.to / "x/jobs.csv.gz").write_bytes(b"\x1f\x8b")
        self.assertIn("0 of 1 files present", self.run_data(table, "--list").stdout)
        self.assert_fetched(self.run_data(table), "x/jobs.csv.gz")
        listed = self.run_data(table, "--list").stdout
        self.assertIn("1 of 1 files present", listed)
        self.assertIn("y: nobody has it\n    instead: nothing", listed)
        document = json.loads(self.run_data(table, "--list", "--json").stdout)
        self.assertEqual([file["present"] for file in document["sets"][0]["files"]], [True])
        self.assertEqual(document["unpublished"], [{"path": "y", "why": "nobody has it", "instead": "nothing"}])

    def test_usage(self):
        table = self.table(("x/jobs.csv", ["good"]))
        unknown = self.run_data(table, "x", "z")
        self.assertEqual((unknown.returncode, unknown.stderr),
                         (2, "data: unknown data set z; known: x\n"))
        table.write_text("[[set]]\nname = 'x'\n", encoding="utf-8")
        broken = self.run_data(table)
        self.assertEqual(broken.returncode, 3)
        self.assertIn("x: missing 4 required positional arguments: 'about'", broken.stderr)
        outside = self.run_data(self.table(("../jobs.csv", ["good"])))
        self.assertEqual(outside.returncode, 3)
        self.assertIn("is outside the data folder", outside.stderr)

    def test_a_folder_that_cannot_be_made(self):
        self.to.write_text("a file", encoding="utf-8")
        done = self.run_data(self.table(("x/jobs.csv", ["good"])))
        self.assertEqual(done.returncode, 1)
        self.assertIn("File exists", done.stderr)


class TableTest(unittest.TestCase):
    def test_the_table_is_sound(self):
        sets, unpublished = data_sets.load()
        files = [file for each in sets for file in each.files]
        self.assertEqual(len({file.path for file in files}), len(files))
        self.assertEqual(len({each.name for each in sets}), len(sets))
        for file in files:
            with self.subTest(file.path):
                self.assertRegex(file.sha256, "^[0-9a-f]{64}$")
                self.assertGreater(file.bytes, 0)
                self.assertTrue(file.address)
                for address in file.address:
                    self.assertRegex(address, "^https://[^ ]+$")
                self.assertFalse(any(file.path.startswith(each.path) for each in unpublished))

    def test_find_prints_where_a_path_is_in_either_folder(self):
        with tempfile.TemporaryDirectory() as folder:
            fetched, shared = Path(folder) / "fetched", Path(folder) / "shared"
            (fetched / "pal/traces").mkdir(parents=True)
            (shared / "data/pal/reference").mkdir(parents=True)
            environment = {**os.environ, "GOBAN_DATA": str(fetched), "GOBAN_SHARED": str(shared)}
            for path, code, printed in (("pal/traces", 0, f"{fetched}/pal/traces\n"),
                                        ("pal/reference", 0, f"{shared}/data/pal/reference\n"),
                                        ("pal/nowhere", 1, "")):
                done = subprocess.run([sys.executable, PROGRAM, "--find", path], env=environment, text=True,
                                      capture_output=True, check=False)
                self.assertEqual((done.returncode, done.stdout), (code, printed))

    def test_advice(self):
        self.assertEqual(data_sets.advice("pal/traces/workload-1.csv"), "./dev data pal")
        self.assertEqual(data_sets.advice("pal/profiles/sim"), "./dev data pal")
        self.assertIn("not published", data_sets.advice("pal/reference/x.csv"))


if __name__ == "__main__":
    unittest.main()
