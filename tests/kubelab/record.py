"""What the API server recorded of Goban's bindings: a watch of all pods, and its audit log, which says by whose token each was written.
Two daemons that decided at once are found in it, also if no GPU was given twice for it.

Of one Lease, every holder writes marks of an epoch of its own, and a later one of a higher epoch. So in the order of the API server
(resourceVersion) the epochs of bindings never fall, and one epoch is of one daemon.
"""

import base64
import contextlib
import dataclasses
import http.client
import json
import ssl
import threading


@dataclasses.dataclass
class Bound:
    """A pod from its binding to its end."""
    name: str
    node: str
    gpus: tuple
    epoch: int
    at: int  # resourceVersion
    end: int = None  # likewise; None: it still runs
    daemon: str = ""  # by the audit log; empty: unknown

    def __str__(self):
        return f"{self.name} (epoch {self.epoch}{', ' + self.daemon if self.daemon else ''}) at {self.at} to {self.end or 'now'}"


def given_twice(bounds):
    """Each GPU that two pods held at the same time, in words."""
    wrong, holders = [], {}
    for bound in sorted(bounds, key=lambda each: each.at):
        for gpu in bound.gpus:
            before = holders.get((bound.node, gpu))
            if before and (before.end is None or before.end > bound.at):
                wrong.append(f"GPU {gpu} of {bound.node}: {before} and {bound}")
            if not before or (before.end is not None and (bound.end is None or bound.end > before.end)):
                holders[bound.node, gpu] = bound
    return wrong


def decided_at_once(bounds):
    """Each binding that shows two daemons that decided at once, in words."""
    wrong, latest, daemons = [], None, {}
    for bound in sorted(bounds, key=lambda each: each.at):
        if latest and bound.epoch < latest.epoch:
            wrong.append(f"{bound} after {latest}")
        else:
            latest = bound
        if bound.daemon and daemons.setdefault(bound.epoch, bound).daemon != bound.daemon:
            wrong.append(f"{bound} and {daemons[bound.epoch]} are of one epoch")
    return wrong


class Bindings:
    """Pods as a watch told of them, in its order."""

    def __init__(self):
        self.by_uid = {}

    def take(self, kind, pod):
        meta, spec = pod["metadata"], pod["spec"]
        version, notes = int(meta["resourceVersion"]), meta.get("annotations", {})
        bound = self.by_uid.get(meta["uid"])
        if bound is None:
            if kind == "DELETED" or not spec.get("nodeName") or not notes.get("goban.dev/run", "").startswith("goban:"):
                return
            gpus = tuple(int(gpu) for gpu in notes.get("goban.dev/gpus", "").split(",") if gpu)
            epoch = int(notes["goban.dev/run"].removeprefix("goban:").split(".")[0])
            bound = self.by_uid[meta["uid"]] = Bound(meta["name"], spec["nodeName"], gpus, epoch, version)
        if bound.end is None and (kind == "DELETED" or pod["status"].get("phase") in ("Succeeded", "Failed")):
            bound.end = version

    def take_list(self, items, version):
        """All pods, after events were missed: what is not listed has ended until then."""
        for pod in items:
            self.take("MODIFIED", pod)
        listed = {pod["metadata"]["uid"] for pod in items}
        for uid, bound in self.by_uid.items():
            if uid not in listed and bound.end is None:
                bound.end = version

    def name_daemons(self, lines, daemons):
        """`lines` of the audit log; `daemons`: by the id of their token. A server that was killed may have logged half a line, or none."""
        writers = {}
        for line in lines:
            with contextlib.suppress(ValueError, KeyError, IndexError, TypeError):
                event = json.loads(line)
                what, who = event["objectRef"], event["user"]["extra"]["authentication.kubernetes.io/credential-id"][0]
                if event["verb"] == "create" and what.get("subresource") == "binding" and event["responseStatus"]["code"] == 201:
                    writers[what["namespace"], what["name"]] = daemons[who]
        for bound in self.by_uid.values():
            bound.daemon = writers.get(("default", bound.name), "")


def id_of_token(token):
    """As the audit log names it."""
    payload = token.split(".")[1]
    return "JTI=" + json.loads(base64.urlsafe_b64decode(payload + "=" * (-len(payload) % 4)))["jti"]


class Record(threading.Thread):
    """Watches all pods of a site, also over deaths of its API server, until end()."""

    PODS = "/api/v1/namespaces/default/pods"

    def __init__(self, site):
        super().__init__(daemon=True)
        self.site, self.ends, self.bindings, self.version, self.lists = site, threading.Event(), Bindings(), None, 0

    def run(self):
        while not self.ends.is_set():
            with contextlib.suppress(OSError, RuntimeError, ValueError, http.client.HTTPException):
                if self.version is None:
                    self.list()
                self.watch()
            self.ends.wait(0.05)

    def list(self):
        answer = json.loads(self.site.get(self.PODS, raw=True))
        self.version = int(answer["metadata"]["resourceVersion"])
        self.bindings.take_list(answer["items"], self.version)
        self.lists += 1

    def watch(self):
        context = ssl.create_default_context(cafile=self.site.path("pki/ca.crt"))
        connection = http.client.HTTPSConnection("127.0.0.1", self.site.ports[2], context=context, timeout=10)
        with contextlib.closing(connection):
            connection.request("GET", f"{self.PODS}?watch=1&allowWatchBookmarks=true&timeoutSeconds=8&resourceVersion={self.version}",
                               headers={"Authorization": "Bearer admin-token"})
            stream = connection.getresponse()
            if stream.status == 410:
                self.version = None
            while stream.status == 200 and not self.ends.is_set() and (line := stream.readline()):
                event = json.loads(line)
                if event["type"] == "ERROR":
                    self.version = None
                    return
                self.version = int(event["object"]["metadata"]["resourceVersion"])
                if event["type"] != "BOOKMARK":
                    self.bindings.take(event["type"], event["object"])

    def end(self):
        """What was bound, with all that had happened before the call."""
        self.ends.set()
        self.join()
        self.list()
        return list(self.bindings.by_uid.values())
