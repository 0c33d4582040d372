"""Limits that a process sets itself before it runs the code of somebody else. Linux.

Sources: setrlimit(2), landlock(7), seccomp(2), capabilities(7). docs/lab.md says what stays open.
"""

from __future__ import annotations

import ctypes
import errno
import os
import platform
import resource
import struct
import sys

_libc = ctypes.CDLL(None, use_errno=True)

# prctl(2)
_PR_SET_PDEATHSIG = 1
_PR_SET_DUMPABLE = 4
_PR_SET_SECCOMP = 22
_PR_SET_NO_NEW_PRIVS = 38

# System calls of x86-64 that are refused: network, other processes, the owner, mode and times of files
# (landlock has no say in these), and what changes the machine.
_DENIED = {
    "socket": 41, "connect": 42, "accept": 43, "bind": 49, "listen": 50, "socketpair": 53, "accept4": 288,
    "fork": 57, "vfork": 58, "execve": 59, "execveat": 322, "kill": 62, "tkill": 200, "tgkill": 234,
    "rt_sigqueueinfo": 129, "pidfd_open": 434, "pidfd_getfd": 438, "pidfd_send_signal": 424, "ptrace": 101,
    "process_vm_readv": 310, "process_vm_writev": 311, "unshare": 272, "setns": 308,
    "mount": 165, "umount2": 166, "chroot": 161, "bpf": 321, "userfaultfd": 323, "io_uring_setup": 425,
    "shmget": 29, "semget": 64, "msgget": 68, "perf_event_open": 298, "add_key": 248, "keyctl": 250,
    "chmod": 90, "fchmod": 91, "fchmodat": 268, "fchmodat2": 452, "chown": 92, "fchown": 93, "lchown": 94,
    "fchownat": 260, "utime": 132, "utimes": 235, "futimesat": 261, "utimensat": 280, "setxattr": 188,
    "lsetxattr": 189, "fsetxattr": 190, "removexattr": 197, "lremovexattr": 198, "fremovexattr": 199,
}  # fmt: skip
_CLONE, _CLONE3, _CLONE_THREAD, _PRLIMIT = 56, 435, 0x10000, 302


def _prctl(*values: int) -> None:
    if _libc.prctl(*(ctypes.c_ulong(value) for value in values)) != 0:
        raise OSError(ctypes.get_errno(), "prctl")


def end_with_parent() -> None:
    """The process is killed when the one that made it ends."""
    _prctl(_PR_SET_PDEATHSIG, 9, 0, 0, 0)


def hide_memory(hidden: bool) -> None:
    """Other processes of the user cannot read this one's memory, unless they may trace all."""
    _prctl(_PR_SET_DUMPABLE, 0 if hidden else 1, 0, 0, 0)


def limit_resources(cpu_s: int, mem_bytes: int) -> None:
    """At most so many CPU seconds from the start of the process, and so much memory more than now;
    no file grows. Errors: OSError, ValueError."""
    with open("/proc/self/statm", encoding="ascii") as statm:
        used = int(statm.read().split()[0]) * resource.getpagesize()
    limits = {resource.RLIMIT_CPU: (cpu_s, cpu_s + 1),
              resource.RLIMIT_AS: (used + mem_bytes, used + mem_bytes + (64 << 20)),
              resource.RLIMIT_FSIZE: (0, 0), resource.RLIMIT_CORE: (0, 0), resource.RLIMIT_NOFILE: (64, 64)}
    for limit, (soft, hard) in limits.items():
        most = resource.getrlimit(limit)[1]
        if most != resource.RLIM_INFINITY:
            soft, hard = min(soft, most), min(hard, most)
        resource.setrlimit(limit, (soft, hard))


def release_reserve() -> None:
    """After a MemoryError: a little more memory, to report it."""
    hard = resource.getrlimit(resource.RLIMIT_AS)[1]
    resource.setrlimit(resource.RLIMIT_AS, (hard, hard))


