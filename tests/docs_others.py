#!/usr/bin/env python3
"""Runs the commands of README and docs that call other programs than goban: docs_others.py GOBAN [GOBAN-TRAIN]

These are goban-train, ./dev and curl. Each such line of a block of code is run, or a row of NOT_RUN says why not; a row that no
page needs fails. The commands of goban itself: docs_commands.py (whole pages) and docs_lines.py (lines).
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

import docs_lines

ROOT = docs_lines.ROOT
IMAGES = "needs the images of MNIST (./dev data)"
TRAINS = "trains for minutes"
MEASURES = "measures for minutes to hours"
BUILDS = "installs packages and builds for half an hour"
# Parts of `page: command` -> why it is not run.
NOT_RUN = {
    "README.md: ./dev demo": BUILDS,
    "README.md: ./dev test": BUILDS,
    "docs/install.md: ./dev build": BUILDS,
    "docs/benchmarks.md: ": MEASURES,
    "docs/data.md: ./dev data #": "downloads",
    "docs/data.md: ./dev data pal philly": "downloads",
    "docs/data.md: ./dev data --mirror": "names a mirror of the reader",
    "docs/data.md: ./dev data --to": "downloads",
    "docs/energy.md: ./dev data gavel": "downloads",
    "docs/slurm.md: ./dev slurm up": "starts a real Slurm as root; live.slurm_fixture does",
    "docs/slurm.md: eval \"$(./dev slurm env)\"": "needs the Slurm of the line before",
    "docs/slurm.md: ./dev slurm down": "needs the Slurm of the line before",
    "docs/api.md: curl -H @header.txt": "names a host of the reader",
    "docs/feeding.md: goban-train data pack mnist:train": IMAGES,
    "docs/feeding.md: goban-train mnist": IMAGES,
    "docs/feeding.md: goban-train lm": TRAINS,
    "docs/feeding.md: goban-train accuracy": IMAGES,
    "docs/feeding.md: goban-train scale": IMAGES,
    "docs/feeding.md: goban-train tune": IMAGES,
    "docs/mesh.md: goban-train data fetch": "downloads",
    "docs/mesh.md: goban-train mnist --batch-size": IMAGES,
    "docs/mesh.md: goban-train mnist --threads": IMAGES,
    "docs/mesh.md: mpirun": "trains on several ranks; mesh.mpi_check does",
    "docs/mesh.md: goban-train mnist --mesh \"x:64\" --layout auto": "names the costs of a cluster of the reader",
    "docs/mesh.md: goban-train mnist --model mlp": IMAGES,
    "docs/mesh.md: goban-train sweep": IMAGES,
    "docs/topology.md: goban-train doctor": MEASURES,
    "docs/topology.md: mpirun": "needs GPUs",
}
PROGRAMS = r"(?:goban-train|\./dev|curl)"
BLOCK = re.compile(r"^```\w*\n(?P<fenced>.*?)^```$|^(?P<indented>(?: {4}\S.*\n)+)", re.M | re.S)
# At the beginning of a line, in its `eval`, or after a pipe or `&&`; perhaps after variables and a launcher.
CALL = re.compile(rf"(?:^|^eval \"\$\(|\| |&& )(?:\w+=\S+ )*(?:(?:mpirun|chrt) [^|;]*?)?(?:build/bin/)?{PROGRAMS} ")
COMMAND_OF_DEV = re.compile(r"\./dev ([a-z]+)\b")


def commands_of(text):
    """The commands of other programs in blocks of code, with their comments; lines that a backslash continues are one."""
    for block in BLOCK.finditer(text):
        for line in (block["fenced"] or block["indented"]).replace("\\\n", " ").splitlines():
            line = re.sub(r"\s+", " ", line.strip())
            if CALL.search(line) and not re.search(r"goban-train: ", line):
                yield line


def reason_of(page, command):
    return next((part for part in NOT_RUN if part in f"{page}: {command} #"), None)


def make_inputs(folder, train):
    """Photos, twelve shards of them and a book, under the names that docs/feeding.md uses."""
    (folder / "photos").mkdir()
    for i in range(12):  # a PGM image and its class
        (folder / f"photos/{i:02}.pgm").write_bytes(b"P5 28 28 255\n" + bytes((i * j) % 256 for j in range(28 * 28)))
        (folder / f"photos/{i:02}.cls").write_text(str(i % 10))
    (folder / "book.txt").write_text("It was a dark and stormy night.\n" * 100)
    if train:
        subprocess.run([train, "data", "pack", "photos/", "--to", "shards/train-%06d.tar", "--max-count", "1"], cwd=folder, check=True,
                       stdout=subprocess.DEVNULL)


def start_daemon(goban, folder, environment):
    """A daemon where a user's own is, and its address."""
    state = folder / ".local/state/goban"
    log = folder / "daemon.log"
    with log.open("w") as file:
        daemon = subprocess.Popen([goban, "serve", "--state", state, "--virtual-gpus", "4", "--listen", "127.0.0.1:0"], env=environment,
                                  stdout=file, stderr=subprocess.STDOUT)
    for _ in range(300):
        if docs_lines.attempt("goban stats", folder, environment)[0] == 0:
            address = re.search(r"127\.0\.0\.1:\d+", log.read_text())
            assert address, log.read_text()
            return daemon, address[0]
        if daemon.poll() is not None:
            break
    daemon.kill()
    raise SystemExit(f"the daemon did not start: {log.read_text()}")


