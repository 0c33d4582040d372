#!/usr/bin/env python3
"""Writes what three known machines say about themselves, in the form of `goban doctor topology --save`.

The layouts follow published listings: the DGX A100 User Guide (`nvidia-smi topo -m`, 8 NUMA nodes, two
storage cards), HGX H100 servers with one 400 Gbit/s card per GPU, and a PCIe server without NVLink.

usage: make_fixtures.py [FOLDER]
"""

import sys
from pathlib import Path


class Xml:
    """hwloc 2 XML; sets of processors and nodes are hexadecimal masks."""

    def __init__(self, host, cores, nodes, sockets):
        self.lines, self.number, self.depth = [], 0, 0
        self.cores, self.nodes, self.sockets, self.host = cores, nodes, sockets, host

    def add(self, text):
        self.lines.append("  " * self.depth + text)

    def open(self, kind, attributes, infos=()):
        self.number += 1
        text = " ".join(f'{k}="{v}"' for k, v in attributes.items())
        self.add(f'<object type="{kind}" {text} gp_index="{self.number}">')
        self.depth += 1
        for name, value in infos:
            self.add(f'<info name="{name}" value="{value}"/>')

    def close(self):
        self.depth -= 1
        self.add("</object>")


def mask(numbers):
    value = sum(1 << n for n in numbers)
    words = []
    while value or not words:
        words.append(value & 0xFFFFFFFF)
        value >>= 32
    return ",".join(f"0x{word:08x}" for word in reversed(words))


def sets(cpus, nodes, root=False):
    out = {}
    for name, numbers in (("cpuset", cpus), ("nodeset", nodes)):
        for kind in ("", "complete_") + (("allowed_",) if root else ()):
            out[kind + name] = mask(numbers)
    return out


def pci(xml, address, kind, ids, speed, names=()):
    """A PCI device with the names (type, name) that the system gives it."""
    xml.open("PCIDev", {"pci_busid": address, "pci_type": f"{kind} [{ids}] [0000:0000] 00",
                        "pci_link_speed": f"{speed:.6f}"})
    for number, name in names:
        infos = [("NodeGUID", "0c42:a103:0000:0001")] if number == 3 else []
        xml.open("OSDev", {"name": name, "osdev_type": number}, infos)
        xml.close()
    xml.close()


def bridge(xml, address, downstream, depth, speed=31.5):
    domain, bus = address.split(":")[:2]
    xml.open("Bridge", {"bridge_type": "1-1", "depth": depth, "bridge_pci": f"{domain}:[{downstream}]",
                        "pci_busid": address, "pci_type": "0604 [1000:c010] [0000:0000] b0",
                        "pci_link_speed": f"{speed:.6f}"})


def host_bridge(xml, buses):
    xml.open("Bridge", {"bridge_type": "0-1", "depth": 0, "bridge_pci": f"0000:[{buses}]"})


def machine(host, sockets, nodes_per_socket, cores_per_node, memory, devices):
    """`devices` maps a NUMA node to a function that adds its I/O objects."""
    nodes = sockets * nodes_per_socket
    total = nodes * cores_per_node
    xml = Xml(host, total, nodes, sockets)
    cpus_of = {n: list(range(n * cores_per_node, (n + 1) * cores_per_node)) for n in range(nodes)}
    xml.open("Machine", {"os_index": 0, **sets(range(total), range(nodes), True)},
             [("Backend", "Linux"), ("HostName", host)])
    for socket in range(sockets):
        mine = range(socket * nodes_per_socket, (socket + 1) * nodes_per_socket)
        xml.open("Package", {"os_index": socket, **sets(sum((cpus_of[n] for n in mine), []), mine)})
        for node in mine:
            if nodes_per_socket > 1:
                xml.open("Group", {**sets(cpus_of[node], [node]), "kind": 1001, "subkind": 0})
            xml.open("NUMANode", {"os_index": node, **sets(cpus_of[node], [node]),
                                  "local_memory": memory})
            xml.close()
            for cpu in cpus_of[node]:
                xml.open("Core", {"os_index": cpu, **sets([cpu], [node])})
                xml.open("PU", {"os_index": cpu, **sets([cpu], [node])})
                xml.close()
                xml.close()
            if node in devices:
                devices[node](xml)
            if nodes_per_socket > 1:
                xml.close()
        xml.close()
    xml.close()
    return ('<?xml version="1.0" encoding="UTF-8"?>\n<!DOCTYPE topology SYSTEM "hwloc2.dtd">\n'
            '<topology version="2.0">\n' + "\n".join("  " + line for line in xml.lines)
            + "\n</topology>\n")


