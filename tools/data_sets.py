#!/usr/bin/env python3
"""Fetches the public data sets of tools/data_sets.toml that tests, studies and docs use.

Every file is checked against its SHA-256 sum before it takes its place. A download that breaks off is
resumed by the next run. Files that are already there and whole are left alone.

The data folder is --to, else $GOBAN_DATA, else ~/.cache/goban/data. Tests look there, and in data/ of
the folder that $GOBAN_SHARED names (shared/ beside the checkout if unset).
"""

import argparse
import fcntl
import gzip
import hashlib
import http.client
import io
import os
import sys
import tarfile
import tomllib
import urllib.error
import urllib.parse
import urllib.request
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TABLE = ROOT / "tools" / "data_sets.toml"
ATTEMPTS = 3  # of one address, each resuming where the last one broke off
FAILED, USAGE, BAD_DATA, INTERRUPTED = 1, 2, 3, 130


class Problem(Exception):
    """What went wrong with a file, and what to do about it."""

    def __init__(self, text, remedy, **facts):
        super().__init__(text)
        self.remedy = remedy
        self.facts = facts

    def report(self, subject):
        lines = [f"{subject}: {self}"]
        lines += [f"    {name}: {value}" for name, value in self.facts.items() if value]
        return "\n".join([*lines, f"    remedy: {self.remedy}"])


# ---- The table ----------------------------------------------------------------------------------

@dataclass
class DataFile:
    path: str
    address: list
    bytes: int
    sha256: str
    member: str = ""


@dataclass
class DataSet:
    name: str
    about: str
    source: str
    licence: str
    used_by: str
    files: list


@dataclass
class Unpublished:
    path: str
    why: str
    instead: str


def load(table=TABLE):
    """The data sets, and what is not published. Raises Problem."""
    def row(kind, values, where):
        try:
            return kind(**values)
        except TypeError as error:
            raise Problem(f"{where}: {str(error).split('() ')[-1]}", "mend the table") from error

    try:
        document = tomllib.loads(Path(table).read_text(encoding="utf-8"))
    except (OSError, tomllib.TOMLDecodeError) as error:
        raise Problem(str(error), "mend the table") from error
    sets = []
    for values in document.get("set", []):
        name = values.get("name", "?")
        files = [row(DataFile, each, f"{name}: {each.get('path', '?')}")
                 for each in values.pop("file", [])]
        for file in files:
            if file.path.startswith("/") or ".." in Path(file.path).parts:
                raise Problem(f"{name}: {file.path} leaves the data folder", "mend the table")
        sets.append(row(DataSet, {**values, "files": files}, name))
    return sets, [row(Unpublished, each, "unpublished") for each in document.get("unpublished", [])]


# ---- Where the data is --------------------------------------------------------------------------

def data_folder():
    return Path(os.environ.get("GOBAN_DATA") or Path.home() / ".cache" / "goban" / "data")


def find(path):
    """The place of a file or folder of the data, or None. As src/base/test_data.hpp does it."""
    shared = Path(os.environ.get("GOBAN_SHARED") or ROOT.parent / "shared") / "data"
    for folder in (data_folder(), shared):
        if (folder / path).exists():
            return folder / path
    return None


def advice(path):
    """Why a path of the data may be absent and how to get it, in half a sentence."""
    sets, unpublished = load()
    for each in unpublished:
        if path.startswith(each.path):
            return f"{each.path}: {each.why}"
    for each in sets:
        if any(file.path.startswith(path) for file in each.files):
            return f"./dev data {each.name}"
    return "./dev data"


# ---- Fetching -----------------------------------------------------------------------------------

def copy(source, target, done, total, show):
    while block := source.read1(1 << 16):  # what has come, so that a stall loses none of it
        target.write(block)
        done += len(block)
        show(done, total)
    return done


def download(address, part, timeout, show):
    """Appends what `part` lacks of the file at the address. Raises Problem; what came is kept."""
    done = part.stat().st_size if part.exists() else 0
    request = urllib.request.Request(address, headers={"User-Agent": "goban-dev-data"})
    if done:
        request.add_header("Range", f"bytes={done}-")
    with urllib.request.urlopen(request, timeout=timeout) as answer:
        if answer.status != 206:
            done = 0  # the server sends all of it
        length = answer.headers.get("Content-Length")
        total = done + int(length) if length is not None else None
        with open(part, "ab" if done else "wb") as target:
            done = copy(answer, target, done, total, show)
    if total is not None and done != total:
        raise TimeoutError(f"the connection closed after {done} of {total} bytes")


