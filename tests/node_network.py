"""Nodes with addresses of their own on one machine: a network namespace for each, joined by a bridge, as servers by a switch.
Needs root and iproute2. What was made carries a tag in its names, so that down() also ends what a killed process left.
"""

import hashlib
import os
import subprocess

BURST_BYTES = 65536  # what may pass at once in spite of a limit


def ip(*words, check=True):
    return subprocess.run(["ip", *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=check)


def missing():
    """Why no network can be made here; empty if one can."""
    if os.geteuid() != 0:
        return "needs root"
    try:
        made = ip("netns", "add", name := f"goban-try-{os.getpid()}", check=False)
    except FileNotFoundError:
        return "iproute2 is not installed"
    if made.returncode:
        return f"no network namespaces here: {made.stderr.strip()}"
    ip("netns", "del", name)
    return ""


class NodeNetwork:
    """`tag`: a text that nobody else uses. `names`: the nodes. This machine is reached by `own_address`."""

    def __init__(self, tag, names):
        digest = hashlib.sha256(tag.encode()).digest()
        self.id = digest[:4].hex()
        self.names = list(names)
        self.bridge = f"gb{self.id}"
        self.prefix = f"10.{64 + digest[4] % 64}.{digest[5]}"
        self.own_address = f"{self.prefix}.1"

    def namespace(self, name):
        return f"goban-{self.id}-{name}"

    def address(self, name):
        return f"{self.prefix}.{10 + self.names.index(name)}"

    def port(self, name):
        """The end of the node's cable at the switch."""
        return f"gp{self.id}{self.names.index(name)}"

    def exists(self):
        return os.path.exists(f"/sys/class/net/{self.bridge}")

    def up(self):
        ip("link", "add", self.bridge, "type", "bridge")
        ip("addr", "add", f"{self.own_address}/24", "dev", self.bridge)
        ip("link", "set", self.bridge, "up")
        for name in self.names:
            space, port = self.namespace(name), self.port(name)
            ip("netns", "add", space)
            ip("link", "add", port, "type", "veth", "peer", "name", "eth0", "netns", space)
            ip("link", "set", port, "master", self.bridge, "up")
            ip("-n", space, "addr", "add", f"{self.address(name)}/24", "dev", "eth0")
            for device in ("lo", "eth0"):
                ip("-n", space, "link", "set", device, "up")

    def down(self):
        for name in self.names:
            ip("link", "del", self.port(name), check=False)  # and its other end
            ip("netns", "del", self.namespace(name), check=False)
        ip("link", "del", self.bridge, check=False)

    def inside(self, name):
        """What comes before a command to run it on a node: its network, and its host name."""
        # Not "ip netns exec": it mounts another /sys, without control groups.
        return ["nsenter", f"--net=/run/netns/{self.namespace(name)}", "unshare", "--uts", "sh", "-c", 'hostname "$0" && exec "$@"', name]

    def shape(self, mbit=None):
        """Limits what each node sends and receives to this rate; None: no limit."""
        for name in self.names:
            for words in ((["dev", self.port(name)]), (["dev", "eth0"])):
                tc = ["tc", *(["-n", self.namespace(name)] if words[1] == "eth0" else []), "qdisc"]
                subprocess.run([*tc, "del", *words, "root"], stderr=subprocess.DEVNULL, check=False)
                if mbit:
                    subprocess.run([*tc, "add", *words, "root", "tbf", "rate", f"{mbit}mbit", "burst", str(BURST_BYTES), "latency", "200ms"], check=True)

    def sent_bytes(self, name):
        """Bytes that the node has sent since its start."""
        with open(f"/sys/class/net/{self.port(name)}/statistics/rx_bytes") as count:
            return int(count.read())
