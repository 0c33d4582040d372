#!/usr/bin/env python3
"""Makes the packages of a build: release.py BUILD OUT [--formats deb,tar,wheel,rpm,image] [--check].

goban_VERSION_ARCH.deb, and goban-train_VERSION_ARCH.deb where it was built; of goban also a tarball, a wheel, an .rpm and an OCI
image. The same build gives the same bytes, except of the image, whose Debian may be newer. --check runs lintian, which must find
nothing (overrides say why where it does). SHA256SUMS lists all.
"""

import argparse
import gzip
import hashlib
import os
import platform
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

import release_portable

ROOT = pathlib.Path(__file__).resolve().parent.parent
DEBIAN = ROOT / "packaging/debian"
MAINTAINER = "Goban developers <goban@localhost.invalid>"
SUMMARY = {
    "goban": "scheduler and analyser for deep-learning jobs on shared GPUs",
    "goban-train": "mesh training on CPUs, by one line of layout",
}
TEXT = {
    "goban": """Goban schedules training jobs on the GPUs of a machine, replays job histories
under other scheduling policies with the error of the simulation beside each
gain, and writes the operator's report from the accounting of Slurm, Grid
Engine and others.""",
    "goban-train": """Trains models data-, model- or sequence-parallel on threads or MPI over
LibTorch, with the same result under every layout.""",
}


def output(*words, **options):
    return subprocess.run(words, check=True, text=True, stdout=subprocess.PIPE, **options).stdout


def version_of(build):
    """The version of the project, and the commit for what is no release."""
    return re.search(r"project\(goban VERSION ([\d.]+)", (ROOT / "CMakeLists.txt").read_text())[1]


def put(path, text, mode=0o644):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    path.chmod(mode)


def packed(data):
    return gzip.compress(data if isinstance(data, bytes) else data.encode(), 9, mtime=0)


def dependencies(program):
    """The libraries of Debian that a program needs, with their least versions."""
    with tempfile.TemporaryDirectory() as folder:
        put(pathlib.Path(folder) / "debian/control", "Source: goban\n\nPackage: goban\nArchitecture: any\n")
        said = output("dpkg-shlibdeps", "-O", "--ignore-missing-info", "-e", str(program), cwd=folder, stderr=subprocess.DEVNULL)
    return said.strip().removeprefix("shlibs:Depends=")


def add_program(stage, source):
    target = stage / "usr/bin" / source.name
    target.parent.mkdir(parents=True, exist_ok=True)
    subprocess.run(["strip", "--strip-unneeded", "--remove-section=.comment", "--remove-section=.note", "-o", target, source],
                   check=True)
    target.chmod(0o755)
    script = target.with_suffix(".cmake")
    script.write_text(f'file(RPATH_REMOVE FILE "{target}")\n')
    subprocess.run(["cmake", "-P", script], check=True)
    script.unlink()
    return target


def add_documents(stage, name, version, date):
    folder = stage / "usr/share/doc" / name
    put(folder / "copyright", "Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/\nUpstream-Name: goban\n\n"
        "Files: *\nCopyright: 2026 Goban developers\nLicense: Apache-2.0\n On Debian systems, the text of the license is in\n"
        " /usr/share/common-licenses/Apache-2.0.\n")
    put(folder / "changelog.gz", packed(f"{name.replace('goban-train', 'goban')} ({version}) unstable; urgency=medium\n\n"
        f"  * See CHANGELOG.md of the sources.\n\n -- {MAINTAINER}  {date}\n"))


def add_goban(stage, build, program):
    pages = stage / "usr/share/man/man1"
    pages.mkdir(parents=True)
    subprocess.run([program, "man", "--out", pages], check=True, stderr=subprocess.DEVNULL)
    for page in pages.glob("*.1"):
        put(page.with_suffix(".1.gz"), packed(page.read_bytes()))
        page.unlink()
    for shell, path in (("bash", "bash-completion/completions/goban"), ("zsh", "zsh/vendor-completions/_goban"),
                        ("fish", "fish/vendor_completions.d/goban.fish")):
        put(stage / "usr/share" / path, output(program, "completion", shell))
    for path in sorted(path for kind in ("*.py", "*.toml") for path in (ROOT / "python").rglob(kind)):
        put(stage / "usr/share/goban/python" / path.relative_to(ROOT / "python"), path.read_bytes())
    for name in ("goban.service", "goban-jobs.service"):
        text = (ROOT / "examples/systemd" / name).read_text().replace("/usr/local/bin/", "/usr/bin/")
        put(stage / "lib/systemd/system" / name, "".join(line + "\n" for line in text.splitlines() if not line.startswith("# cp ")))
    put(stage / "etc/goban.toml", (DEBIAN / "goban.toml").read_bytes())
    put(stage / "DEBIAN/conffiles", "/etc/goban.toml\n")
    for script in ("postinst", "prerm", "postrm"):
        put(stage / "DEBIAN" / script, (DEBIAN / script).read_bytes(), 0o755)


def add_train(stage, program):
    """A man page from --help, since the program has none of its own."""
    text = output(program, "--help").replace("\\", "\\e").replace("-", "\\-")
    lines = "\n".join("\\&" + line if line[:1] in ".'" else line for line in text.splitlines())
    put(stage / "usr/share/man/man1/goban-train.1.gz",
        packed(f".TH GOBAN\\-TRAIN 1\n.SH NAME\ngoban\\-train \\- {SUMMARY['goban-train']}\n.SH DESCRIPTION\n.nf\n{lines}\n"))


