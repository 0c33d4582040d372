"""Two applications share one GPU: each ran alone before, they are co-located if both consented, they are
observed, and their mutual slowdown is in the history that operators export.

    shared_gpu.py GOBAN
"""

import json
import os
import sys

from live_daemon import Daemon, expect

POWER = """
[[node]]
name = "one"
gpus = 1
host_idle_w = 50
gpu_idle_w = 30
gpu_max_w = 300
gpu_dynamic_w = 200
"""

# Busy for a third of its time; epochs of a fifth of a second. `silent`: it does not report them.
TRAINING = """
import os, socket, sys, time
says = sys.argv[1] == "says"
stop = sys.argv[2]
out = socket.socket(socket.AF_UNIX)
out.connect(os.environ["GOBAN_PROGRESS_SOCKET"])
work, epoch = 0, 0
while not os.path.exists(stop):
    end = time.process_time() + 0.07
    while time.process_time() < end:
        work += 1
    time.sleep(0.14)
    epoch += 1
    if says:
        out.sendall(b"progress epoch=%d epochs=100000\\n" % epoch)
"""


def main():
    with Daemon(sys.argv[1], "", gpus=1) as daemon:
        power = os.path.join(daemon.folder, "power.toml")
        with open(power, "w") as out:
            out.write(POWER)
        with open(os.path.join(daemon.folder, "training.py"), "w") as out:
            out.write(TRAINING)
        daemon.stop()
        with open(daemon.config, "w") as out:
            out.write(f'policy = "eaco"\nenergy = "{power}"\n'
                      'sharing = ["live", "min_residence_s=0", "observe_max_s=20", "cool_down_s=0",'
                      ' "max_slowdown=100", "min_saving=-1"]\n')
        daemon.start()

        def job(number):
            return json.loads(daemon.goban_run("show", "--json", number).stdout)[0]

        def train(model, says, *options):
            stop = os.path.join(daemon.folder, f"stop-{len(started)}")
            words = ["--model", model] if model else ["--job-name", "quiet"]
            asked = daemon.goban_run(
                "submit", "--parsable", "--share", "--gpu-mem", "200M", *words, *options,
                "--wrap", f"exec python3 training.py {says} {stop}")
            expect(asked.returncode == 0, asked.stderr)
            started[asked.stdout.strip()] = stop
            return asked.stdout.strip()

        def end(number):
            open(started[number], "w").close()
            daemon.wait_for(f"the end of {number}", lambda: job(number)["state"] == "done")

        def runs(number):
            daemon.wait_for(f"the start of {number}", lambda: job(number)["state"] == "running")

        def epochs(number):
            return job(number).get("progress", {}).get("epoch", 0)

        started = {}
        for model in ["alexnet", "bert"]:
            first = train(model, "says")
            runs(first)
            daemon.wait_for("some epochs", lambda: epochs(first) >= 26, 120)
            end(first)
        refused = daemon.goban_run("colocation", "export")
        expect(refused.returncode == 0, refused.stderr)  # the daemon's own user is an operator
        for app in ["alexnet", "bert"]:
            expect(f",{app}," in refused.stdout, refused.stdout)
        resident = train("alexnet", "says")
        runs(resident)
        daemon.wait_for("its own pace", lambda: epochs(resident) >= 3, 120)
        joiner = train("bert", "says")
        runs(joiner)
        expect(job(joiner)["gpus"] == job(resident)["gpus"], "they share the one GPU")

        def measured():
            rows = daemon.goban_run("colocation", "export", "--out", "learned.csv")
            expect(rows.returncode == 0, rows.stderr)
            with open(os.path.join(daemon.folder, "learned.csv")) as file:
                return [row for row in file if "alexnet + bert" in row or "bert + alexnet" in row]

        row = daemon.wait_for("what they did to each other", measured, 120)[0]
        expect(all(float(part) > 0.3 for part in row.split(",")[2].split("+")), row)
        # The history survives a restart, and its file can be used in simulations.
        daemon.process.kill()
        daemon.process.wait()
        daemon.start()
        expect(measured() == [row], "the same row after a restart")
        told = daemon.goban_run("colocation", "predict", "learned.csv", "alexnet + bert",
                                "--gpu", "virtual", "--energy", power)
        expect(told.returncode == 0 and "predicted by: measured" in told.stdout, told.stdout + told.stderr)
        end(resident)
        end(joiner)


if __name__ == "__main__":
    main()
