#!/usr/bin/env python3
"""The static libraries of a portable goban (tools/portable_link.py): most are those of Debian's packages for developers; curl, fmt,
GnuTLS and hwloc are built here from Debian's sources, without what would need still more libraries.

    portable_libraries.py [--into FOLDER]     # builds what is missing, prints the folder

The folder is $GOBAN_PORTABLE, else ~/.cache/goban/portable. A recipe is built once, and again with newer sources after its folder
was removed. The sources come by apt, checked by Debian's keys, without a change to its configuration; $GOBAN_MIRROR names another mirror.
"""

import argparse
import concurrent.futures
import hashlib
import os
import pathlib
import shutil
import subprocess
import tempfile

SUITE = "bookworm"
KEYS = "/usr/share/keyrings/debian-archive-keyring.gpg"
# By source package: the options of ./configure, the folders to make, the library; or the C++ files of a small one.
RECIPES = {
    "fmtlib": {"compile": ["src/format.cc", "src/os.cc"], "archive": "libfmt.a"},
    "curl": {
        "options": "--with-openssl --with-zlib --without-zstd --without-brotli --without-nghttp2 --without-libidn2 --without-librtmp "
                   "--without-libssh2 --without-libpsl --without-libgsasl --disable-ldap --disable-ldaps --disable-ftp --disable-file "
                   "--disable-dict --disable-telnet --disable-tftp --disable-rtsp --disable-pop3 --disable-imap --disable-smb "
                   "--disable-smtp --disable-gopher --disable-mqtt --disable-manual --disable-ntlm --disable-ares "
                   "--with-ca-bundle=/etc/ssl/certs/ca-certificates.crt",
        "make": ["lib"], "archive": "lib/.libs/libcurl.a"},
    "gnutls28": {
        "options": "--without-p11-kit --without-idn --without-tpm --without-tpm2 --without-zlib --without-zstd --without-brotli "
                   "--with-included-unistring --disable-doc --disable-tools --disable-tests --disable-cxx --disable-guile "
                   "--disable-libdane --disable-gost --disable-srp-authentication --disable-heartbeat-support --disable-ssl3-support "
                   "--disable-dtls-srtp-support --disable-nls --disable-dependency-tracking "
                   "--with-default-trust-store-file=/etc/ssl/certs/ca-certificates.crt",
        "make": ["gl", "lib"], "archive": "lib/.libs/libgnutls.a"},
    "hwloc": {
        "options": "--disable-libudev --disable-libxml2 --disable-cairo --disable-pci --disable-opencl --disable-cuda --disable-nvml "
                   "--disable-rsmi --disable-levelzero --disable-gl --disable-plugin-dlopen --disable-doxygen",
        "make": ["include", "hwloc"], "archive": "hwloc/.libs/libhwloc.a"},
}
FLAGS = "-Os -fPIC -ffunction-sections -fdata-sections -fno-asynchronous-unwind-tables"  # small; what is not used is not linked
COMMON = ["--disable-shared", "--enable-static", f"CFLAGS={FLAGS}"]
# What a program names as lib*.so, and the archives in its place: those of packages, and of the recipes above.
ARCHIVES = {
    "libcurl": ["curl", "libssl.a", "libcrypto.a"],
    "libmicrohttpd": ["libmicrohttpd.a", "gnutls28", "libhogweed.a", "libnettle.a", "libgmp.a", "libtasn1.a"],
    "libhwloc": ["hwloc"],
    "libfmt": ["fmtlib"],
    "libz": ["libz.a"],
    "libsqlite3": ["libsqlite3.a"],
    "libyaml-cpp": ["libyaml-cpp.a"],
}


