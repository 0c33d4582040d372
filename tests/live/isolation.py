"""Jobs cannot open the GPUs of other jobs: /dev/full and /dev/zero stand for two GPUs. Without root, and for virtual GPUs,
the daemon says that they can. The cgroups of jobs lie in the tree that systemd delegates.

    isolation.py GOBAN     (needs root; 77 without it, or where no devices can be denied)
"""

import contextlib
import os
import signal
import subprocess
import sys
import tempfile

from live_daemon import Daemon, expect

OPENS = "for d in null full zero; do (: < /dev/$d) 2> /dev/null && echo $d; done; "
NOBODY = 65534
DEVICES = 'virtual_gpus = 2\nvirtual_devices = ["/dev/full", "/dev/zero"]\n'


def says(daemon, text):
    return text in open(daemon.log).read()


def opens(daemon, *words, uid=0):
    run = subprocess.run([daemon.goban, "run", *words, "--", "sh", "-c", OPENS + "cat /proc/self/cgroup"], env=daemon.environment,
                         cwd=daemon.folder, text=True, user=uid, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=60)
    expect(run.returncode == 0, run.stderr)
    lines = run.stdout.split()
    return [line for line in lines if ":" not in line], run.stdout


@contextlib.contextmanager
def unit(folder):
    """Cgroups as systemd makes them for goban.service and goban-jobs.service, with a process in the second."""
    slice_ = os.path.join(folder, f"goban-isolation-{os.getpid()}.slice")
    service, jobs = (os.path.join(slice_, name) for name in ("goban.service", "goban-jobs.service"))
    for each in service, jobs:
        os.makedirs(each)
        os.setxattr(each, "trusted.delegate", b"1")
    holder = subprocess.Popen(["sleep", "infinity"])
    join(jobs, holder.pid)
    try:
        yield service, jobs
    finally:
        holder.kill()
        holder.wait()
        for below in os.listdir(jobs):
            if os.path.isdir(os.path.join(jobs, below)):
                os.rmdir(os.path.join(jobs, below))
        for each in service, jobs, slice_:
            os.rmdir(each)


def join(cgroup, pid):
    with open(os.path.join(cgroup, "cgroup.procs"), "w") as out:
        out.write(str(pid))


def version_2():
    for line in open("/proc/self/mountinfo"):
        words = line.split()
        if "cgroup2" in words[words.index("-"):]:
            return words[4]
    return None


def in_unit(goban):
    mount = version_2()
    if mount is None or not os.access(mount, os.W_OK):
        print("not tested in a unit: no cgroups of version 2")
        return
    before = "".join(line.split("::", 1)[1].strip() for line in open("/proc/self/cgroup") if line.startswith("0::"))
    with unit(mount) as (service, jobs):
        join(service, os.getpid())  # and so the daemon
        with Daemon(goban, config=DEVICES, own_log=True) as daemon:
            join(mount + before, os.getpid())
            opened, text = opens(daemon, "--gpus", "1")
            expect(opened == ["null", "full"], text)
            expect("/goban-jobs.service/job-" in text, text)
            # A killed daemon's unit can be started again while its jobs run: its cgroup still takes processes.
            run = daemon.goban_run("submit", "--output", "/dev/null", "--wrap", "sleep 60")
            expect(run.returncode == 0, run.stderr)
            daemon.wait_for("its start", lambda: '"running"' in daemon.goban_run("queue", "--json").stdout)
            daemon.stop(signal.SIGKILL)
            join(service, os.getpid())
            daemon.start()
            join(mount + before, os.getpid())


def without_root(goban):
    """The daemon of another user says that it cannot."""
    with tempfile.TemporaryDirectory() as folder:
        os.chown(folder, NOBODY, NOBODY)
        os.chmod(folder, 0o700)
        config = os.path.join(folder, "goban.toml")
        with open(config, "w") as out:
            out.write(DEVICES)
        os.chmod(config, 0o644)
        process = subprocess.Popen([os.path.abspath(goban), "serve", "--state", os.path.join(folder, "state"), "--config", config],
                                   user=NOBODY, group=NOBODY, extra_groups=[], text=True, cwd="/", stdout=subprocess.PIPE,
                                   stderr=subprocess.STDOUT)
        said = ""
        for line in process.stdout:
            said += line
            if line.startswith("commands:"):
                break
        process.terminate()
        process.wait(60)
        expect("jobs can open the GPUs of other jobs: only root can deny devices" in said, said)


def main():
    goban = sys.argv[1]
    if os.geteuid() != 0:
        print("skipped: needs root")
        sys.exit(77)
    with Daemon(goban, own_log=True) as daemon:
        expect(says(daemon, "jobs can open the GPUs of other jobs: virtual GPUs"), open(daemon.log).read())
    config = DEVICES + '[service]\nsocket = "for-all.sock"\nsocket_access = "everybody"\n'
    daemon = Daemon(goban, config=config, own_log=True)
    daemon.environment["GOBAN_SOCKET"] = os.path.join(daemon.folder, "for-all.sock")
    os.chmod(daemon.folder, 0o777)  # also for the files of other users' jobs
    with daemon:
        if says(daemon, "jobs can open the GPUs of other jobs"):
            print("skipped:", open(daemon.log).read())
            sys.exit(77)
        expect(says(daemon, "jobs can open their own GPUs only"), open(daemon.log).read())
        expect(opens(daemon, "--gpus", "1")[0] == ["null", "full"], "one GPU")
        expect(opens(daemon, "--gpus", "2")[0] == ["null", "full", "zero"], "both")
        expect(opens(daemon, "--gpus", "0")[0] == ["null"], "none")
        opened, text = opens(daemon, "--gpus", "1", uid=NOBODY)
        expect(opened == ["null", "full"], text)
    without_root(goban)
    in_unit(goban)
    print("passed")


main()
