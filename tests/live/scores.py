"""The daemon measures its idle GPUs automatically, reads rank times, and drops scores of another driver.

    scores.py GOBAN FAKE_NVML FAKE_CUDA

The GPUs come from stand-ins for the driver's libraries: GPU-a takes twice as long as GPU-b.
"""

import json
import os
import signal
import socket
import sys

from live_daemon import Daemon, expect

RANK = """
import os, socket, time
said = socket.socket(socket.AF_UNIX)
said.connect(os.environ["GOBAN_PROGRESS_SOCKET"])
said.sendall(b"goban-progress 1 job=- pid=1\\nrank rank=0 ranks=1 steps=100 busy_s=5.0 wait_s=0.1\\n")
time.sleep(5.2)
"""


def get(daemon, path):
    with socket.socket(socket.AF_UNIX) as client:
        client.connect(os.path.join(daemon.state, "goban.sock"))
        client.sendall(f"GET {path} HTTP/1.1\r\nHost: goban\r\nConnection: close\r\n\r\n".encode())
        answer = b""
        while part := client.recv(65536):
            answer += part
    return answer.split(b"\r\n\r\n", 1)[1].decode()


def scores_of_nodes(daemon):
    return json.loads(daemon.goban_run("nodes", "--json").stdout)[0]["scores"]


def slow_scores(daemon):
    """The scores of the slow GPU, by class."""
    found = get(daemon, "/metrics").splitlines()
    return [float(line.split()[-1]) for line in found if line.startswith("goban_gpu_score{") and 'gpu="1"' in line]


def main():
    os.environ.update(
        GOBAN_NVML=sys.argv[2], GOBAN_CUDA=sys.argv[3], FAKE_NVML_IDLE="1", FAKE_CUDA_SLOW="GPU-a")
    daemon = Daemon(sys.argv[1], gpus=0)
    os.mkdir(daemon.state, 0o700)
    with open(os.path.join(daemon.state, "scores.profile.json"), "w") as book:
        json.dump({"version": 1, "since_unix_s": 1, "spent_s": 0.0, "gpus": []}, book)
    with daemon:
        daemon.wait_for("two measurements", lambda: scores_of_nodes(daemon)["measured"] == 2, 240)
        daemon.wait_for("the straggler", lambda: min(slow_scores(daemon)) > 1.3, 60)
        expect(len(slow_scores(daemon)) == 3, "classes A, B and C")
        page = get(daemon, "/metrics")
        expect('goban_gpu_score_expired{' in page and "goban_measurements_total 2" in page, page)

        ran = daemon.goban_run("run", "--gpus", "1", "-J", "rank", "--", sys.executable, "-c", RANK)
        expect(ran.returncode == 0, ran.stderr)
        learned = os.path.join(daemon.state, "scores.learned.json")

        def heard():
            with open(learned) as text:
                return json.load(text)["applications"]

        application = daemon.wait_for("what its rank said", heard, 120)[0]
        expect(application["user"] == os.getuid() and len(application["log_unit"]) == 1, application)

        # Scores survive a restart; nothing is measured again.
        daemon.stop(signal.SIGKILL)
        with open(daemon.config, "w") as config:
            config.write('refresh = "none"\n')
        daemon.start()
        expect(min(slow_scores(daemon)) > 1.3, "scores are restored from the journal")
        expect(scores_of_nodes(daemon) == {"expired": 0, "suspect": 0, "measured": 2}, "unchanged")

        daemon.stop(signal.SIGTERM)
        os.environ["FAKE_NVML_DRIVER"] = "560.2"
        daemon.start()
        daemon.wait_for("both to expire", lambda: scores_of_nodes(daemon)["expired"] == 2, 120)
        daemon.wait_for("unknown scores", lambda: set(slow_scores(daemon)) == {1.0}, 60)
        expect("2 expired" in daemon.goban_run("nodes").stdout, daemon.goban_run("nodes").stdout)
        expect(get(daemon, "/metrics").count("\ngoban_gpu_score_expired{") == 2, "one per GPU")
    print("passed")


main()