def download_persistently(address, part, timeout, show):
    """The bytes at the address. Resumes after a stall or a lost connection, a few times."""
    for attempt in range(1, ATTEMPTS + 1):
        try:
            download(address, part, timeout, show)
            return part.read_bytes()
        except urllib.error.HTTPError as error:
            if error.code == 416:  # nothing is left to send, or the part is of another file
                part.unlink()
            elif error.code < 500 or attempt == ATTEMPTS:
                raise Problem(f"the server answered {error.code} {error.reason}",
                              "the file may have moved; give another place with --mirror",
                              address=address) from error
        except (OSError, http.client.HTTPException) as error:
            if attempt == ATTEMPTS:
                reason = getattr(error, "reason", error)
                if isinstance(reason, TimeoutError) and "timed out" in str(reason):
                    reason = f"no data for {timeout:g} s"
                raise Problem(f"not reached after {ATTEMPTS} attempts: {reason}",
                              "run again to resume, or give another place with --mirror",
                              address=address) from error
    raise Problem("the server refuses to send the file from its start", "give --mirror",
                  address=address)


def unpacked(data, file, packed_as):
    """The content of a file that came as `packed_as`: an archive, gzip, or plain."""
    try:
        if file.member and packed_as.endswith((".tar.gz", ".tgz", ".tar")):
            with tarfile.open(fileobj=io.BytesIO(data)) as archive:
                names = archive.getnames()
                for name in names:
                    if name.rsplit("/", 1)[-1] == file.member and archive.getmember(name).isfile():
                        return archive.extractfile(name).read()
            raise Problem(f"there is no {file.member} in the archive, but {', '.join(names[:5])}",
                          "the archive changed; give another place with --mirror")
        return gzip.decompress(data) if packed_as.endswith(".gz") else data
    except (OSError, EOFError, tarfile.TarError) as error:
        raise Problem(f"cannot be unpacked: {error}", "give another place with --mirror") from error


def check(content, file):
    found = hashlib.sha256(content).hexdigest()
    if found != file.sha256:
        raise Problem("its checksum is wrong", "the file at that address is another one or damaged; "
                      "give another place with --mirror",
                      expected=f"{file.sha256} ({file.bytes} bytes)",
                      found=f"{found} ({len(content)} bytes)")


def is_whole(path, file):
    try:
        check(unpacked(path.read_bytes(), file, file.path), file)
    except (OSError, Problem):
        return False
    return True


def place(content, file, folder):
    """Writes the file beside its place and renames it, so that no reader sees half of it."""
    path = folder / file.path
    path.parent.mkdir(parents=True, exist_ok=True)
    packed = gzip.compress(content, 9, mtime=0) if file.path.endswith(".gz") else content
    half = path.with_name(path.name + ".half")
    with open(half, "wb") as target:
        target.write(packed)
        target.flush()
        os.fsync(target.fileno())
    half.replace(path)


def fetch_from(address, packed_as, file, folder, options, show):
    """One file from one address, anew if what was resumed turns out damaged."""
    if not address.startswith(("http://", "https://")):
        try:
            content = unpacked(Path(address).read_bytes(), file, packed_as)
        except OSError as error:
            raise Problem(error.strerror, "give another --mirror", address=address) from error
        check(content, file)
        place(content, file, folder)
        return
    parts = folder / ".parts"
    parts.mkdir(parents=True, exist_ok=True)
    part = parts / hashlib.sha256(address.encode()).hexdigest()[:16]
    while True:
        resumed = part.exists()
        data = download_persistently(address, part, options.timeout, show)
        try:
            content = unpacked(data, file, packed_as)
            check(content, file)
        except Problem as problem:
            part.unlink()
            if resumed:
                continue
            problem.facts = {"address": address, **problem.facts}
            raise
        place(content, file, folder)
        part.unlink()
        return


