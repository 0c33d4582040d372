"""The first run of an application makes its job profile, and the second one is submitted with it. The
profile contains the reported steps and waits for input, and the rank times can be shown.

    profiles.py GOBAN
"""

import json
import os
import sys

from live_daemon import Daemon, expect


# Prepares for 4 s, then reports for 4 s that it makes 50 steps per second and waits for input for a
# quarter of its time. Each line is computed from the clock, so no real pace is needed.
TRAINING = """
import os, socket, time
said = socket.socket(socket.AF_UNIX)
said.connect(os.environ["GOBAN_PROGRESS_SOCKET"])
time.sleep(4)
start = time.time()
while True:
    ran = time.time() - start
    said.sendall(b"progress step=%d\\n" % (50 * ran))
    for rank in range(2):
        said.sendall(b"rank rank=%d ranks=2 steps=%d busy_s=%f wait_s=%f data_s=%f\\n"
                     % (rank, 50 * ran, ran / 2, ran / 4, ran / 4))
    if ran > 4 and os.path.exists(os.environ["GO_ON"]):
        break
    time.sleep(0.1)
"""


def look_at_ranks(daemon):
    go_on = os.path.join(daemon.folder, "go-on")
    submitted = daemon.goban_run("submit", "--parsable", "--gpus", "2", "-J", "trains", "--export",
                                 f"PATH,GO_ON={go_on}", "--wrap",
                                 f"exec {sys.executable} -c '{TRAINING}'")
    expect(submitted.returncode == 0, submitted.stderr)
    job = submitted.stdout.strip()
    show = lambda: json.loads(daemon.goban_run("show", "--json", job).stdout)[0]  # noqa: E731
    ranks = daemon.wait_for("reports of ranks", lambda: show().get("ranks"), 120)
    expect([each["rank"] for each in ranks] == [0, 1], ranks)
    text = daemon.goban_run("show", job).stdout
    expect("ranks       0: " in text and "waiting for input" in text, text)
    with open(go_on, "w"):
        pass
    daemon.wait_for("its end", lambda: show()["state"] == "done", 120)
    over = daemon.wait_for("its profile", lambda: "profile" in show() and show())
    expect("ranks" not in over and len(over["past"][0]["ranks"]) == 2, over)
    profile = over["profile"]
    # Measured on another clock; the whole run divided by its steps would be 0.04 s.
    expect(0.01 < profile["iteration_s"]["value"] < 0.03, profile)
    expect(abs(profile["input_stall_pct"]["value"] - 25) < 0.1, profile)
    expect(abs(over["past"][0]["step_s"] - profile["iteration_s"]["value"]) < 1e-9, over)
    text = daemon.goban_run("show", job).stdout
    expect("input stall 25.0 %" in text and "step 0.0" in text, text)


def main():
    work = "import time; text = b'x' * (64 << 20); end = time.time() + 6\nwhile time.time() < end: pass"
    with Daemon(sys.argv[1]) as daemon:

        def run():
            ran = daemon.goban_run("run", "--gpus", "1", "-J", "loop", "--", sys.executable, "-c", work)
            expect(ran.returncode == 0, ran.stderr)
            number = str(len(daemon.jobs_run) + 1)
            daemon.jobs_run.append(number)
            return json.loads(daemon.goban_run("show", "--json", number).stdout)[0]

        daemon.jobs_run = []
        first = run()
        expect("training" not in first["spec"], f"nothing is known: {first['spec']}")
        folder = os.path.join(daemon.state, "profiles")
        files = daemon.wait_for("a profile", lambda: os.listdir(folder))
        with open(os.path.join(folder, files[0])) as text:
            profile = json.load(text)
        expect(profile["model"] == "loop" and profile["source"] == "goban serve, job 1", profile)
        second = run()
        facts = second["spec"]["training"]
        expect(facts["gpu_mem_bytes"] > 64 << 20 and facts["gpu_util_pct"] > 0, facts)
        expect(second["profile"]["model"] == "loop", second)
        shown = daemon.goban_run("show", "2").stdout
        expect("profile" in shown and "by goban serve, job 1" in shown, shown)
        expect(len(os.listdir(folder)) == 1, "one application")
        look_at_ranks(daemon)
    print("passed")


main()
