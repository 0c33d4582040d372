#!/usr/bin/env python3
"""Fetches the public data sets of goban_data.toml that tests, studies and docs use.

Every file is checked against its SHA-256 sum before it is installed. An interrupted download is
resumed by the next run. Files that are present and intact are kept.

The data folder is --to, else $GOBAN_DATA, else ~/.cache/goban/data. Tests use it, and data/ of the
folder $GOBAN_SHARED (default: shared/ next to the checkout).
"""

import argparse
import fcntl
import gzip
import hashlib
import http.client
import io
import json
import os
import sys
import tarfile
import urllib.error
import urllib.parse
import urllib.request
from dataclasses import dataclass
from pathlib import Path

try:
    import tomllib
except ModuleNotFoundError:
    sys.exit("data: Python 3.11 or later is needed")

ROOT = Path(__file__).resolve().parent.parent
TABLE = Path(__file__).resolve().with_name("goban_data.toml")
PROGRAM = "./dev data" if (ROOT / "dev").is_file() else "goban data"  # the checkout, or an installation
ATTEMPTS = 3  # per address; each resumes where the last one was interrupted
FAILED, USAGE, BAD_DATA, INTERRUPTED = 1, 2, 3, 130


class Problem(Exception):
    """An error about a file, and its remedy."""

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
    """The data sets, and the unpublished files. Raises Problem."""
    def row(kind, values, where):
        try:
            return kind(**values)
        except TypeError as error:
            raise Problem(f"{where}: {str(error).split('() ')[-1]}", "correct the table") from error

    try:
        document = tomllib.loads(Path(table).read_text(encoding="utf-8"))
    except (OSError, tomllib.TOMLDecodeError) as error:
        raise Problem(str(error), "correct the table") from error
    sets = []
    for values in document.get("set", []):
        name = values.get("name", "?")
        files = [row(DataFile, each, f"{name}: {each.get('path', '?')}")
                 for each in values.pop("file", [])]
        for file in files:
            if file.path.startswith("/") or ".." in Path(file.path).parts:
                raise Problem(f"{name}: {file.path} is outside the data folder", "correct the table")
        sets.append(row(DataSet, {**values, "files": files}, name))
    return sets, [row(Unpublished, each, "unpublished") for each in document.get("unpublished", [])]


# ---- Where the data is --------------------------------------------------------------------------

def data_folder():
    return Path(os.environ.get("GOBAN_DATA") or Path.home() / ".cache" / "goban" / "data")


def find(path):
    """The location of a file or folder of the data, or None. Same rules as src/base/test_data.hpp."""
    shared = Path(os.environ.get("GOBAN_SHARED") or ROOT.parent / "shared") / "data"
    for folder in (data_folder(), shared):
        if (folder / path).exists():
            return folder / path
    return None


def advice(path):
    """A phrase on why a path of the data may be absent, or how to get it."""
    sets, unpublished = load()
    for each in unpublished:
        if path.startswith(each.path):
            return f"{each.path}: {each.why}"
    for each in sets:
        if any(file.path.startswith(path) for file in each.files):
            return f"{PROGRAM} {each.name}"
    return PROGRAM


# ---- Fetching -----------------------------------------------------------------------------------

def copy(source, target, done, total, show):
    while block := source.read1(1 << 16):  # all available bytes, so that a stall loses none of them
        target.write(block)
        done += len(block)
        show(done, total)
    return done


def download(address, part, timeout, show):
    """Appends the missing bytes of the file at the address to `part`. Received bytes are kept on errors."""
    done = part.stat().st_size if part.exists() else 0
    request = urllib.request.Request(address, headers={"User-Agent": "goban-dev-data"})
    if done:
        request.add_header("Range", f"bytes={done}-")
    with urllib.request.urlopen(request, timeout=timeout) as answer:
        if answer.status != 206:
            done = 0  # the server sends the complete file
        length = answer.headers.get("Content-Length")
        total = done + int(length) if length is not None else None
        with open(part, "ab" if done else "wb") as target:
            done = copy(answer, target, done, total, show)
    if total is not None and done != total:
        raise TimeoutError(f"the connection closed after {done} of {total} bytes")