def apt(state):
    """apt-get with sources of its own, which a user without rights may use, too."""
    mirror = os.environ.get("GOBAN_MIRROR", "http://deb.debian.org/debian")
    security = f"{mirror.rstrip('/')}-security"
    (state / "lists/partial").mkdir(parents=True, exist_ok=True)
    (state / "sources.list").write_text("".join(
        f"deb-src [signed-by={KEYS}] {url} {suite} main\n" for url, suite in ((mirror, SUITE), (security, f"{SUITE}-security"))))
    settings = {"Dir::Etc::SourceList": state / "sources.list", "Dir::Etc::SourceParts": "/nonexistent", "Dir::State::Lists": state / "lists",
                "Dir::Cache": state, "APT::Sandbox::User": "", "Acquire::Languages": "none"}
    return ["apt-get", "-qq", *(word for name, value in settings.items() for word in ("-o", f"{name}={value}"))]


def quietly(words, **options):
    done = subprocess.run(words, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False, **options)
    if done.returncode != 0:
        raise SystemExit("\n".join([f"release: failed: {' '.join(map(str, words))}", *done.stdout.splitlines()[-20:]]))
    return done.stdout


def key_of(name):
    return hashlib.sha256(repr((SUITE, RECIPES[name], COMMON)).encode()).hexdigest()[:12]


def build(name, out, jobs):
    """Builds one recipe into `out`: the archive, its licence and the version of its sources."""
    recipe = RECIPES[name]
    with tempfile.TemporaryDirectory(prefix=f"goban-{name}-") as folder:
        state = pathlib.Path(folder)
        quietly([*apt(state), "update"])
        quietly([*apt(state), "source", name], cwd=folder)
        source = next(path for path in state.glob(f"{name}-*") if path.is_dir())
        if "compile" in recipe:
            quietly(["g++", "-std=c++20", "-O2", "-fPIC", "-Iinclude", "-c", *recipe["compile"]], cwd=source)
            quietly(["ar", "rcs", recipe["archive"], *(pathlib.Path(file).with_suffix(".o").name for file in recipe["compile"])], cwd=source)
        else:
            compiler = "ccache gcc" if shutil.which("ccache") else "gcc"
            quietly(["./configure", *COMMON, *recipe["options"].split(), f"CC={compiler}"], cwd=source)
            for part in recipe["make"]:
                quietly(["make", "-C", part, "-s", f"-j{jobs}"], cwd=source)
        description = next(state.glob("*.dsc")).name.removesuffix(".dsc")
        made = pathlib.Path(tempfile.mkdtemp(dir=out.parent))
        shutil.copyfile(source / recipe["archive"], made / f"{name}.a")
        shutil.copyfile(source / "debian/copyright", made / "copyright")
        (made / "source").write_text(f"{description}\n")
        made.chmod(0o755)
        made.rename(out)


def prepare(folder):
    """{name of a shared library: [archives]} and {archive that was built: its licence}; builds what the folder lacks."""
    built = {name: folder / f"{name}-{key_of(name)}" for name in RECIPES}
    missing = [name for name, path in built.items() if not path.exists()]
    if missing:
        print(f"building static libraries, once: {', '.join(missing)} (minutes)", flush=True)
        folder.mkdir(parents=True, exist_ok=True)
        with concurrent.futures.ThreadPoolExecutor(len(missing)) as pool:
            list(pool.map(lambda name: build(name, built[name], 2), missing))
    licences = {path / f"{name}.a": path / "copyright" for name, path in built.items()}

    def place(name):
        if name in built:
            return built[name] / f"{name}.a"
        said = pathlib.Path(subprocess.run(["gcc", f"-print-file-name={name}"], check=True, text=True, stdout=subprocess.PIPE).stdout.strip())
        if not said.is_absolute():
            raise SystemExit(f"release: {name} is missing: install the packages of tools/packages.txt (release)")
        return said.resolve()

    return {name: [place(archive) for archive in archives] for name, archives in ARCHIVES.items()}, licences


def default_folder():
    return pathlib.Path(os.environ.get("GOBAN_PORTABLE") or pathlib.Path.home() / ".cache/goban/portable")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--into", type=pathlib.Path, default=default_folder())
    folder = parser.parse_args().into
    prepare(folder)
    print(folder)


if __name__ == "__main__":
    main()
