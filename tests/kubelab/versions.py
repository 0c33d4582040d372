"""The Kubernetes engine and goban serve on other minor versions of the control plane, which are built if need be (10 CPU minutes each).

    versions.py ENGINE_CHECK GOBAN [--version 1.32.13 ...]     (77 without Go)
"""

import argparse
import os
import subprocess
import sys
import time

from kube_site import go_program

HERE = os.path.dirname(os.path.abspath(__file__))
VERSIONS = ("1.32.13", "1.36.3")  # the oldest and the newest that are tried


def passes(version, script, words):
    """Whether the test passes; what it says is shown if not."""
    began = time.monotonic()
    ran = subprocess.run([sys.executable, os.path.join(HERE, script), *words], env={**os.environ, "GOBAN_KUBE_VERSION": version},
                         stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    print(f"{version} {script}: {'passed' if ran.returncode == 0 else 'FAILED'} after {time.monotonic() - began:.0f} s", flush=True)
    if ran.returncode:
        print("\n".join(ran.stdout.splitlines()[-40:]), flush=True)
    return ran.returncode == 0


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("engine_check")
    parser.add_argument("goban")
    parser.add_argument("--version", action="append", help=f"all of {', '.join(VERSIONS)} if there is none")
    options = parser.parse_args()
    if not go_program():
        print("skipped: no Go of 1.24 or later")
        sys.exit(77)
    versions = options.version or VERSIONS
    done = [passes(version, script, words) for version in versions
            for script, words in (("engine.py", [options.engine_check, options.goban]), ("serve.py", [options.goban]))]
    print(f"counts: versions={len(versions)} tests={sum(done)}")
    sys.exit(0 if all(done) else 1)


if __name__ == "__main__":
    main()