def download_persistently(address, part, timeout, show):
    """The bytes at the address. Resumes up to ATTEMPTS times after a stall or a lost connection."""
    for attempt in range(1, ATTEMPTS + 1):
        try:
            download(address, part, timeout, show)
            return part.read_bytes()
        except urllib.error.HTTPError as error:
            if error.code == 416:  # the part is complete, or belongs to another file
                part.unlink()
            elif error.code < 500 or attempt == ATTEMPTS:
                raise Problem(f"the server responded with {error.code} {error.reason}",
                              "the file may have moved; give another address with --mirror",
                              address=address) from error
        except (OSError, http.client.HTTPException) as error:
            if attempt == ATTEMPTS:
                reason = getattr(error, "reason", error)
                if isinstance(reason, TimeoutError) and "timed out" in str(reason):
                    reason = f"no data for {timeout:g} s"
                raise Problem(f"not reached after {ATTEMPTS} attempts: {reason}",
                              "run again to resume, or give another address with --mirror",
                              address=address) from error
    raise Problem("the server does not send the file from its start", "give --mirror",
                  address=address)


def unpacked(data, file, packed_as):
    """The content of a file that was packed as `packed_as`: an archive, gzip, or plain."""
    try:
        if file.member and packed_as.endswith((".tar.gz", ".tgz", ".tar")):
            with tarfile.open(fileobj=io.BytesIO(data)) as archive:
                names = archive.getnames()
                for name in names:
                    if name.rsplit("/", 1)[-1] == file.member and archive.getmember(name).isfile():
                        return archive.extractfile(name).read()
            raise Problem(f"{file.member} is not in the archive; it contains {', '.join(names[:5])}",
                          "the archive changed; give another address with --mirror")
        return gzip.decompress(data) if packed_as.endswith(".gz") else data
    except (OSError, EOFError, tarfile.TarError) as error:
        raise Problem(f"cannot unpack: {error}", "give another address with --mirror") from error


def check(content, file):
    found = hashlib.sha256(content).hexdigest()
    if found != file.sha256:
        raise Problem("wrong checksum", "the file at that address changed or is damaged; "
                      "give another address with --mirror",
                      expected=f"{file.sha256} ({file.bytes} bytes)",
                      found=f"{found} ({len(content)} bytes)")


def is_whole(path, file):
    try:
        check(unpacked(path.read_bytes(), file, file.path), file)
    except (OSError, Problem):
        return False
    return True


def place(content, file, folder):
    """Writes a temporary file and renames it, so that readers see a complete file or none."""
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
    """Fetches one file from one address; starts again if a resumed download is damaged."""
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
    """(address, name whose extension gives the packing) in the order to try."""
    if not mirror:
        return [(address, urllib.parse.urlsplit(address).path) for address in file.address]
    if mirror.startswith(("http://", "https://")):
        return [(f"{mirror.rstrip('/')}/{urllib.parse.quote(file.path)}", file.path)]
    return [(str(Path(mirror) / file.path), file.path)]


def fetch(file, folder, options):
    """Fetches a file from the first address that works; raises the last Problem if all fail."""
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

def list_json(sets, unpublished, folder):
    document = {"folder": str(folder), "sets": [], "unpublished": [vars(each) for each in unpublished]}
    for each in sets:
        files = [{"path": file.path, "bytes": file.bytes, "sha256": file.sha256,
                  "present": is_whole(folder / file.path, file)} for file in each.files]
        document["sets"].append({**vars(each), "files": files})
    print(json.dumps(document, indent=2))


def list_sets(sets, unpublished, folder):
    for each in sets:
        whole = sum(is_whole(folder / file.path, file) for file in each.files)
        size = sum(file.bytes for file in each.files) / 1e6
        print(f"{each.name}: {each.about}\n    {whole} of {len(each.files)} files present, "
              f"{size:.1f} MB unpacked; {each.licence}\n    from {each.source}\n"
              f"    for {each.used_by}")
    print(f"\nthe data folder is {folder}\n\nnot published, cannot be fetched:")
    for each in unpublished:
        print(f"{each.path}: {each.why}\n    instead: {each.instead}")


