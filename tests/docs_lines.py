#!/usr/bin/env python3
"""Runs the goban commands of the reference pages, line by line: docs_lines.py GOBAN

Their inputs are made under the names that the pages use. What cannot succeed here is listed in EXCEPTIONS with its reason: it is
run, too, and must not fail by its words (exit code 2). Pages whose blocks run as a whole: docs_commands.py.
"""

import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent

# Beginnings of commands, or parts of them in asterisks -> why they cannot succeed here.
EXCEPTIONS = {
    "*/opt/sge/*": "names the accounting file of a site",
    "*accounting.gz*": "needs a Grid Engine site's accounting and its rules",
    "*--accounts*": "the file of accounts belongs to a site",
    "*simulation_throughputs.json*": "needs Gavel's measurements (./dev data gavel)",
    "*h.csv*": "needs the co-location history of the line before",
    "*philly_df_schedule*": "needs the public Philly data (./dev data philly)",
    "*log.swf.gz*": "needs a log of the Parallel Workloads Archive",
    "*modules.csv*": "needs a site's records of loaded modules",
    "*/var/log/goban/*": "needs a site's records of loaded modules",
    "goban history prune": "removes nothing older than what the history here contains",
    "goban history forget": "there is no such user in the history here",
    "*--why 1234_5*": "names a job of the reader",
    "*--org physics*": "names an organisation of the reader",
    "goban explain --run results": "names a job of the reader",
    "goban doctor run": "needs the results of a training",
    "goban series prune": "needs a store of several years",
    "*--scores*": "names the scores of a site",
    "goban serve": "runs until it is stopped",
    "goban backup": "needs a configured service",
    "goban agent --server": "reports until it is stopped",
    "*/var/lib/goban/series*": "names the state folder of a daemon",
    "goban reserve": "names users and nodes of the reader, and a date",
    "goban submit --reservation": "needs the reservation of the line before",
    "goban reservations": "needs the reservation of the line before",
    "goban engine slurm": "needs Slurm",
    "goban engine kubernetes observe-report": "needs the Jobs of a cluster",
    "goban nodes && ": "needs Slurm",
    "goban pilot simulate": "takes minutes",
    "goban profile": "measures for minutes",
    "*--plugin*": "needs the compiled policy of the reader",
    "*--cluster abci*": "too long on the whole ABCI",
    "*--days 30*": "too long for a test: a month of ABCI",
    "*month/*": "too long for a test: a month of ABCI",
    "*--like philly*": "too long for a test",
    "*gavel.csv*": "too long for a test",
    "*energy replay-tables*": "too long for a test",
    "*--cluster mine.toml*": "names the cluster of the reader",
    "*site.toml*": "names the cluster of the reader",
    "*--lang ja*": "needs the series of the GPUs",
    "*topology.conf*": "names a file of a Slurm site",
    "goban doctor nccl --verify": "needs the log of a run with NCCL",
}
# Not this program, or no command.
NOT_A_COMMAND = re.compile(r"\[|\.\.\.|\bFILE\b|\bDIR\b|<|:$")
# Pages -> why none of their commands is run here.
NOT_RUN = {
    "benchmarks": "measures for minutes to hours",
    "studies/rivals": "needs the public traces of the rivals",
    "reliability": "attacks for hours",
    "studies/physical": "needs the Python package goban-lab; lab.wheel runs it",
}
BLOCK = re.compile(r"^```\w*\n(?P<fenced>.*?)^```$|^(?P<indented>(?: {4}\S.*\n)+)", re.M | re.S)
# At the beginning of a line, after variables, a pipe or `&&`, or in a `$(...)`.
CALL = re.compile(r"^(?![|`-])(?:.*(?:[|&;] |\$\())?(?:\w+=\S+ )*goban ")
OTHERS = re.compile(r"(?:^|[|&] )(?:\w+=\S+ )*(?:goban-train|\./dev|curl) ")  # tests/docs_others.py
LIMIT_S = 60
# Wrong words are refused at once; what would run for long is stopped.
EXCEPTION_LIMIT_S = 3


def reason_of(command):
    for pattern, reason in EXCEPTIONS.items():
        if pattern.strip("*") in command if pattern.startswith("*") else command.startswith(pattern):
            return reason
    return None


def pages():
    """Names of the pages below docs whose lines are run, without .md."""
    whole = set(re.findall(r"\bdocs/[\w-]+\.md", (ROOT / "cmake/program_tests.cmake").read_text(encoding="utf-8")))
    found = (str(path.relative_to(ROOT / "docs")).removesuffix(".md") for path in sorted((ROOT / "docs").rglob("*.md")))
    return [page for page in found if f"docs/{page}.md" not in whole and page not in NOT_RUN]


def commands_of(page):
    """The commands in the page's blocks of code that call goban, without comments; lines that a backslash continues are one."""
    text = (ROOT / "docs" / f"{page}.md").read_text(encoding="utf-8")
    for block in BLOCK.finditer(text):
        for line in (block["fenced"] or block["indented"]).replace("\\\n", " ").splitlines():
            line = re.sub(r"\s+", " ", re.sub(r"\s+#.*$", "", line)).strip()
            if not CALL.search(line) or OTHERS.search(line) or NOT_A_COMMAND.search(line):
                continue
            yield re.sub(r"\s*\|\s*kubectl.*$", "", line).rstrip("& ")