LEGEND = """
Legend:

  X    = Self
  SYS  = Connection traversing PCIe as well as the SMP interconnect between NUMA nodes (e.g., QPI/UPI)
  NODE = Connection traversing PCIe as well as the interconnect between PCIe Host Bridges within a NUMA node
  PHB  = Connection traversing PCIe as well as a PCIe Host Bridge (typically the CPU)
  PXB  = Connection traversing multiple PCIe bridges (without traversing the PCIe Host Bridge)
  PIX  = Connection traversing at most a single PCIe bridge
  NV#  = Connection traversing a bonded set of # NVLinks
"""


def matrix(gpus, nics, way, affinity, tail=""):
    names = gpus + nics
    rows = ["\t" + "\t".join(names) + "\tCPU Affinity\tNUMA Affinity"]
    for a in names:
        cells = [" X " if a == b else way(a, b) for b in names]
        rows.append(a + "\t" + "\t".join(cells) + ("\t" + affinity(a) if a in gpus else "\t\t"))
    return "\n".join(rows) + "\n" + LEGEND + tail


def infiniband(nics, layer, rate, gid=None):
    out = []
    for name, state, speed in nics:
        port = f"/sys/class/infiniband/{name}/ports/1"
        out += [f"{port}/link_layer:{layer}", f"{port}/state:{state}", f"{port}/rate:{speed or rate}"]
        if gid is not None:
            for index, (kind, address) in enumerate(gid):
                out += [f"{port}/gid_attrs/types/{index}:{kind}", f"{port}/gids/{index}:{address}"]
    return out


def access_control(*bridges):
    """Registers of bridges, as root reads them."""
    path = "/sys/bus/pci/acs_control"
    return [f"{path}:{bridge} {value}" for bridge, value in bridges] + [path + ":read"]


ROUTE = "/proc/net/route:Iface\tDestination\tGateway \tFlags\n/proc/net/route:{}\t00000000\t0100000A\t0003"


