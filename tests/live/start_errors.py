"""If `goban serve` cannot start, it prints one line that names the file or address, the cause and the remedy,
exits with code 1 (usage error 2, damaged data 3), and loses nothing: the next start has all jobs.

    start_errors.py GOBAN
"""

import contextlib
import os
import signal
import socket
import subprocess
import sys

from live_daemon import Daemon, expect


def refused(daemon, *words, state=None, says, code=1, limit_s=120):
    """A start that must fail with a message that contains all of these."""
    command = [daemon.goban, "serve", "--virtual-gpus", "2", "--state", state or daemon.state, *words]
    run = subprocess.run(command, text=True, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                         stderr=subprocess.PIPE, timeout=limit_s)
    expect(run.returncode == code, f"{says}: exit code {run.returncode}: {run.stderr}")
    for word in says:
        expect(word in run.stderr, f"{word!r} in {run.stderr!r}")
    expect("terminate" not in run.stderr and run.stdout == "", f"one message: {run.stdout} {run.stderr}")
    return run.stderr


def jobs(daemon):
    run = daemon.goban_run("queue", "--json")
    expect(run.returncode == 0, run.stderr)
    return run.stdout.count('"job":')



@contextlib.contextmanager
def mounted(folder, *options):
    """Mounts a file system at the folder; None where this is not permitted."""
    os.makedirs(folder, exist_ok=True)
    if subprocess.run(["mount", *options, folder], stdout=subprocess.DEVNULL,
                      stderr=subprocess.DEVNULL).returncode != 0:
        yield False
        return
    try:
        yield True
    finally:
        subprocess.run(["umount", "-l", folder], check=True)


def folders(daemon):
    a_file = os.path.join(daemon.folder, "file")
    open(a_file, "w").close()
    refused(daemon, state=a_file, says=[a_file, "--state"])
    refused(daemon, state=os.path.join(a_file, "below"), says=[a_file, "--state"])
    missing = os.path.join(daemon.folder, "no.toml")
    refused(daemon, "--config", missing, says=[missing])
    wrong = os.path.join(daemon.folder, "wrong.toml")
    with open(wrong, "w") as out:
        out.write("polcy = 'goban'\n")
    refused(daemon, "--config", wrong, says=[wrong + ":1", "polcy"], code=3)
    refused(daemon, "--policy", "nonsense", says=["nonsense"], code=2)


def read_only(daemon):
    """The state folder itself becomes read-only, with a journal in it."""
    with mounted(daemon.state, "--bind", daemon.state) as done:
        if not done:
            return "not tried: this user may not mount"
        subprocess.run(["mount", "-o", "remount,bind,ro", daemon.state], check=True)
        refused(daemon, says=[daemon.state, "ead-only"])
    return "tried"


def full_disk(daemon):
    """A disk that is full at the start, then while it runs."""
    folder = os.path.join(daemon.folder, "small")
    with mounted(folder, "-t", "tmpfs", "-o", "size=8m", "tmpfs") as done:
        if not done:
            return "not tried: this user may not mount"
        state = os.path.join(folder, "state")
        filler = os.path.join(folder, "filler")

        def fill():
            with open(filler, "wb", buffering=0) as out, contextlib.suppress(OSError):
                while True:
                    out.write(b"\0" * 4096)

        fill()
        refused(daemon, state=state, says=[state, "space"])
        os.remove(filler)
        with Daemon(daemon.goban, own_log=True) as small:
            small.stop()
            small.state = state
            small.environment["GOBAN_STATE"] = state
            small.start()
            expect(small.goban_run("submit", "--hold", "--wrap", "true").returncode == 0, "there is free space")
            fill()
            full = small.goban_run("submit", "--hold", "--wrap", "true")
            expect(full.returncode == 1 and "disk" in full.stderr, f"{full.returncode} {full.stderr}")
            expect(jobs(small) == 1, "existing jobs are still there")
            small.stop(signal.SIGKILL)
            os.remove(filler)
            small.start()
            expect(jobs(small) == 1, "after a crash, with free space")
            expect(small.goban_run("submit", "--hold", "--wrap", "true").returncode == 0, "free space again")
            expect(jobs(small) == 2, "it continues")
    return "tried"


def taken(daemon):
    """The folder or the port is in use by another daemon."""
    daemon.start()
    refused(daemon, says=[daemon.state, "another goban", "stop that process"])
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        address = f"127.0.0.1:{other.getsockname()[1]}"
        state = os.path.join(daemon.folder, "second")
        refused(daemon, "--listen", address, state=state, says=[str(other.getsockname()[1]), "in use"])
    refused(daemon, "--listen", "0.0.0.0:0", state=state, says=["0.0.0.0:0", "unencrypted"], code=2)
    refused(daemon, "--listen", "nowhere", state=state, says=["nowhere"], code=2)
    expect(jobs(daemon) == 3, "the first one continues")
    daemon.stop()


def newest_journal(daemon):
    folder = os.path.join(daemon.state, "journal")
    names = sorted(name for name in os.listdir(folder) if name.startswith("journal-") and name.endswith(".log"))
    return os.path.join(folder, names[-1])


def corrupt(daemon):
    """A torn tail is truncated, with a note; damage before it prevents the start."""
    daemon.start()
    expect(daemon.goban_run("submit", "--hold", "--wrap", "true").returncode == 0, "a fourth job")
    expect(daemon.goban_run("submit", "--hold", "--wrap", "true").returncode == 0, "a fifth job")
    daemon.stop(signal.SIGKILL)
    path = newest_journal(daemon)
    with open(path, "ab") as journal:
        journal.write(b'deadbeef 77 99.0 {"submi')
    daemon.start()
    expect(jobs(daemon) == 5, "no confirmed job is lost")
    expect("journal" in open(daemon.log).read(), "it logs this")
    expect(daemon.goban_run("submit", "--hold", "--wrap", "true").returncode == 0, "a sixth job")
    expect(daemon.goban_run("submit", "--hold", "--wrap", "true").returncode == 0, "a seventh job")
    daemon.stop(signal.SIGKILL)

    path = newest_journal(daemon)
    whole = open(path, "rb").read()
    at = whole.index(b'"submit"')
    with open(path, "wb") as journal:
        journal.write(whole[:at] + b"X" + whole[at + 1:])
    before = {name: os.stat(os.path.join(daemon.state, "journal", name)).st_size
              for name in os.listdir(os.path.join(daemon.state, "journal"))}
    refused(daemon, says=[os.path.basename(path), "byte", "nothing was changed"], code=3)
    after = {name: os.stat(os.path.join(daemon.state, "journal", name)).st_size
             for name in os.listdir(os.path.join(daemon.state, "journal"))}
    expect(all(after.get(name) == size for name, size in before.items() if name != "epoch"), "nothing is changed")
    with open(path, "wb") as journal:
        journal.write(whole)
    daemon.start()
    expect(jobs(daemon) == 7, "with the original journal all jobs are there")


def main():
    with Daemon(sys.argv[1], own_log=True) as daemon:
        for _ in range(3):
            expect(daemon.goban_run("submit", "--hold", "--wrap", "true").returncode == 0, "a job")
        daemon.stop()
        folders(daemon)
        notes = {"read-only folder": read_only(daemon), "full disk": full_disk(daemon)}
        taken(daemon)
        corrupt(daemon)
        for what, how in notes.items():
            print(f"{what}: {how}")
    print("passed")


main()