def fetch_sets(sets, folder, options):
    """Says what is missing and how large it is, then fetches it; continues after a failure."""
    fetched = failed = 0
    missing = {each.name: [file for file in each.files if not is_whole(folder / file.path, file)] for each in sets}
    here = sum(len(each.files) - len(missing[each.name]) for each in sets)
    files = [file for absent in missing.values() for file in absent]
    if files:
        names = ", ".join(name for name, absent in missing.items() if absent)
        print(f"to fetch: {len(files)} files, {sum(file.bytes for file in files) / 1e6:.1f} MB unpacked, into {folder}: {names}\n"
              f"({PROGRAM} NAME... fetches some of them; after an interruption, the next call goes on)", flush=True)
    for each in sets:
        if missing[each.name]:
            print(f"{each.name}: {each.about} ({each.licence})", flush=True)
        for file in missing[each.name]:
            try:
                fetch(file, folder, options)
                print(f"  {file.path}: fetched, {file.bytes} bytes unpacked", flush=True)
                fetched += 1
            except Problem as problem:
                print(problem.report(f"  {file.path}"), file=sys.stderr, flush=True)
                failed += 1
    print(f"{here} files were present, {fetched} fetched, {failed} failed; the data folder is {folder}")
    return FAILED if failed else 0


def parse(arguments):
    parser = argparse.ArgumentParser(
        prog=PROGRAM, description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help="a data set (default: all)")
    parser.add_argument("--list", action="store_true", help="list the data sets, and which files are present")
    parser.add_argument("--json", action="store_true", help="with --list: print JSON only")
    parser.add_argument("--mirror", metavar="URL|FOLDER",
                        help="a copy of the data folder, used instead of the published addresses")
    parser.add_argument("--to", metavar="FOLDER", type=Path, help="the data folder")
    parser.add_argument("--timeout", metavar="S", type=float, default=30,
                        help="abort a connection that sends nothing for S seconds (default: 30)")
    parser.add_argument("--find", metavar="PATH", help="print where a file or folder of the data is")
    parser.add_argument("--table", type=Path, default=TABLE, help=argparse.SUPPRESS)
    return parser.parse_args(arguments)


def main():
    options = parse(sys.argv[1:])
    if options.json and not options.list:
        print("data: --json goes with --list", file=sys.stderr)
        return USAGE
    if options.find:
        found = find(options.find)
        if found:
            print(found)
        return 0 if found else FAILED
    folder = (options.to or data_folder()).absolute()
    try:
        sets, unpublished = load(options.table)
    except Problem as problem:
        print(problem.report(f"data: {options.table}"), file=sys.stderr)
        return BAD_DATA
    known = {each.name: each for each in sets}
    unknown = [name for name in options.names if name not in known]
    if unknown:
        print(f"data: unknown data set {', '.join(unknown)}; known: {', '.join(known)}",
              file=sys.stderr)
        return USAGE
    chosen = [known[name] for name in options.names] or sets
    if options.list:
        (list_json if options.json else list_sets)(chosen, unpublished, folder)
        sys.stdout.flush()
        return 0
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with open(folder / ".lock", "w", encoding="utf-8") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return fetch_sets(chosen, folder, options)
    except BlockingIOError:
        print(f"data: another {PROGRAM} is fetching into {folder}; wait for it", file=sys.stderr)
    except OSError as error:
        print(f"data: {error}\n    remedy: give a writable folder with enough space (--to)",
              file=sys.stderr)
    return FAILED


if __name__ == "__main__":
    try:
        sys.exit(main())
    except BrokenPipeError:  # the reader of the list has closed it
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except OSError as error:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        print(f"data: cannot write standard output: {error.strerror}", file=sys.stderr)
        sys.exit(FAILED)
    except KeyboardInterrupt:
        print("data: interrupted; run again to resume", file=sys.stderr)
        sys.exit(INTERRUPTED)