def dgx_a100():
    # Two GPUs and two compute cards below the two switches of a NUMA node.
    groups = {3: ("00", ["07", "0f"], ["0c", "12"], 0), 1: ("40", ["47", "4e"], ["4b", "54"], 2),
              7: ("80", ["87", "90"], ["8d", "94"], 6), 5: ("a0", ["b7", "bd"], ["ba", "cc"], 8)}
    gpus = {3: (0, 1), 1: (2, 3), 7: (4, 5), 5: (6, 7)}

    def group(node):
        host, gpu_buses, nic_buses, first = groups[node]

        def add(xml):
            host_bridge(xml, f"{host}-{host[0]}f")
            base = int(host, 16)
            bridge(xml, f"0000:{host}:01.1", f"{base + 1:02x}-{base + 31:02x}", 1)
            bridge(xml, f"0000:{base + 1:02x}:00.0", f"{base + 2:02x}-{base + 31:02x}", 2)
            for i in range(2):
                # A switch below the switch for each GPU with its card.
                bridge(xml, f"0000:{base + 2:02x}:{i:02x}.0", f"{base + 3 + 8 * i:02x}-{base + 9 + 8 * i:02x}", 3)
                bridge(xml, f"0000:{base + 3 + 8 * i:02x}:00.0", f"{base + 4 + 8 * i:02x}-{base + 9 + 8 * i:02x}", 4)
                bridge(xml, f"0000:{base + 4 + 8 * i:02x}:00.0", gpu_buses[i] + "-" + gpu_buses[i], 5)
                pci(xml, f"0000:{gpu_buses[i]}:00.0", "0302", "10de:20b0", 31.5)
                xml.close()
                xml.close()
                xml.close()
                bridge(xml, f"0000:{base + 2:02x}:{i + 8:02x}.0", nic_buses[i] + "-" + nic_buses[i], 3)
                pci(xml, f"0000:{nic_buses[i]}:00.0", "0207", "15b3:101b", 31.5,
                    [(2, f"ib{first + i}"), (3, f"mlx5_{first + i}")])
                xml.close()
            xml.close()
            xml.close()
            xml.close()
        return add

    def storage(xml):
        host_bridge(xml, "60-6f")
        bridge(xml, "0000:60:03.1", "61-61", 1)
        for i in range(2):
            pci(xml, f"0000:61:00.{i}", "0207", "15b3:101b", 31.5, [(2, f"ib{4 + i}"), (3, f"mlx5_{4 + i}")])
        xml.close()
        xml.close()

    def control(xml):
        host_bridge(xml, "e0-ef")
        bridge(xml, "0000:e0:01.1", "e1-e1", 1)
        for i in range(2):
            pci(xml, f"0000:e1:00.{i}", "0207", "15b3:101b", 31.5,
                [(2, f"ib{10 + i}"), (3, f"mlx5_{10 + i}")])
        xml.close()
        bridge(xml, "0000:e0:05.1", "e2-e2", 1)
        pci(xml, "0000:e2:00.0", "0200", "8086:1533", 0.5, [(2, "enp226s0")])
        xml.close()
        bridge(xml, "0000:e0:06.1", "e3-e3", 1)
        pci(xml, "0000:e3:00.0", "0108", "144d:a808", 3.9, [(0, "nvme0n1")])
        xml.close()
        xml.close()

    names = [f"mlx5_{i}" for i in range(12)]
    near = {}
    for node, (_, _, _, first) in groups.items():
        for gpu in gpus[node]:
            near[f"GPU{gpu}"] = {f"mlx5_{first}", f"mlx5_{first + 1}"}
    pairs = [{f"mlx5_{g[3]}", f"mlx5_{g[3] + 1}"} for g in groups.values()]

    def way(a, b):
        if a.startswith("GPU") and b.startswith("GPU"):
            return "NV12"
        gpu, nic = (a, b) if a.startswith("GPU") else (b, a)
        if gpu.startswith("GPU"):
            return "PXB" if nic in near[gpu] else "SYS"
        if {a, b} in pairs:
            return "PXB"
        return "PIX" if {a, b} in ({"mlx5_4", "mlx5_5"}, {"mlx5_10", "mlx5_11"}) else "SYS"

    cores = {0: "48-63,176-191\t3", 2: "16-31,144-159\t1", 4: "112-127,240-255\t7", 6: "80-95,208-223\t5"}
    xml = machine("dgx-a100", 2, 4, 4, 128 << 30,
                  {**{n: group(n) for n in groups}, 2: storage, 6: control})
    topo = matrix([f"GPU{i}" for i in range(8)], names, way, lambda g: cores[int(g[3:]) // 2 * 2])
    buses = ["07", "0f", "47", "4e", "87", "90", "b7", "bd"]
    csv = "".join(f"{i}, 00000000:{bus.upper()}:00.0, NVIDIA A100-SXM4-40GB\n" for i, bus in enumerate(buses))
    up, down = "4: ACTIVE", "1: DOWN"
    sysfs = infiniband([(n, down if n in ("mlx5_5", "mlx5_11") else up, None) for n in names],
                       "InfiniBand", "200 Gb/sec (4X HDR)")
    sysfs += ["/sys/class/net/enp226s0/operstate:up", "/sys/class/net/enp226s0/speed:1000",
              ROUTE.format("enp226s0"), "/proc/sys/kernel/osrelease:5.15.0-1042-nvidia",
              "/sys/module/nvidia_peermem/initstate:live", *access_control(("0000:02:00.0", "0"), ("0000:02:01.0", "0")),
              "/proc/driver/nvidia/version:NVRM version: NVIDIA UNIX x86_64 Kernel Module  535.129.03"]
    return {"hwloc.xml": xml, "smi-topo.txt": topo, "smi-gpus.csv": csv,
            "sysfs.txt": "\n".join(sysfs) + "\n"}


def hgx_h100():
    """One switch with a GPU and its 400 Gbit/s RoCE card; cards are named NIC0, NIC1, ... by the driver."""
    def node(number):
        def add(xml):
            for i in range(4):
                gpu = 4 * number + i
                base = 0x18 + 0x10 * gpu
                host_bridge(xml, f"{base:02x}-{base + 8:02x}")
                bridge(xml, f"0000:{base:02x}:01.0", f"{base + 1:02x}-{base + 8:02x}", 1, 63)
                bridge(xml, f"0000:{base + 1:02x}:00.0", f"{base + 2:02x}-{base + 8:02x}", 2, 63)
                bridge(xml, f"0000:{base + 2:02x}:00.0", f"{base + 3:02x}-{base + 3:02x}", 3, 63)
                pci(xml, f"0000:{base + 3:02x}:00.0", "0302", "10de:2330", 63)
                xml.close()
                bridge(xml, f"0000:{base + 2:02x}:01.0", f"{base + 4:02x}-{base + 4:02x}", 3, 63)
                pci(xml, f"0000:{base + 4:02x}:00.0", "0200", "15b3:1021", 63,
                    [(2, f"ens{gpu}np0"), (3, f"mlx5_{gpu + 1}")])
                xml.close()
                xml.close()
                xml.close()
                xml.close()
            if number == 0:
                host_bridge(xml, "10-11")
                bridge(xml, "0000:10:01.0", "11-11", 1)
                pci(xml, "0000:11:00.0", "0200", "15b3:101d", 31.5, [(2, "ens10f0np0"), (3, "mlx5_0")])
                xml.close()
                xml.close()
        return add

    nics = [f"mlx5_{i}" for i in range(9)]
    shown = [f"NIC{i}" for i in range(9)]

    def way(a, b):
        if a.startswith("GPU") and b.startswith("GPU"):
            return "NV18"

        def place(name):
            number = int(name[3:])
            if name.startswith("NIC"):
                return (number - 1) if number else -1
            return number
        first, second = place(a), place(b)
        if first == second:
            return "PIX"
        return "NODE" if (max(first, 0) // 4) == (max(second, 0) // 4) else "SYS"

    legend = "\nNIC Legend:\n\n" + "".join(f"  {s}: {n}\n" for s, n in zip(shown, nics))
    topo = matrix([f"GPU{i}" for i in range(8)], shown, way,
                  lambda g: "0-55,112-167\t0\t\tN/A" if int(g[3:]) < 4 else "56-111,168-223\t1\t\tN/A", legend)
    heading, rest = topo.split("\n", 1)
    topo = "\x1b[4m" + heading + "\tGPU NUMA ID\x1b[0m\n" + rest
    csv = "".join(f"{i}, 00000000:{0x1B + 0x10 * i:02X}:00.0, NVIDIA H100 80GB HBM3\n" for i in range(8))
    gid = [("IB/RoCE v1", "fe80:0000:0000:0000:0a00:00ff:fe00:0001"),
           ("RoCE v2", "fe80:0000:0000:0000:0a00:00ff:fe00:0001"),
           ("IB/RoCE v1", "0000:0000:0000:0000:0000:ffff:0a01:0001"),
           ("RoCE v2", "0000:0000:0000:0000:0000:ffff:0a01:0001")]
    sysfs = infiniband([(n, "4: ACTIVE", "100 Gb/sec (2X HDR)" if n == "mlx5_0" else None) for n in nics],
                       "Ethernet", "400 Gb/sec (4X NDR)", gid)
    sysfs += [ROUTE.format("bond0"), "/sys/class/iommu/dmar0:present", "/proc/sys/kernel/osrelease:6.8.0-45-generic",
              "/proc/driver/nvidia/version:NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  550.90.07"]
    return {"hwloc.xml": machine("hgx-h100", 2, 1, 4, 1 << 40, {0: node(0), 1: node(1)}),
            "smi-topo.txt": topo, "smi-gpus.csv": csv, "sysfs.txt": "\n".join(sysfs) + "\n"}


def pcie_box():
    """Four cards without NVLink: two below a switch, two at root ports; one 100 Gbit/s card."""
    def first(xml):
        host_bridge(xml, "16-1f")
        bridge(xml, "0000:16:02.0", "17-1b", 1)
        bridge(xml, "0000:17:00.0", "18-1b", 2)
        for i in range(2):
            bridge(xml, f"0000:18:{8 * i:02x}.0", f"{0x19 + i:02x}-{0x19 + i:02x}", 3)
            pci(xml, f"0000:{0x19 + i:02x}:00.0", "0302", "10de:26b9", 31.5)
            xml.close()
        xml.close()
        xml.close()
        bridge(xml, "0000:16:04.0", "1e-1e", 1)
        pci(xml, "0000:1e:00.0", "0200", "15b3:101d", 31.5, [(2, "ens1np0"), (3, "mlx5_0")])
        xml.close()
        xml.close()

    def second(xml):
        for i, bus in enumerate((0x98, 0xB8)):
            host_bridge(xml, f"{bus:02x}-{bus + 1:02x}")
            bridge(xml, f"0000:{bus:02x}:01.0", f"{bus + 1:02x}-{bus + 1:02x}", 1)
            pci(xml, f"0000:{bus + 1:02x}:00.0", "0302", "10de:26b9", 31.5)
            xml.close()
            xml.close()
        host_bridge(xml, "c8-c9")
        bridge(xml, "0000:c8:01.0", "c9-c9", 1)
        pci(xml, "0000:c9:00.0", "0108", "144d:a80a", 7.9, [(0, "nvme0n1")])
        xml.close()
        xml.close()

    def way(a, b):
        pair = {a, b}
        if pair == {"GPU0", "GPU1"}:
            return "PIX"
        if pair == {"GPU2", "GPU3"}:
            return "NODE"
        return "PHB" if pair & {"mlx5_0"} and pair & {"GPU0", "GPU1"} else "SYS"

    topo = matrix([f"GPU{i}" for i in range(4)], ["mlx5_0"], way,
                  lambda g: "0-3\t0" if g in ("GPU0", "GPU1") else "4-7\t1")
    csv = "".join(f"{i}, 00000000:{bus}:00.0, NVIDIA L40S\n" for i, bus in enumerate(["19", "1A", "99", "B9"]))
    sysfs = infiniband([("mlx5_0", "4: ACTIVE", "100 Gb/sec (4X EDR)")], "InfiniBand", "")
    sysfs += access_control(("0000:16:02.0", "1d"), ("0000:18:00.0", "1d"), ("0000:18:08.0", "1d"))
    sysfs += ["/sys/class/iommu/dmar0:present", ROUTE.format("eno1"), "/proc/sys/kernel/osrelease:6.1.0-25-amd64"]
    return {"hwloc.xml": machine("pcie-box", 2, 1, 4, 256 << 30, {0: first, 1: second}),
            "smi-topo.txt": topo, "smi-gpus.csv": csv, "sysfs.txt": "\n".join(sysfs) + "\n"}


def main():
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).resolve().parent
    for name, make in (("dgx_a100", dgx_a100), ("hgx_h100", hgx_h100), ("pcie_box", pcie_box)):
        (folder / name).mkdir(parents=True, exist_ok=True)
        for file, text in make().items():
            (folder / name / file).write_text(text)


if __name__ == "__main__":
    main()