def forbid_files(readable: list[str]) -> bool:
    """No file is read except below `readable`, and none is written. False if the kernel cannot."""
    create, add, restrict = 444, 445, 446  # the same on every architecture
    abi = _libc.syscall(create, None, ctypes.c_size_t(0), 1)
    if abi < 1:
        return False
    handled = (1 << {1: 13, 2: 14, 3: 15, 4: 15}.get(abi, 16)) - 1
    attributes = struct.pack("=QQQ", handled, 3 if abi >= 4 else 0, 3 if abi >= 6 else 0)
    size = 8 if abi < 4 else 16 if abi < 6 else 24
    ruleset = _libc.syscall(create, attributes, ctypes.c_size_t(size), 0)
    if ruleset < 0:
        return False
    try:
        for path in readable:
            try:
                opened = os.open(path, os.O_PATH | os.O_CLOEXEC)
            except OSError:
                continue
            access = (1 << 2) | ((1 << 0) | (1 << 3) if os.path.isdir(path) else 0)
            rule = struct.pack("=Qi", access, opened)
            done = _libc.syscall(add, ruleset, 1, rule, 0)
            os.close(opened)
            if done != 0:
                return False
        _prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
        return bool(_libc.syscall(restrict, ruleset, 0) == 0)
    finally:
        os.close(ruleset)


def readable_by_python() -> list[str]:
    """What Python needs for imports."""
    own = os.path.dirname(os.path.abspath(__file__))
    wanted = [sys.prefix, sys.base_prefix, sys.exec_prefix, own, "/lib", "/lib64", "/usr/lib", "/usr/lib64",
              "/etc/ld.so.cache", "/dev/urandom", "/dev/null", "/usr/share/zoneinfo",
              *(path for path in sys.path if path)]
    return sorted({os.path.realpath(path) for path in wanted if os.path.exists(path)} - {"/"})


def forbid_calls() -> bool:
    """No network, no other process, no signal to one. False if the kernel cannot, or is not one for
    x86-64."""
    if platform.machine() != "x86_64" or sys.maxsize < 2**32:
        return False
    load, equal, at_least, bits, give = 0x20, 0x15, 0x35, 0x45, 0x06
    allow, refuse, kill = 0x7FFF0000, 0x00050000, 0x80000000
    program = [(load, 0, 0, 4), (equal, 1, 0, 0xC000003E), (give, 0, 0, kill),  # another architecture
               (load, 0, 0, 0), (at_least, 0, 1, 0x40000000), (give, 0, 0, refuse | errno.EPERM),  # x32
               (equal, 0, 1, _CLONE3), (give, 0, 0, refuse | errno.ENOSYS)]  # libraries fall back to clone
    for number in _DENIED.values():
        program += [(equal, 0, 1, number), (give, 0, 0, refuse | errno.EPERM)]
    # A limit of this process may be changed, which cannot raise a hard one; threads may be made.
    program += [(equal, 0, 4, _PRLIMIT), (load, 0, 0, 16), (equal, 0, 1, 0), (give, 0, 0, allow),
                (give, 0, 0, refuse | errno.EPERM)]
    program += [(equal, 1, 0, _CLONE), (give, 0, 0, allow), (load, 0, 0, 16), (bits, 0, 1, _CLONE_THREAD),
                (give, 0, 0, allow), (give, 0, 0, refuse | errno.EPERM)]
    text = b"".join(struct.pack("=HBBI", *each) for each in program)
    code = ctypes.create_string_buffer(text, len(text))

    class Program(ctypes.Structure):
        _fields_ = [("length", ctypes.c_ushort), ("code", ctypes.c_void_p)]

    filled = Program(len(program), ctypes.addressof(code))
    _prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    return bool(_libc.prctl(_PR_SET_SECCOMP, 2, ctypes.byref(filled), 0, 0) == 0)


def drop_capabilities() -> bool:
    """Root keeps its files and nothing else. False if the kernel refuses."""
    capset = {"x86_64": 126, "aarch64": 91}.get(platform.machine())
    if capset is None:
        return os.geteuid() != 0
    header = struct.pack("=Ii", 0x20080522, 0)
    return bool(_libc.syscall(capset, header, bytes(24)) == 0)