def sources(file, mirror):
    """(address, name that says how it is packed) of the places to try, in turn."""
    if not mirror:
        return [(address, urllib.parse.urlsplit(address).path) for address in file.address]
    if mirror.startswith(("http://", "https://")):
        return [(f"{mirror.rstrip('/')}/{urllib.parse.quote(file.path)}", file.path)]
    return [(str(Path(mirror) / file.path), file.path)]


def fetch(file, folder, options):
    """Raises the Problem of the last place if all fail."""
    def show(done, total):
        if sys.stderr.isatty():
            share = f"{100 * done // total} %" if total else f"{done} bytes"
            print(f"\r  {file.path}: {share}  ", end="", file=sys.stderr, flush=True)

    places = sources(file, options.mirror)
    for index, (address, packed_as) in enumerate(places):
        try:
            fetch_from(address, packed_as, file, folder, options, show)
            return
        except Problem as problem:
            if index + 1 == len(places):
                raise
            print(problem.report(f"  {file.path}"), "\n    trying the next address", file=sys.stderr)
        finally:
            if sys.stderr.isatty():
                print("\r\033[K", end="", file=sys.stderr)


# ---- Commands -----------------------------------------------------------------------------------

def list_sets(sets, unpublished, folder):
    for each in sets:
        whole = sum(is_whole(folder / file.path, file) for file in each.files)
        size = sum(file.bytes for file in each.files) / 1e6
        print(f"{each.name}: {each.about}\n    {whole} of {len(each.files)} files here, "
              f"{size:.1f} MB unpacked; {each.licence}\n    from {each.source}\n"
              f"    for {each.used_by}")
    print(f"\nthe data folder is {folder}\n\nnot published, so not to be fetched:")
    for each in unpublished:
        print(f"{each.path}: {each.why}\n    instead: {each.instead}")


def fetch_sets(sets, folder, options):
    """Fetches what is absent or damaged; one failure does not stop the rest."""
    here = fetched = failed = 0
    for each in sets:
        print(f"{each.name}: {each.about} ({each.licence})", flush=True)
        for file in each.files:
            if is_whole(folder / file.path, file):
                here += 1
                continue
            try:
                fetch(file, folder, options)
                print(f"  {file.path}: fetched, {file.bytes} bytes unpacked", flush=True)
                fetched += 1
            except Problem as problem:
                print(problem.report(f"  {file.path}"), file=sys.stderr, flush=True)
                failed += 1
    print(f"{here} files were here, {fetched} fetched, {failed} failed; the data folder is {folder}")
    return FAILED if failed else 0


def parse(arguments):
    parser = argparse.ArgumentParser(
        prog="./dev data", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help="a data set; all if left out")
    parser.add_argument("--list", action="store_true", help="say what there is and what is here")
    parser.add_argument("--mirror", metavar="URL|FOLDER",
                        help="a copy of the data folder, instead of the published addresses")
    parser.add_argument("--to", metavar="FOLDER", type=Path, help="the data folder")
    parser.add_argument("--timeout", metavar="S", type=float, default=30,
                        help="give up a connection that sends nothing for so long (30)")
    parser.add_argument("--table", type=Path, default=TABLE, help=argparse.SUPPRESS)
    return parser.parse_args(arguments)


def main():
    options = parse(sys.argv[1:])
    folder = (options.to or data_folder()).absolute()
    try:
        sets, unpublished = load(options.table)
    except Problem as problem:
        print(problem.report(f"data: {options.table}"), file=sys.stderr)
        return BAD_DATA
    known = {each.name: each for each in sets}
    unknown = [name for name in options.names if name not in known]
    if unknown:
        print(f"data: there is no data set {', '.join(unknown)}; there are: {', '.join(known)}",
              file=sys.stderr)
        return USAGE
    chosen = [known[name] for name in options.names] or sets
    if options.list:
        list_sets(chosen, unpublished, folder)
        return 0
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with open(folder / ".lock", "w", encoding="utf-8") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return fetch_sets(chosen, folder, options)
    except BlockingIOError:
        print(f"data: another ./dev data fetches into {folder}; wait for its end", file=sys.stderr)
    except OSError as error:
        print(f"data: {error}\n    remedy: give a folder with room that you may write to (--to)",
              file=sys.stderr)
    return FAILED


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        print("data: interrupted; run again to resume", file=sys.stderr)
        sys.exit(INTERRUPTED)
