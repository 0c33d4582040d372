"""A real Slurm on this machine, for tests and trials: munged, slurmctld and a slurmd per node on loopback, without systemd, in a
folder and on ports of its own, so that several stand side by side. The nodes have GPUs that do not exist.

    slurm_site.py up [--folder F] [--nodes 4] [--gpus 4] [--untyped] [--database] [--network]
    slurm_site.py down | status | env [--folder F]

Needs root. Every process carries the folder in its environment (MARK): `down` finds and ends exactly these, also those of an
`up` that was killed.
"""

import argparse
import contextlib
import hashlib
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

sys.path.append(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

import node_network
from loopback_site import ROOT, LoopbackSite, processes

MARK = "GOBAN_SLURM_SITE"
PROGRAMS = ("munged", "slurmctld", "slurmd", "scontrol", "squeue", "sbatch")
DATABASE_PROGRAMS = ("slurmdbd", "mariadbd", "mariadb-install-db", "sacctmgr")
DATABASE_OPTIONS = ("--innodb-log-file-size=8M", "--debug-no-sync")  # nobody needs it after a power failure
CPUS = 16
FIRST_WITH_SHARDS = (22, 5)
FIRST_WITH_LUA_BESIDE = (21, 8)  # earlier ones look for job_submit.lua in /etc/slurm only
FIRST_WITHOUT_CGROUPS = (23, 11)  # earlier ones use cgroups only if they are told to


def missing(database=False, network=False):
    """Why no site can be started here; empty if one can."""
    if os.geteuid() != 0:
        return "needs root"
    for program in PROGRAMS + (DATABASE_PROGRAMS if database else ()):
        if not shutil.which(program, path=os.environ["PATH"] + ":/usr/sbin:/sbin"):
            return f"{program} is not installed"
    try:
        socket.gethostbyname(socket.gethostname())
    except OSError:
        return f"the host name {socket.gethostname()} does not resolve"
    return node_network.missing() if network else ""


def skip_where_missing(database=False, network=False):
    """Ends the test as skipped, with the reason, where no site can be started."""
    if why := missing(database, network):
        print(f"skipped: {why}")
        sys.exit(77)


def version():
    """(22, 5) for Slurm 22.05.8."""
    said = subprocess.run(["slurmctld", "-V"], env=dict(os.environ, PATH=os.environ["PATH"] + ":/usr/sbin:/sbin"), text=True, stdout=subprocess.PIPE,
                          check=True).stdout
    return tuple(int(part) for part in said.split()[-1].split(".")[:2])


class SlurmSite(LoopbackSite):
    """`typed`: one GRES type per GPU index (gpu:g0:1, gpu:g1:1, ...) and shards; else gpu:N. `config`: further lines of slurm.conf.
    `lua`: the text of job_submit.lua. `scheduler`: SchedulerParameters. `sleep`: nodes can be put to sleep; their slurmd ends meanwhile.
    `network`: each node has a network namespace, an address and a host name of its own. `models`: the GPU type of each node, where GPUs are
    not typed by index; "a100+v100": half of its GPUs each."""

    contents = ("etc", "munge", "run", "spool", "state", "log", "dev", "mariadb")

    def __init__(self, folder=None, nodes=4, gpus=4, typed=True, database=False, config="", lua="",
                 scheduler="sched_interval=5,bf_interval=5", network=False, sleep=False, models=()):
        super().__init__(MARK, folder)
        self.nodes, self.gpus, self.typed, self.database = nodes, gpus, typed, database
        self.config, self.lua, self.scheduler, self.sleep, self.models = config, lua, scheduler, sleep, models
        self.network = node_network.NodeNetwork(self.folder, self.node_names()) if network else None
        self.children = []
        self.environment = dict(os.environ, SLURM_CONF=self.path("etc/slurm.conf"), PATH=os.environ["PATH"] + ":/usr/sbin:/sbin",
                                LC_ALL="C.UTF-8")

    # ---- life

    def up(self):
        """Starts all daemons. Returns when every node is idle."""
        if self.own_processes():
            raise SystemExit(f"a Slurm already runs in {self.folder}; end it first (down)")
        if len(self.path("munge/munge.sock")) > 100:
            raise SystemExit(f"{self.folder}: too long for the name of a socket; use --folder")
        self.lay_out()
        if self.network:
            self.network.up()
        with self.ports_of(self.nodes + 2) as ports:
            self.write_config(ports)
            self.start("munged")
            if self.database:
                self.start_database()
            self.start("slurmctld")
            for node in self.node_names():
                self.start(node)
            self.wait_for("idle nodes", lambda: self.idle_nodes() == self.nodes, limit_s=90)
        return self

    def start_database(self):
        """Tables are made once for each release of MariaDB and Slurm, which takes most of the time, and kept for later sites."""
        releases = [subprocess.run(words, env=self.environment, text=True, stdout=subprocess.PIPE, check=True).stdout.strip()
                    for words in (["mariadbd", "--version"], ["slurmdbd", "-V"])]
        name = "slurm-database-" + hashlib.sha256("".join(releases).encode()).hexdigest()[:12]
        kept = os.path.join(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "goban", name)
        if not os.path.isdir(kept):
            self.make_database(kept)
        subprocess.run(["cp", "-a", f"{kept}/.", self.path("mariadb")], check=True)
        self.start("mariadbd")
        self.start("slurmdbd")
        self.wait_for("sacctmgr", lambda: "lab" in self.run("sacctmgr", "-n", "list", "cluster").stdout)

    def make_database(self, kept):
        with open(self.path("log/mariadb-install.out"), "wb") as out:
            subprocess.run(["mariadb-install-db", "--no-defaults", f"--datadir={self.path('mariadb')}", "--user=root",
                            "--auth-root-authentication-method=normal", "--skip-test-db", *DATABASE_OPTIONS],
                           # Two of them that share a folder for temporary tables disturb each other.
                           env={**self.environment, MARK: self.folder, "TMPDIR": self.path("run")}, stdout=out, stderr=out, check=True)
        self.start("mariadbd")
        self.start("slurmdbd")
        self.wait_for("sacctmgr", lambda: self.run("sacctmgr", "-n", "list", "cluster").returncode == 0, 60)
        self.run("sacctmgr", "-i", "add", "cluster", "lab", check=True)
        for name in ("slurmdbd", "mariadbd"):
            self.kill(name, signal.SIGTERM)
        os.makedirs(os.path.dirname(kept), exist_ok=True)
        part = tempfile.mkdtemp(prefix=os.path.basename(kept) + ".", dir=os.path.dirname(kept))
        shutil.rmtree(part)
        shutil.move(self.path("mariadb"), part)
        os.makedirs(self.path("mariadb"))
        try:
            os.rename(part, kept)
        except OSError:  # another site was quicker
            shutil.rmtree(part)

    def down(self):
        for name in self.node_names() + ["slurmctld"]:  # daemons first: they would start further processes
            for process in self.daemon(name):
                with contextlib.suppress(ProcessLookupError):
                    os.kill(process, signal.SIGKILL)
        super().down()
        network = self.network or node_network.NodeNetwork(self.folder, self.node_names())
        if network.exists():
            network.down()

    def started(self):
        return self.children

    def own_processes(self):
        """What we started, the processes of jobs, and everything below them."""
        mark, conf = f"{MARK}={self.folder}".encode(), f"SLURM_CONF={self.environment['SLURM_CONF']}".encode()
        every = processes()
        own = {process for process, (_, variables) in every.items()
               if mark in variables or (conf in variables and any(v.startswith(b"SLURMD_NODENAME=") for v in variables))}
        while True:
            more = {process for process, (parent, _) in every.items() if parent in own} - own
            if not more:
                return own - {os.getpid()}
            own |= more

    # ---- daemons, by name: munged, mariadbd, slurmdbd, slurmctld, n1, n2, ...

    def node_names(self):
        return [f"n{i + 1}" for i in range(self.nodes)]

    def command(self, name):
        conf = self.environment["SLURM_CONF"]
        if name == "munged":
            files = {"key-file": "key", "socket": "munge.sock", "pid-file": "munged.pid", "log-file": "log", "seed-file": "seed"}
            return ["munged", "--foreground", "--force", *(f"--{k}={self.path('munge/' + v)}" for k, v in files.items())]
        if name == "mariadbd":
            return ["mariadbd", "--no-defaults", f"--datadir={self.path('mariadb')}", f"--socket={self.path('run/mariadb.sock')}",
                    "--skip-networking", "--user=root", f"--tmpdir={self.path('run')}", "--innodb-buffer-pool-size=64M", "--skip-grant-tables", *DATABASE_OPTIONS]
        if name == "slurmdbd":
            return ["slurmdbd", "-D"]
        if name == "slurmctld":
            return ["slurmctld", "-D", "-f", conf]
        return ["slurmd", "-D", "-f", conf, "-N", name]

    def start(self, name, *more):
        """`more`: further options."""
        inside = self.network.inside(name) if self.network and name in self.node_names() else []
        with open(self.path(f"log/{name}.out"), "ab") as out:
            process = subprocess.Popen([*inside, *self.command(name), *more], env={**self.environment, MARK: self.folder}, cwd=self.folder,
                                       stdin=subprocess.DEVNULL, stdout=out, stderr=out, start_new_session=True)
        self.children.append(process)
        if name == "munged":
            self.wait_for("munge's socket", lambda: os.path.exists(self.path("munge/munge.sock")) or process.poll())
        elif name == "mariadbd":
            self.wait_for("MariaDB", lambda: os.path.exists(self.path("run/mariadb.sock")) or process.poll())
        return process

    def daemon(self, name):
        """Process ids of a daemon by its name (one, or none)."""
        words = self.command(name)
        mark = f"{MARK}={self.folder}".encode()
        found = []
        for process, (_, variables) in processes().items():
            with contextlib.suppress(OSError):
                with open(f"/proc/{process}/cmdline", "rb") as line:
                    if mark in variables and line.read().decode().split("\0")[:len(words)] == words:  # or with further options
                        found.append(process)
        return found

    def kill(self, name, how=signal.SIGKILL):
        """Ends a daemon and waits until it is gone. Its jobs go on."""
        for process in self.daemon(name):
            os.kill(process, how)
        for child in self.children:
            child.poll()
        self.wait_for(f"the end of {name}", lambda: not self.daemon(name), limit_s=60)
        if name == "munged":
            with contextlib.suppress(FileNotFoundError):
                os.remove(self.path("munge/munge.sock"))

    # ---- clients

    def run(self, *words, user=None, **options):
        """A client command until it exits, at most 20 s; output is text. `user`: name of the user who runs it."""
        options = {"timeout": 20, "stdin": subprocess.DEVNULL, "cwd": self.folder, **options}
        if user:
            options["user"] = user
            options["extra_groups"] = []
        return subprocess.run(words, env=self.environment, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=options.pop("check", False),
                              **options)

    def sbatch(self, *words, script="#!/bin/sh\nexec sleep 600\n", user=None):
        """The number of a new job."""
        options = {"input": script, "stdin": None} if "--wrap" not in words else {}
        ran = self.run("sbatch", "--parsable", "--output=/dev/null", *words, user=user, **options)
        if ran.returncode:
            raise SystemExit(f"sbatch {words}: {ran.stderr}")
        return ran.stdout.strip()

    def salloc(self, name, *words, user=None):
        """A client that waits for an allocation, of a name that no other job has; the job's number."""
        client = subprocess.Popen(["salloc", "-J", name, *words], env=self.environment, user=user, extra_groups=[] if user else None, cwd=self.folder,
                                  stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, start_new_session=True)
        return client, self.wait_for("the allocation", lambda: self.number_of(name))

    def number_of(self, name):
        """The number of the job of this name; empty if there is none."""
        return self.run("squeue", "-h", "-t", "all", "-n", name, "-o", "%A").stdout.strip()

    def job(self, number):
        """Fields of `scontrol -o show job -d`; empty if Slurm does not know it."""
        ran = self.run("scontrol", "-o", "show", "job", "-d", str(number))
        return dict(word.split("=", 1) for word in ran.stdout.split() if "=" in word) if ran.returncode == 0 else {}

    def state(self, number):
        return self.run("squeue", "-h", "-t", "all", "-j", str(number), "-o", "%T").stdout.strip()

    def idle_nodes(self):
        return len({line for line in self.run("sinfo", "-h", "-N", "-o", "%N %t").stdout.split("\n") if line.endswith(" idle")})

    def wait_for(self, what, holds, limit_s=30):
        end = time.monotonic() + limit_s
        while time.monotonic() < end:
            found = holds()
            if found:
                return found
            time.sleep(0.02)
        raise SystemExit(f"{what}: not within {limit_s} s; see {self.path('log')}")

    # ---- files

    def lay_out(self):
        for child in self.children:
            child.wait()
        for name in ("etc", "munge", "run", "spool", "state", "log", "dev"):
            os.makedirs(self.path(name), exist_ok=True)
        os.chmod(self.folder, 0o755)
        os.chmod(self.path("munge"), 0o711)  # users reach the socket, not the key
        self.write("munge/key", os.urandom(1024), 0o600)
        for index in range(self.gpus):
            if not os.path.exists(self.path(f"dev/nvidia{index}")):
                os.mknod(self.path(f"dev/nvidia{index}"), 0o20666, os.makedev(195, index))
        if self.database:
            os.makedirs(self.path("mariadb"), exist_ok=True)

    def write(self, name, content, mode=0o644):
        with open(self.path(name), "wb") as out:
            os.fchmod(out.fileno(), mode)
            out.write(content if isinstance(content, bytes) else content.encode())

    def write_config(self, ports):
        host, own_address = socket.gethostname(), self.network.own_address if self.network else "127.0.0.1"
        nodes = [(f"n[1-{self.nodes}]", host, own_address, f"[{ports[1]}-{ports[self.nodes]}]")]
        if self.network:
            nodes = [(name, name, self.network.address(name), ports[1]) for name in self.node_names()]
        elif self.models:
            nodes = [(name, host, own_address, ports[i + 1]) for i, name in enumerate(self.node_names())]
        has_shards = self.typed and version() >= FIRST_WITH_SHARDS
        gres = f"gpu:{self.gpus}"
        if self.typed:
            gres = ",".join(f"gpu:g{i}:1" for i in range(self.gpus)) + (f",shard:{4 * self.gpus}" if has_shards else "")
        lines = [
            "ClusterName=lab", f"SlurmctldHost={host}({own_address})", "SlurmUser=root", "SlurmdUser=root",
            "AuthType=auth/munge", f"AuthInfo=socket={self.path('munge/munge.sock')}", "CredType=cred/munge",
            f"SlurmctldPort={ports[0]}", f"SlurmctldPidFile={self.path('run/slurmctld.pid')}",
            f"SlurmdPidFile={self.path('run/slurmd-%n.pid')}", f"SlurmdSpoolDir={self.path('spool/%n')}",
            f"StateSaveLocation={self.path('state')}", f"SlurmctldLogFile={self.path('log/slurmctld.log')}",
            f"SlurmdLogFile={self.path('log/slurmd-%n.log')}",
            "ProctrackType=proctrack/linuxproc", "TaskPlugin=task/none", "JobAcctGatherType=jobacct_gather/none",
            "MpiDefault=none", "SwitchType=switch/none", "ReturnToService=2", "KillWait=2", "MinJobAge=600",
            "SlurmdParameters=config_overrides", "SchedulerType=sched/backfill",
            f"SchedulerParameters={self.scheduler}", "SelectType=select/cons_tres",
            "SelectTypeParameters=CR_Core", "GresTypes=gpu,shard" if has_shards else "GresTypes=gpu",
            *(f"NodeName={name} NodeHostname={hostname} NodeAddr={address} Port={port} CPUs={CPUS} RealMemory=5000 "
              f"Gres={self.gres_of_models(name) or gres} State=UNKNOWN" for name, hostname, address, port in nodes),
            "PartitionName=gpu Nodes=ALL Default=YES MaxTime=INFINITE State=UP",
        ]
        if self.lua:
            lines.append("JobSubmitPlugins=lua")
            self.write("etc/job_submit.lua", self.lua)
        if self.sleep:
            self.write_power_programs()
            lines += [f"SuspendProgram={self.path('etc/suspend.sh')}", f"ResumeProgram={self.path('etc/resume.sh')}", "SuspendTime=31536000",
                      "SuspendTimeout=3", "ResumeTimeout=60", "SuspendRate=0", "ResumeRate=0",
                      "SlurmctldParameters=power_save_interval=1,power_save_min_interval=0"]
        if self.database:
            port = ports[self.nodes + 1]
            sock = self.path("munge/munge.sock")
            types = ",".join(f"gres/gpu:g{i}" for i in range(self.gpus)) + (",gres/shard" if has_shards else "") if self.typed else ""
            lines += ["AccountingStorageType=accounting_storage/slurmdbd", "AccountingStorageHost=127.0.0.1",
                      f"AccountingStoragePort={port}", f"AccountingStoragePass={sock}",  # else clients try /run/munge for 20 s
                      "AccountingStorageTRES=gres/gpu" + ("," + types if types else "")]
            self.write("etc/slurmdbd.conf", "\n".join([
                "AuthType=auth/munge", f"AuthInfo=socket={sock}", "DbdAddr=127.0.0.1", f"DbdHost={host}", f"DbdPort={port}", "SlurmUser=root",
                f"PidFile={self.path('run/slurmdbd.pid')}", f"LogFile={self.path('log/slurmdbd.log')}",
                "StorageType=accounting_storage/mysql", "StorageHost=localhost", "StorageUser=root", "StorageLoc=slurm", ""]), 0o600)
            self.environment["MYSQL_UNIX_PORT"] = self.path("run/mariadb.sock")
        if version() < FIRST_WITH_LUA_BESIDE:  # only on a machine, or in a root, of its own
            os.makedirs("/etc/slurm", exist_ok=True)
            with contextlib.suppress(FileNotFoundError):
                os.unlink("/etc/slurm/job_submit.lua")
            os.symlink(self.path("etc/job_submit.lua"), "/etc/slurm/job_submit.lua")
        if version() >= FIRST_WITHOUT_CGROUPS:
            self.write("etc/cgroup.conf", "CgroupPlugin=disabled\n")
        self.write("etc/slurm.conf", "\n".join(lines) + "\n" + self.config)
        self.write("etc/gres.conf", "AutoDetect=off\n" + (
            "".join(f"NodeName=n[1-{self.nodes}] Name=gpu Type=g{i} File={self.path(f'dev/nvidia{i}')}\n" for i in range(self.gpus)) +
            (f"NodeName=n[1-{self.nodes}] Name=shard Count={4 * self.gpus}\n" if has_shards else "")
            if self.typed else "".join(f"NodeName={name} Name=gpu Type={model} File={self.path('dev/nvidia')}[{first}-{first + count - 1}]\n"
                                       for name in self.node_names() for model, first, count in self.models_of(name))
            if self.models else f"NodeName=n[1-{self.nodes}] Name=gpu File={self.path('dev/nvidia')}[0-{self.gpus - 1}]\n"))

    def models_of(self, node):
        """GPU types of a node, each with its first index and their number."""
        models = self.models[self.node_names().index(node)].split("+") if self.models else []
        count = self.gpus // max(len(models), 1)
        return [(model, i * count, count) for i, model in enumerate(models)]

    def gres_of_models(self, nodes):
        return ",".join(f"gpu:{model}:{count}" for model, _, count in self.models_of(nodes)) if self.models else ""

    def write_power_programs(self):
        """What slurmctld runs to put nodes to sleep and to wake them; log/power says when."""
        head = (f"#!/bin/sh\nexport SLURM_CONF={self.environment['SLURM_CONF']} {MARK}={self.folder} PATH={self.environment['PATH']}\n"
                "for node in $(scontrol show hostnames \"$1\"); do\n")
        log = self.path("log/power")
        self.write("etc/suspend.sh", f"{head}echo down $node >>{log}\nkill $(cat {self.path('run/slurmd-')}$node.pid)\ndone\n", 0o755)
        start = " ".join(self.command("$node"))
        self.write("etc/resume.sh", f"{head}echo up $node >>{log}\nsetsid {start} -b </dev/null >>{self.path('log/')}$node.out 2>&1 &\ndone\n", 0o755)


def main():
    parser = argparse.ArgumentParser(prog="./dev slurm", description="A real Slurm with fake GPUs on this machine.")
    parser.add_argument("action", choices=("up", "down", "status", "env"))
    parser.add_argument("--folder", default=os.path.join(ROOT, "build", "slurm"), help="where it lives (build/slurm)")
    parser.add_argument("--nodes", type=int, default=4)
    parser.add_argument("--gpus", type=int, default=4, help="per node")
    parser.add_argument("--untyped", action="store_true", help="gpu:N instead of a GRES type per GPU index")
    parser.add_argument("--database", action="store_true", help="with slurmdbd and MariaDB: accounting, limits")
    parser.add_argument("--network", action="store_true", help="each node in a network namespace, with an address of its own")
    parser.add_argument("--lua", metavar="FILE", help="a job_submit.lua")
    parser.add_argument("--config", metavar="LINE", default="", help="a further line of slurm.conf")
    options = parser.parse_args()
    lua = ""
    if options.lua:
        with open(options.lua) as file:
            lua = file.read()
    site = SlurmSite(options.folder, options.nodes, options.gpus, not options.untyped, options.database, options.config + "\n", lua,
                     network=options.network)
    why = missing(options.database, options.network)
    if why:
        raise SystemExit(f"./dev slurm: {why}")
    if options.action == "up":
        os.makedirs(site.folder, exist_ok=True)
        began = time.monotonic()
        try:
            site.up()
        except BaseException:
            if os.path.exists(site.path("log")):
                print(f"./dev slurm: it did not start; logs in {site.path('log')}, clean up with: ./dev slurm down", file=sys.stderr)
            raise
        print(f"# {site.nodes} nodes with {site.gpus} GPUs each, up after {time.monotonic() - began:.1f} s. In your shell:")
        print(f"export SLURM_CONF={site.environment['SLURM_CONF']}")
    elif options.action == "down":
        site.down()
    elif options.action == "env":
        print(f"export SLURM_CONF={site.environment['SLURM_CONF']}")
    else:
        own = site.own_processes()
        print(f"{len(own)} processes in {site.folder}")
        if own:
            print(site.run("sinfo", "-N", "-l").stdout, end="")
        sys.exit(0 if own else 1)


if __name__ == "__main__":
    main()
