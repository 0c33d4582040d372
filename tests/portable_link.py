#!/usr/bin/env python3
"""Portable programs (tools/portable_link.py): one that is compiled here needs glibc 2.28 at most and runs; a symbol that glibc
2.28 does not have ends the link.

    portable_link.py CXX
"""

import contextlib
import pathlib
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tools"))
import portable_link  # noqa: E402


def link(compiler, folder, source):
    subprocess.run([compiler, "-std=c++20", "-O1", "-fPIE", "-c", source, "-o", folder / "program.o"], check=True)
    return subprocess.run([compiler, "-pie", "-fuse-ld=mold", "-o", folder / "program", folder / "program.o",
                           *portable_link.glibc_words(folder / "glibc")], text=True, capture_output=True, check=False)


def main():
    compiler = sys.argv[1]
    if not shutil.which("mold") or "x86_64" not in subprocess.run([compiler, "-dumpmachine"], text=True, capture_output=True, check=True).stdout:
        print("skipped: portable programs are linked by mold, for x86-64")
        return 77
    # Versions that glibc's ABI has published: exp, log and pow got a second one in 2.29, threads moved into libc in 2.34.
    library = portable_link.system_library("libc.so.6").resolve()
    versions = {name: version for name, version, _, _ in portable_link.symbols(library, portable_link.GLIBC)}
    assert versions["memcpy"] == "2.14" and versions["pthread_create"] == "2.2.5" and versions["fcntl64"] == "2.28", versions
    assert "arc4random" not in versions and "stat" not in versions
    maths = {name: version for name, version, _, _ in
             portable_link.symbols(portable_link.system_library("libm.so.6").resolve(), portable_link.GLIBC)}
    assert maths["exp"] == "2.2.5", maths["exp"]
    with tempfile.TemporaryDirectory(prefix="goban-portable-") as name:
        folder = pathlib.Path(name)
        done = link(compiler, folder, ROOT / "tests/portable/program.cpp")
        assert done.returncode == 0, done.stderr
        program = folder / "program"
        assert portable_link.check(program) <= (2, 28)
        (folder / "five").write_text("bytes")
        said = subprocess.run([program, folder / "five", "word"], text=True, capture_output=True, check=False)
        assert (said.returncode, said.stdout) == (0, "ok\ndestroyed\n"), said
        with contextlib.suppress(SystemExit):
            portable_link.check(program, (2, 4))
            raise AssertionError("a program that needs more passes the check")
        (folder / "young.cpp").write_text('extern "C" int pidfd_open(int, unsigned);\nint main() { return pidfd_open(1, 0); }\n')
        done = link(compiler, folder, folder / "young.cpp")
        assert done.returncode != 0 and "pidfd_open" in done.stderr, done
    print("ok")
    return 0


if __name__ == "__main__":
    sys.exit(main())
