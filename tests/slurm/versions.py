"""The scenarios that all engines share, on other releases of Slurm: each in a bare Debian of its own (mmdebstrap), in which everything runs
but goban and Python, which are this machine's.

    versions.py GOBAN [--release trixie|bullseye ...] [--roots F] [--run SCRIPT ...]     (needs root and mmdebstrap; 77 without them)

The roots are made once and stay in the folder F; $GOBAN_MIRROR names another source of packages. --run: other tests of this folder
instead, with GOBAN as their argument.
"""

import argparse
import glob
import os
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
RELEASES = {"trixie": "24.11", "bullseye": "20.11"}
PACKAGES = "slurmctld,slurmd,slurm-client,munge"
KEYRINGS = [f"/usr/share/keyrings/debian-archive-{name}.gpg" for name in ("keyring", "removed-keys")]
INSIDE = "GOBAN_INSIDE_ROOT"


def make_root(release, folder):
    """A bare root of this release; why not, if that fails."""
    if os.path.isdir(folder):
        return ""
    os.makedirs(os.path.dirname(folder), exist_ok=True)
    part = tempfile.mkdtemp(prefix=release + ".", dir=os.path.dirname(folder))
    os.chmod(part, 0o755)  # of users, too
    # Of the release alone: the index of its security updates may list packages that mirrors have removed, as munge of Debian 11.
    mirror = [os.environ.get("GOBAN_MIRROR") or f"deb http://deb.debian.org/debian {release} main"]
    ran = subprocess.run(["mmdebstrap", "--quiet", "--mode=root", "--variant=apt", f"--include={PACKAGES}",
                          *(f"--keyring={each}" for each in KEYRINGS if os.path.exists(each)), release, part, *mirror],
                         stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    if ran.returncode:
        shutil.rmtree(part, ignore_errors=True)
        return f"mmdebstrap {release}: {ran.stdout.strip().splitlines()[-1:]}"
    os.rename(part, folder)
    return ""


def loader():
    """This machine's program loader, and the folder of its libraries."""
    found = [os.path.realpath(each) for pattern in ("/lib64/ld-linux-*.so.*", "/lib/ld-linux-*.so.*") for each in glob.glob(pattern)]
    return found[0], os.path.dirname(found[0])


def by_loader(program):
    """The words that run a program of this machine inside a root."""
    path, libraries = loader()
    return ["/host" + path, "--library-path", f"/host{libraries}:/host{libraries.replace('/usr/lib', '/lib', 1)}", "/host" + program]


def mount(root):
    """Shows the machine inside the root. In a mount namespace of our own: it ends with its last process."""
    folders = {f"/{name}": f"/{name}" for name in ("proc", "dev", "sys", "tmp")}
    for source, target in {"/": "/host", **folders, ROOT: ROOT}.items():
        os.makedirs(root + target, exist_ok=True)
        subprocess.run(["mount", "--rbind", source, root + target], check=True)
    for name in ("/etc/hosts", "/etc/hostname"):
        open(root + name, "a").close()
        subprocess.run(["mount", "--bind", name, root + name], check=True)


def run_inside(root, words):
    """Called by run() in its own namespace: becomes the program."""
    python = by_loader(os.environ.pop(INSIDE))  # of this machine, not of the root
    mount(root)
    os.chroot(root)
    os.chdir("/tmp")
    os.environ["PYTHONHOME"] = "/host/usr"
    os.environ["PATH"] = "/usr/sbin:/usr/bin:/sbin:/bin"
    os.execv(python[0], [*python, *words])


def run(root, goban, script, *words):
    """The exit code of a test inside the root."""
    with tempfile.TemporaryDirectory(prefix="goban-versions-") as folder:
        wrapper = os.path.join(folder, "goban")
        with open(wrapper, "w") as out:
            out.write("#!/bin/sh\nexec " + " ".join(by_loader(os.path.realpath(goban))) + ' "$@"\n')
        os.chmod(folder, 0o755)
        os.chmod(wrapper, 0o755)
        return subprocess.run(["unshare", "--mount", "--propagation", "private", sys.executable, os.path.abspath(__file__), root, script, wrapper,
                               *words], env={**os.environ, INSIDE: os.path.realpath(sys.executable)}, stdin=subprocess.DEVNULL, check=False).returncode


def missing():
    if os.geteuid() != 0:
        return "needs root"
    return "" if shutil.which("mmdebstrap") else "mmdebstrap is not installed"


def main():
    if INSIDE in os.environ:
        run_inside(sys.argv[1], sys.argv[2:])
    parser = argparse.ArgumentParser()
    parser.add_argument("goban")
    parser.add_argument("--release", choices=RELEASES, action="append")
    parser.add_argument("--roots", default=os.path.join(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "goban", "slurm-roots"))
    parser.add_argument("--run", action="append", default=[])
    options = parser.parse_args()
    why = missing()
    roots = {}
    for release in options.release or RELEASES:
        roots[release] = os.path.join(os.path.realpath(options.roots), release)
        why = why or make_root(release, roots[release])
    if why:
        print(f"skipped: {why}")
        sys.exit(77)
    tests = [(os.path.join(HERE, script), ()) for script in options.run] or [(os.path.join(ROOT, "tests/engines/conformance.py"), ("slurm",))]
    failed = []
    for release, root in roots.items():
        for script, words in tests:
            print(f"Slurm {RELEASES[release]} ({release}): {os.path.basename(script)}", flush=True)
            if run(root, options.goban, script, *words):
                failed.append(f"{release}: {os.path.basename(script)}")
    if failed:
        raise SystemExit("failed: " + ", ".join(failed))
    print(f"counts: releases={len(roots)}")


if __name__ == "__main__":
    main()
