"""Links the objects of a build once more, into a program that needs nothing but glibc 2.28 and libgcc_s: libstdc++ and all
other libraries are in it. tools/release_portable.py calls it.

No second compilation: the linker sees libraries that name the symbols of the system's glibc with their newest version up to
2.28, and packaging/portable/older_glibc.c adds the few that are younger. A symbol that neither has ends the link (by mold). glibc never
changes what a version of a symbol does, so the same program runs on 2.28 and on all later ones.
"""

import pathlib
import re
import shlex
import subprocess

ROOT = pathlib.Path(__file__).resolve().parent.parent
GLIBC = (2, 28)
# Until 2.34 these were libraries of their own, and are loaded before libc, which had a few of their functions for programs without
# threads; later they are empty.
PARTS = ("libpthread.so.0", "libdl.so.2", "librt.so.1")
ALLOWED = {"libc.so.6", "libm.so.6", "libgcc_s.so.1", "ld-linux-x86-64.so.2", *PARTS}


def output(*words, **options):
    return subprocess.run(words, check=True, text=True, stdout=subprocess.PIPE, **options).stdout


def versions_of(path):
    """Versions of glibc that the dynamic symbols of a file need, the newest last."""
    said = output("objdump", "-T", str(path), stderr=subprocess.DEVNULL)
    return sorted({tuple(map(int, version.split("."))) for version in re.findall(r"\bGLIBC_(\d+(?:\.\d+)+)", said)})


def needed_by(path):
    """Names of the shared libraries that a file loads."""
    return re.findall(r"\(NEEDED\).*\[(.+)\]", output("readelf", "-dW", str(path)))


def symbols(library, limit):
    """(name, version, is data, bytes) of each function and variable that a library of glibc has had since `limit`."""
    newest = {}
    for line in output("readelf", "-W", "--dyn-syms", str(library)).splitlines():
        match = re.match(r"\s*\d+: \S+\s+(\d+|0x\w+) (FUNC|IFUNC|OBJECT)\s+(?:GLOBAL|WEAK)\s+DEFAULT\s+(\d+) (\w+)@@?GLIBC_([\d.]+)", line)
        if not match:
            continue
        version = tuple(map(int, match[5].split(".")))
        if version <= limit and version >= newest.get(match[4], ((0,),))[0]:
            newest[match[4]] = (version, match[2] == "OBJECT", int(match[1], 0))
    return [(name, ".".join(map(str, version)), data, size) for name, (version, data, size) in sorted(newest.items())]


def stub(folder, soname, names):
    """A library that only names symbols with their versions; it is linked against, never loaded."""
    lines = []
    for index, (name, version, data, size) in enumerate(names):
        at = f"goban_stub_{index}"
        kind = "object" if data else "function"
        lines += [".data" if data else ".text", ".balign 32", f".globl {at}", f".type {at}, @{kind}", f"{at}:",
                  f".zero {max(size, 1)}" if data else "ret", f".size {at}, .-{at}", f".symver {at}, {name}@@GLIBC_{version}, remove"]
    source, script = folder / f"{soname}.s", folder / f"{soname}.map"
    source.write_text("\n".join([*lines, '.section .note.GNU-stack,"",@progbits', ""]))
    script.write_text("".join(f"GLIBC_{version} {{ }};\n" for version in sorted({version for _, version, _, _ in names})))
    versioned = [f"-Wl,--version-script={script}"] if names else []
    subprocess.run(["gcc", "-shared", "-nostdlib", "-fuse-ld=bfd", f"-Wl,-soname,{soname}", *versioned, "-o", folder / soname, source],
                   check=True)
    return folder / soname


def system_library(name):
    return pathlib.Path(output("gcc", f"-print-file-name={name}").strip())


def glibc_words(folder, limit=GLIBC):
    """What ends a link instead of the compiler's own libraries."""
    folder.mkdir(parents=True, exist_ok=True)
    made = [stub(folder, name, symbols(system_library(name).resolve(), limit)) for name in ("libm.so.6", "libc.so.6")]
    parts = [stub(folder, name, []) for name in PARTS]
    older = folder / "older_glibc.o"
    subprocess.run(["gcc", "-O2", "-fPIC", "-Wall", "-Wextra", "-Werror", "-c", ROOT / "packaging/portable/older_glibc.c", "-o", older], check=True)
    gcc_s = output("gcc", "-print-file-name=libgcc_s.so.1").strip()
    archives = [output("g++", f"-print-file-name={name}").strip() for name in ("libstdc++.a", "libgcc.a", "libc_nonshared.a")]
    # The last word: what libgcc_s itself needs is the matter of the system that it comes from.
    return [str(word) for word in ("-nodefaultlibs", "-Wl,--entry=goban_entry", older, "-Wl,--start-group", *archives, "-Wl,--end-group",
                                   "-Wl,--no-as-needed", *parts, *made, "-Wl,--as-needed", gcc_s, "-Wl,--allow-shlib-undefined")]


def check(program, limit=GLIBC):
    """Ends with an error unless the program needs this glibc at most, and no other library."""
    newest = versions_of(program)[-1]
    foreign = set(needed_by(program)) - ALLOWED
    if newest > limit or foreign:
        raise SystemExit(f"release: {program} needs glibc {'.'.join(map(str, newest))} and {sorted(foreign)}")
    return newest


def link_command(build, target):
    """The words that link a target of a build with Ninja, run in the build's folder."""
    last = output("ninja", "-C", str(build), "-t", "commands", target).strip().splitlines()[-1]
    words = shlex.split(last)
    return [word for word in words if word not in ("&&", ":")]


def link(build, target, archives, out, folder):
    """Writes the target as a portable program to `out`. `archives`: those in place of each shared library, by its name
    without what follows ".so"."""
    words = link_command(build, target)
    words[words.index("-o") + 1] = str(out)
    mine, used = [], []
    for word in words:
        match = re.fullmatch(r"/\S*/(lib[^/]+)\.so[\d.]*", word)
        if not match:
            mine.append(word)
        elif match[1] not in archives:
            raise SystemExit(f"release: {word} has no static library in tools/portable_libraries.py")
        else:
            used += archives[match[1]]
    group = [str(path) for path in dict.fromkeys(used)]
    # Functions with equal code are linked once: nothing here compares their addresses.
    subprocess.run([*mine, "-fuse-ld=mold", "-Wl,--gc-sections", "-Wl,--icf=all", "-Wl,--start-group", *group, "-Wl,--end-group", *glibc_words(folder)], check=True, cwd=build)
    check(out)
    return [pathlib.Path(path) for path in group]