def make_commands(folder):
    """What the pages pipe into goban, as a site has it: sacct, scontrol and kubectl with recorded answers."""
    rows = ["JobID|User|Account|Partition|Submit|Start|End|ElapsedRaw|State|ExitCode|NNodes|NCPUS|ReqMem|AllocTRES|TimelimitRaw|NodeList"]
    for i in range(60):
        times = [f"2026-11-{1 + i // 6:02}T{4 * (i % 6) + hour:02}:00:00" for hour in (0, 1, 3)]
        rows.append(f"{i + 1}|u{i % 5}|a{i % 2}|gpu|{times[0]}|{times[1]}|{times[2]}|7200|COMPLETED|0:0|1|8|16G|"
                    "cpu=8,gres/gpu=2,mem=16G,node=1|600|g1")
    answers = {"sacct": "\n".join(rows) + "\n", "scontrol": (ROOT / "tests/corpus/slurm_nodes/real_2205_show_node.txt").read_text(encoding="utf-8"),
               "kubectl": (ROOT / "tests/corpus/kubernetes_nodes/list.json").read_text(encoding="utf-8")}
    for name, answer in answers.items():
        (folder / f"{name}.answer").write_text(answer)
        (folder / "bin" / name).write_text(f"#!/bin/sh\ncat '{folder}/{name}.answer'\n")
        (folder / "bin" / name).chmod(0o755)


def make_inputs(goban, folder):
    run = lambda *words: subprocess.run([goban, *words], cwd=folder, check=True, capture_output=True)
    run("trace", "generate", "--like", "poisson", "--jobs", "300", "--cluster", "4x4", "--load", "0.9", "--out", "jobs.csv")
    subprocess.run("gzip -k jobs.csv; cp jobs.csv recorded.csv", shell=True, cwd=folder, check=True)
    run("history", "import", "jobs.csv", "--store", "jobs.db")
    make_commands(folder)
    (folder / "prepare.sh").write_text("#!/bin/sh\ntrue\n")
    (folder / "train.sh").write_text("#!/bin/sh\ntrue\n")
    (folder / "us-east-2b_v100_1.json").write_text('{"metadata": {"gap_seconds": 3600}, "data": [4, 2, 0, 3, 4]}')
    (folder / "prices.toml").write_text('currency = "EUR"\nelectricity_per_kwh = 0.2\ngpu_hour_value = 2\n')


def attempt(command, folder, environment, limit_s=LIMIT_S):
    """Exit code, or None if it was stopped, and output."""
    shell = subprocess.Popen(["bash", "-c", command], cwd=folder, env=environment, stdin=subprocess.DEVNULL, text=True,
                             stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True)
    try:
        said, _ = shell.communicate(timeout=limit_s)
        return shell.returncode, said
    except subprocess.TimeoutExpired:
        os.killpg(shell.pid, signal.SIGKILL)
        return None, shell.communicate()[0]


def main():
    goban = pathlib.Path(sys.argv[1]).resolve()
    failures, succeeded, excepted, used = [], 0, 0, set()
    with tempfile.TemporaryDirectory(prefix="goban-lines-") as name:
        folder = pathlib.Path(name)
        (folder / "bin").mkdir()
        (folder / "bin/goban").symlink_to(goban)
        environment = {key: value for key, value in os.environ.items() if not key.startswith("GOBAN_")}
        environment |= {"PATH": f"{folder}/bin:{environment['PATH']}", "HOME": str(folder), "GOBAN_SERVER": f"{folder}/state/goban.sock"}
        make_inputs(goban, folder)
        daemon = subprocess.Popen([goban, "serve", "--state", folder / "state", "--virtual-gpus", "4"], env=environment,
                                  stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            for _ in range(300):
                if attempt("goban stats", folder, environment)[0] == 0:
                    break
                if daemon.poll() is not None:
                    raise SystemExit("the daemon ended")
            for page in pages():
                for command in commands_of(page):
                    reason = reason_of(command)
                    code, said = attempt(command, folder, environment, EXCEPTION_LIMIT_S if reason else LIMIT_S)
                    if reason is None and code == 0:
                        succeeded += 1
                    elif reason is not None and (code != 2 or "no record" in said):
                        excepted += 1
                        used.add(reason)
                    else:
                        failures.append(f"docs/{page}.md: {command}\n  exit code {code}: {said.strip()[-400:]}")
        finally:
            daemon.terminate()
            daemon.wait(60)
    print(f"counts: succeeded={succeeded} excepted={excepted}")
    unused = {reason for reason in EXCEPTIONS.values()} - used
    if unused:
        failures.append(f"exceptions that no page needs: {sorted(unused)}")
    if failures:
        raise SystemExit("\n".join(failures))
    assert succeeded >= 10, "the pages have hardly any commands"


if __name__ == "__main__":
    main()
