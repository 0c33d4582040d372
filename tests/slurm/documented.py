"""The commands of docs/slurm.md as they stand there: three to see a cluster, ten to the first job that PAL places, and back.

    documented.py GOBAN     (needs root and Slurm; 77 without them)
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "live"))

from live_daemon import expect
from slurm_site import SlurmSite, skip_where_missing
from loopback_site import documented_blocks


class Shell:
    def __init__(self, site, goban, folder):
        self.folder, self.daemon = folder, None
        self.environment = {**site.environment, "GOBAN_STATE": os.path.join(folder, "state"),
                            "PATH": os.path.dirname(goban) + ":" + site.environment["PATH"]}
        self.environment.pop("GOBAN_SERVER", None)

    def __call__(self, line):
        """Runs a line until it succeeds, as a reader does who waits for the daemon's start."""
        if line.endswith("&"):
            self.end()
            with open(os.path.join(self.folder, "log"), "a") as log:
                self.daemon = subprocess.Popen(line.rstrip("& ").split(), cwd=self.folder, env=self.environment, stdout=log, stderr=log)
            return ""
        for _ in range(20):
            ran = subprocess.run(["bash", "-c", line], cwd=self.folder, env=self.environment, text=True, timeout=60,
                                 stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            if ran.returncode == 0 or "--check" in line:
                return ran.stdout
            time.sleep(0.5)
        raise SystemExit(f"{line}: {ran.stdout} {ran.stderr} {open(os.path.join(self.folder, 'log')).read()}")

    def end(self):
        if self.daemon:
            self.daemon.terminate()
            self.daemon.wait(30)
        self.daemon = None


def main():
    skip_where_missing()
    goban = os.path.abspath(sys.argv[1])
    folder = tempfile.mkdtemp(prefix="goban-documented-")
    look, (prepare, first) = documented_blocks("slurm.md", "Observe first")[0], documented_blocks("slurm.md", "Set up")[:2]
    back = documented_blocks("slurm.md", "Return to Slurm")[0]
    expect((len(look), len(look) + len(prepare) + len(first)) == (3, 10), "three commands, and ten")
    with SlurmSite(typed=False) as site:
        shell = Shell(site, goban, folder)
        try:
            running = site.sbatch("--gres=gpu:3")
            site.wait_for("a job of Slurm", lambda: site.state(running) == "RUNNING")
            for line in look:
                said = shell(line)
            site.wait_for("the cluster", lambda: f"@{running} " in shell(look[-1]))
            said = shell(look[-1])
            expect(all(f"n{i} " in said for i in range(1, 5)), said)
            expect(site.job(running)["AdminComment"] == "(null)" if "AdminComment" in site.job(running) else True, "nothing is written")
            for line in prepare + first:
                said = shell(line)
            number = site.wait_for("its number", lambda: [n for n in site.run("squeue", "-h", "-o", "%A").stdout.split() if n != running])[0]
            site.wait_for("the first job", lambda: site.state(number) == "RUNNING")
            expect(site.job(number)["AdminComment"].startswith("goban:"), "started by Goban")
            site.wait_for("its GPUs", lambda: re.search(rf"@{number} .*running +2 .*n\d\[", shell(first[-1])))
            shell.end()
            for line in back:
                shell(line)
            new = site.sbatch("--gres=gpu:1")
            site.wait_for("a job that Slurm starts", lambda: site.state(new) == "RUNNING")
        finally:
            shell.end()
            shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