def time_of_sources():
    """Seconds since 1970 of the commit: the time of all files in the packages."""
    return int(os.environ.get("SOURCE_DATE_EPOCH") or output("git", "-c", "safe.directory=*", "log", "-1", "--format=%ct", cwd=ROOT))


def make_portable(formats, build, out, version, seconds):
    """What needs no package of the system except glibc and libgcc."""
    made = []
    with tempfile.TemporaryDirectory() as folder:
        stage = pathlib.Path(folder) / "root"
        prefix = stage / "usr"
        linked = pathlib.Path(folder) / "goban"
        for name, licence in release_portable.link((build / "bin/goban").resolve().parent.parent, linked).items():
            put(prefix / "share/doc/goban/libraries" / name, licence)
        add_goban(stage, build, add_program(stage, linked))
        (prefix / "lib").mkdir(exist_ok=True)
        shutil.move(stage / "lib/systemd", prefix / "lib/systemd")
        put(prefix / "share/doc/goban/LICENSE", (ROOT / "LICENSE").read_bytes())
        put(prefix / "share/doc/goban/goban.toml", (DEBIAN / "goban.toml").read_bytes())
        machine = platform.machine()
        if "tar" in formats:
            made.append(release_portable.make_tarball(prefix, out, version, machine, seconds))
        if "rpm" in formats:
            made.append(release_portable.make_rpm(prefix, out, version, SUMMARY["goban"], TEXT["goban"], seconds))
        if "wheel" in formats:
            shutil.rmtree(prefix / "lib/systemd")
            made.append(release_portable.make_wheel(prefix, out, version, machine, SUMMARY["goban"], seconds))
    return made


def make(name, build, out, version, seconds):
    architecture = output("dpkg", "--print-architecture").strip()
    date = output("date", "-uR", "-d", f"@{seconds}").strip()
    with tempfile.TemporaryDirectory() as folder:
        stage = pathlib.Path(folder) / "root"
        stage.mkdir(mode=0o755)
        program = add_program(stage, build / "bin" / name)
        add_documents(stage, name, version, date)
        add_goban(stage, build, program) if name == "goban" else add_train(stage, program)
        depends = dependencies(program)
        if name == "goban":
            depends += ", init-system-helpers (>= 1.54~)"
        files = [path for path in stage.rglob("*") if path.is_file() and "DEBIAN" not in path.parts]
        more = "Recommends: python3\nSuggests: libmariadb3, libpq5, slurm-client\n" if name == "goban" else "Recommends: goban\n"
        text = "\n".join(f" {line}" for line in TEXT[name].splitlines())
        put(stage / "DEBIAN/control", f"Package: {name}\nVersion: {version}\nArchitecture: {architecture}\nMaintainer: {MAINTAINER}\n"
            f"Installed-Size: {sum(path.stat().st_size for path in files) // 1024 + 1}\nDepends: {depends}\n{more}"
            f"Section: science\nPriority: optional\nDescription: {SUMMARY[name]}\n{text}\n")
        put(stage / "DEBIAN/md5sums", "".join(sorted(f"{output('md5sum', str(path)).split()[0]}  {path.relative_to(stage)}\n"
                                                      for path in files if path.parts[-2:] != ("etc", "goban.toml"))))
        for path in stage.rglob("*"):
            if path.is_dir():
                path.chmod(0o755)
        package = out / f"{name}_{version}_{architecture}.deb"
        subprocess.run(["dpkg-deb", "--root-owner-group", "-Zxz", "--build", stage, package], check=True,
                       stdout=subprocess.DEVNULL, env=dict(os.environ, SOURCE_DATE_EPOCH=str(seconds)))
    return package


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--formats", default="deb,tar,wheel,rpm,image", help="which (default: all)")
    parser.add_argument("--check", action="store_true")
    arguments = parser.parse_args()
    arguments.out.mkdir(parents=True, exist_ok=True)
    version = version_of(arguments.build)
    formats = arguments.formats.split(",")
    build, out, seconds = arguments.build.resolve(), arguments.out.resolve(), time_of_sources()
    made = []
    for name in ("goban", "goban-train"):
        if "deb" in formats and (build / "bin" / name).exists():
            made.append(make(name, build, out, version, seconds))
    packages = made[:]
    if {"tar", "wheel", "rpm"} & set(formats):
        made += make_portable(formats, build, out, version, seconds)
    if "image" in formats:
        architecture = output("dpkg", "--print-architecture").strip()
        made.append(release_portable.make_image(packages[0], out, version, architecture, seconds))
    sums = [f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}\n" for path in made]
    put(out / "SHA256SUMS", "".join(sums))
    for path in made:
        print(f"{path} {path.stat().st_size / 1e6:.1f} MB")
    if arguments.check:
        if not shutil.which("lintian"):
            raise SystemExit("lintian is not installed")
        done = subprocess.run(["lintian", "--allow-root", "--fail-on", "error,warning", "--tag-display-limit", "0", *packages], check=False)
        return done.returncode
    return 0


if __name__ == "__main__":
    sys.exit(main())
