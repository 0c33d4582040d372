#!/usr/bin/env python3
"""The Debian package and the wheel of a build: the same bytes each time, a program that runs unpacked or installed, and what
belongs beside it. Tarball and .rpm come from the tree of the wheel; tools/portable_roots.sh tries all of them in other systems.

    release_packages.py BUILD
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent


def run(*words, **options):
    done = subprocess.run(words, text=True, capture_output=True, check=False, **options)
    assert done.returncode == 0, f"{words}: {done.returncode}\n{done.stdout}{done.stderr}"
    return done.stdout


def try_wheel(folder, wheel):
    """Installs it into an empty virtual environment without a network; the program needs nothing else but glibc 2.28 and libgcc."""
    assert "manylinux_2_28_" in wheel.name and wheel.stat().st_size < 20e6, wheel
    run(sys.executable, "-m", "venv", "--without-pip", folder / "venv")
    run(sys.executable, "-m", "pip", "-q", "--python", folder / "venv/bin/python", "install", "--no-index", "--no-deps", wheel)
    program = folder / "venv/bin/goban"
    assert "commit" in run(program, "--version", env={})
    needed = set(re.findall(r"\(NEEDED\).*\[(.+)\]", run("readelf", "-dW", program)))
    assert needed <= {f"lib{name}" for name in ("c.so.6", "m.so.6", "dl.so.2", "rt.so.1", "pthread.so.0", "gcc_s.so.1")}, needed
    versions = {tuple(map(int, version.split("."))) for version in re.findall(r"GLIBC_([\d.]+)", run("objdump", "-T", program))}
    assert (2, 17) < max(versions) <= (2, 28), versions
    assert program.stat().st_size < 20e6, program.stat()
    jobs, cluster = folder / "jobs.csv", ["--cluster", "2x4"]
    run(program, "trace", "generate", "--like", "poisson", *cluster, "--jobs", "50", "--load", "0.8", "--out", jobs, env={})
    assert "fifo" in run(program, "simulate", *cluster, "--jobs", jobs, "--policy", "fifo+packed", env={})
    licences = {path.name for path in (folder / "venv/share/doc/goban/libraries").iterdir()}
    assert (folder / "venv/share/goban/python").is_dir() and {"curl", "gnutls28", "libssl-dev", "libsqlite3-dev"} <= licences, licences
    environment = {"PATH": os.environ["PATH"], "GOBAN_DATA": str(folder / "data")}
    assert "philly: " in run(program, "data", "--list", env=environment)
    # What a store on a server needs is loaded when it is opened, and named where it is missing.
    said = subprocess.run([program, "history", "status", "--store", "postgresql://127.0.0.1:1/none"], text=True, capture_output=True, check=False)
    assert said.returncode == 1 and re.search("PostgreSQL: .*refused|install PostgreSQL's client library", said.stderr), said
    run(sys.executable, "-m", "pip", "-q", "--python", folder / "venv/bin/python", "uninstall", "-y", "goban-cluster")
    left = [path for path in (folder / "venv").rglob("*") if path.is_file() and "goban" in str(path.relative_to(folder))]
    assert not left, left


def main():
    if not shutil.which("dpkg-shlibdeps"):
        print("skipped: dpkg-dev is not installed")
        return 77
    build = pathlib.Path(sys.argv[1])
    if b"__asan_init" in (build / "bin/goban").read_bytes():
        print("skipped: nobody packs a program with sanitizers")
        return 77
    with tempfile.TemporaryDirectory(prefix="goban-release-") as name:
        folder = pathlib.Path(name)
        # The program alone: a small build folder.
        (folder / "build/bin").mkdir(parents=True)
        (folder / "build/bin/goban").symlink_to(build.resolve() / "bin/goban")
        check = ["--check"] if shutil.which("lintian") else []
        has_wheel = shutil.which("mold") and subprocess.run([sys.executable, "-m", "pip", "--version"],
                                                                 capture_output=True, check=False).returncode == 0
        environment = dict(os.environ, SOURCE_DATE_EPOCH="1700000000")
        packages = []
        for out, words in (("a", ["--formats", "deb"]), ("b", [*check, "--formats", "deb,wheel" if has_wheel else "deb"])):
            run(sys.executable, ROOT / "tools/release.py", folder / "build", folder / out, *words, env=environment)
            packages += (folder / out).glob("goban_*.deb")
        assert packages[0].read_bytes() == packages[1].read_bytes(), "two packages of one build differ"
        assert packages[0].stat().st_size < 20e6, "the package is too large"
        depends = run("dpkg-deb", "-f", packages[0], "Depends")
        assert "libsqlite3-0" in depends and "libc6" in depends, depends
        if has_wheel:
            try_wheel(folder, next((folder / "b").glob("*.whl")))
        else:
            print("the wheel is not tried: mold or pip is not installed")
        run("dpkg-deb", "-x", packages[0], folder / "root")
        program = folder / "root/usr/bin/goban"
        assert "commit" in run(program, "--version")
        run(program, "shims", folder / "shims")
        for path in ("lib/systemd/system/goban.service", "etc/goban.toml", "usr/share/man/man1/goban-submit.1.gz",
                     "usr/share/bash-completion/completions/goban", "usr/share/doc/goban/copyright"):
            assert (folder / "root" / path).stat().st_size > 50, path
        # The shipped configuration is one that the daemon reads.
        daemon = subprocess.Popen([program, "serve", "--config", folder / "root/etc/goban.toml", "--state", folder / "state",
                                   "--virtual-gpus", "1"], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        socket = folder / "state/goban.sock"
        for _ in range(300):
            if subprocess.run([program, "stats", "--server", socket], capture_output=True, check=False).returncode == 0:
                break
            assert daemon.poll() is None, daemon.stderr.read()
            try:
                daemon.wait(0.1)
            except subprocess.TimeoutExpired:
                continue
        daemon.terminate()
        assert daemon.wait(60) == 0
    print("ok")
    return 0


if __name__ == "__main__":
    sys.exit(main())