def check_dev_commands(pages):
    """`./dev NAME` in text and blocks names commands of its help. Returns problems."""
    known = set(re.findall(r"^  ([a-z]+)\b", subprocess.run([ROOT / "dev", "help"], text=True, capture_output=True, check=True).stdout, re.M))
    named = {(page, name) for page, text in pages.items() for name in COMMAND_OF_DEV.findall(text)}
    assert len(named) > 20, "the pages name hardly any command of ./dev"
    return [f"{page}: ./dev has no command '{name}'" for page, name in sorted(named) if name not in known]


def main():
    goban, train = [pathlib.Path(word).resolve() for word in sys.argv[1:]] + [None] * (3 - len(sys.argv))
    train = train if train and train.exists() else None
    files = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
    pages = {str(file.relative_to(ROOT)): file.read_text(encoding="utf-8") for file in files}
    problems, used, run, absent = check_dev_commands(pages), set(), 0, set()
    with tempfile.TemporaryDirectory(prefix="goban-others-") as name:
        folder = pathlib.Path(name)
        (folder / "bin").mkdir()
        (folder / "bin/goban").symlink_to(goban)
        if train:
            (folder / "bin/goban-train").symlink_to(train)
        environment = {key: value for key, value in os.environ.items() if not key.startswith("GOBAN_")}
        environment |= {"PATH": f"{folder}/bin:{environment['PATH']}", "HOME": str(folder), "GOBAN_SKIP_SETUP": "1",
                        "GOBAN_SERVER": f"{folder}/.local/state/goban/goban.sock"}
        make_inputs(folder, train)
        daemon, address = start_daemon(goban, folder, environment)
        try:
            for page, command in [(page, command) for page, text in pages.items() for command in commands_of(text)]:
                row = reason_of(page, command)
                program = re.search(PROGRAMS, command)[0]
                if row is not None:
                    used.add(row)
                    continue
                if program != "./dev" and not shutil.which(program, path=environment["PATH"]):
                    absent.add(program)
                    continue
                words = command.replace("127.0.0.1:8080", address).replace("./dev ", f"{ROOT}/dev ").replace("/home/ann", str(folder))
                words = words.replace("goban token ", "goban token --state $HOME/.local/state/goban ")
                words = words.replace("curl ", "curl --fail-with-body --silent --show-error ")
                code, said = docs_lines.attempt(f"set -o pipefail; {words}", folder, environment)
                run += code == 0
                if code != 0:
                    problems.append(f"{page}: {command}\n  exit code {code}: {said.strip()[-400:]}")
        finally:
            daemon.terminate()
            daemon.wait(60)
    print(f"counts: run={run} not_run={len(used)}" + "".join(f"; skipped: there is no {program}" for program in sorted(absent)))
    problems += [f"no page needs the row {row!r}" for row in NOT_RUN if row not in used]
    if problems:
        raise SystemExit("\n".join(problems))
    assert absent or run >= 9, "the pages have hardly any commands"


if __name__ == "__main__":
    main()
