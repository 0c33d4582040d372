#include "base/topology/topology.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <fmt/format.h>
#include <hwloc.h>
#include <memory>
#include <set>

#include "base/number.hpp"
#include "base/text.hpp"
#include "base/topology/hwloc_sets.hpp"
#include "base/topology/smi_gpus.hpp"
#include "base/topology/smi_matrix.hpp"

namespace goban::base::topology {
namespace {

constexpr int kNvidia = 0x10de;
constexpr double kNvLinkBytes = 25e9;         // of a link in one direction, Volta to Hopper
constexpr double kBlackwellLinkBytes = 50e9;  // from NVLink 5 on

using Values = std::map<std::string, std::string>;

std::string value_of(const Values& values, const std::string& path) {
  const auto found = values.find(path);
  return found == values.end() ? std::string() : found->second;
}

std::string address_of(const hwloc_obj_attr_u::hwloc_pcidev_attr_s& pci) {
  return fmt::format("{:04x}:{:02x}:{:02x}.{:x}", pci.domain, pci.bus, pci.dev, pci.func);
}

std::string cores_text(hwloc_const_cpuset_t cpus) {
  std::array<char, 1024> text{};
  hwloc_bitmap_list_snprintf(text.data(), text.size(), cpus);
  return text.data();
}

/// Socket and NUMA node of the processors that an I/O object is attached to.
void locate(hwloc_topology_t machine, hwloc_obj_t object, Device& device) {
  const hwloc_obj_t home = hwloc_get_non_io_ancestor_obj(machine, object);
  if (home == nullptr) return;
  hwloc_obj_t package = home;
  while (package != nullptr && package->type != HWLOC_OBJ_PACKAGE) package = package->parent;
  if (package != nullptr) device.package = static_cast<int>(package->os_index);
  if (hwloc_get_nbobjs_by_type(machine, HWLOC_OBJ_PACKAGE) == 1) device.package = 0;
  if (home->nodeset != nullptr && hwloc_bitmap_weight(home->nodeset) == 1) {
    device.numa = hwloc_bitmap_first(home->nodeset);
  }
}

std::vector<std::string> bridges_of(hwloc_obj_t object) {
  std::vector<std::string> out;
  for (hwloc_obj_t at = object->parent; at != nullptr; at = at->parent) {
    if (at->type != HWLOC_OBJ_BRIDGE) continue;
    const auto& bridge = at->attr->bridge;
    out.push_back(bridge.upstream_type == HWLOC_OBJ_BRIDGE_PCI
                      ? address_of(bridge.upstream.pci)
                      : fmt::format("{:04x}:{:02x}", bridge.downstream.pci.domain,
                                    bridge.downstream.pci.secondary_bus));
  }
  std::ranges::reverse(out);
  return out;
}

/// The names that the system gives a PCI device: of network cards that of RDMA alone, if it has
/// one.
std::vector<std::pair<DeviceKind, std::string>> names_of(hwloc_obj_t pci) {
  std::vector<std::pair<DeviceKind, std::string>> out;
  bool rdma = false;
  for (hwloc_obj_t io = pci->io_first_child; io != nullptr; io = io->next_sibling) {
    rdma = rdma ||
           (io->type == HWLOC_OBJ_OS_DEVICE && io->attr->osdev.type == HWLOC_OBJ_OSDEV_OPENFABRICS);
  }
  for (hwloc_obj_t io = pci->io_first_child; io != nullptr; io = io->next_sibling) {
    if (io->type != HWLOC_OBJ_OS_DEVICE || io->name == nullptr) continue;
    const auto type = io->attr->osdev.type;
    if (type == HWLOC_OBJ_OSDEV_BLOCK) out.emplace_back(DeviceKind::Disk, io->name);
    if (type == HWLOC_OBJ_OSDEV_OPENFABRICS || (type == HWLOC_OBJ_OSDEV_NETWORK && !rdma)) {
      out.emplace_back(DeviceKind::Nic, io->name);
    }
  }
  return out;
}

/// Display controllers (PCI class 3) of NVIDIA.
bool is_gpu(hwloc_obj_t pci) {
  constexpr unsigned kDisplay = 3, kByte = 8;
  const auto& attributes = pci->attr->pcidev;
  return attributes.class_id >> kByte == kDisplay && attributes.vendor_id == kNvidia;
}

void add_devices(hwloc_topology_t machine, Topology& out) {
  for (hwloc_obj_t pci = hwloc_get_next_pcidev(machine, nullptr); pci != nullptr;
       pci = hwloc_get_next_pcidev(machine, pci)) {
    const auto& attributes = pci->attr->pcidev;
    Device device;
    device.pci = address_of(attributes);
    device.model = fmt::format("{:04x}:{:04x}", attributes.vendor_id, attributes.device_id);
    device.pcie_gb_s = static_cast<double>(attributes.linkspeed);
    device.bridges = bridges_of(pci);
    locate(machine, pci, device);
    if (is_gpu(pci)) {
      device.kind = DeviceKind::Gpu;
      out.gpus.push_back(device);
      continue;
    }
    for (auto& [kind, name] : names_of(pci)) {
      device.kind = kind;
      device.name = std::move(name);
      (kind == DeviceKind::Nic ? out.nics : out.disks).push_back(device);
    }
  }
}

void add_numa_nodes(hwloc_topology_t machine, Topology& out) {
  const int count = hwloc_get_nbobjs_by_type(machine, HWLOC_OBJ_NUMANODE);
  for (int i = 0; i < count; ++i) {
    const hwloc_obj_t node =
        hwloc_get_obj_by_type(machine, HWLOC_OBJ_NUMANODE, static_cast<unsigned>(i));
    hwloc_obj_t package = node->parent;
    while (package != nullptr && package->type != HWLOC_OBJ_PACKAGE) package = package->parent;
    int number = package == nullptr ? -1 : static_cast<int>(package->os_index);
    if (number < 0 && out.packages == 1) number = 0;
    out.numa.push_back({static_cast<int>(node->os_index), number, cores_text(node->cpuset),
                        static_cast<int64_t>(node->attr->numanode.local_memory)});
  }
}

Status read_hwloc(const std::string& xml, Topology& out) {
  const auto damaged = [] {
    return bad_data({"hwloc.xml", 0, 0, {}}, "is not a topology that hwloc can read",
                    "write it with hwloc 2: lstopo --of xml > hwloc.xml");
  };
  if (auto s = check_hwloc_sets(xml, "hwloc.xml"); !s) return s;
  hwloc_topology_t machine = nullptr;
  if (hwloc_topology_init(&machine) != 0) return failed("hwloc cannot be started");
  const std::unique_ptr<hwloc_topology, decltype(&hwloc_topology_destroy)> owner(
      machine, hwloc_topology_destroy);
  hwloc_topology_set_io_types_filter(machine, HWLOC_TYPE_FILTER_KEEP_IMPORTANT);
  const int bytes = static_cast<int>(xml.size()) + 1;
  if (hwloc_topology_set_xmlbuffer(machine, xml.c_str(), bytes) != 0) return damaged();
  if (hwloc_topology_load(machine) != 0) return damaged();
  out.packages = hwloc_get_nbobjs_by_type(machine, HWLOC_OBJ_PACKAGE);
  const char* host = hwloc_obj_get_info_by_name(hwloc_get_root_obj(machine), "HostName");
  if (host != nullptr) out.host = host;
  add_numa_nodes(machine, out);
  add_devices(machine, out);
  return {};
}

/// Two devices by their bridges.
Path path_by_bridges(const Device& a, const Device& b) {
  if (!a.pci.empty() && a.pci == b.pci && a.name == b.name) return {Way::Self, 0};
  if (a.bridges.empty() || b.bridges.empty()) return {};
  const auto differ = std::ranges::mismatch(a.bridges, b.bridges);
  const auto common = static_cast<size_t>(differ.in1 - a.bridges.begin());
  if (common == 0) {
    return {a.numa >= 0 && a.numa == b.numa ? Way::Node : Way::Sys, 0};
  }
  if (common == 1) return {Way::Phb, 0};
  // Below the last common bridge each side has at most the port of one switch.
  const size_t below = std::max(a.bridges.size(), b.bridges.size()) - common;
  return {below <= 1 ? Way::Pix : Way::Pxb, 0};
}

void connect(const SmiMatrix& matrix, Topology& out) {
  const auto path = [&](const Device& a, const Device& b) {
    const auto found = matrix.find({a.name, b.name});
    return found == matrix.end() ? path_by_bridges(a, b) : found->second;
  };
  for (const Device& gpu : out.gpus) {
    std::vector<Path> gpus, nics;
    for (const Device& other : out.gpus) gpus.push_back(path(gpu, other));
    for (const Device& nic : out.nics) nics.push_back(path(gpu, nic));
    out.between_gpus.push_back(std::move(gpus));
    out.gpus_to_nics.push_back(std::move(nics));
  }
}

/// The GID of RoCE v2 that holds an IPv4 address; -1: none.
int roce_v2_index(const Values& values, const std::string& port) {
  constexpr int kMostGids = 256;
  for (int i = 0; i < kMostGids; ++i) {
    if (value_of(values, fmt::format("{}/gid_attrs/types/{}", port, i)) != "RoCE v2") continue;
    if (value_of(values, fmt::format("{}/gids/{}", port, i)).find(":ffff:") != std::string::npos) {
      return i;
    }
  }
  return -1;
}

void add_port(const Values& values, Device& nic) {
  constexpr int kMostPorts = 4;
  for (int number = 1; number <= kMostPorts; ++number) {
    const std::string port = fmt::format("/sys/class/infiniband/{}/ports/{}", nic.name, number);
    const std::string layer = value_of(values, port + "/link_layer");
    if (layer.empty()) continue;
    const bool active = value_of(values, port + "/state").find("ACTIVE") != std::string::npos;
    if (nic.port.rdma && !active) continue;  // of several ports, the last active one
    const std::string rate = value_of(values, port + "/rate");
    nic.port = {true,
                number,
                layer,
                active,
                parse_double(rate.substr(0, rate.find(' '))).value_or(0),
                layer == "Ethernet" ? roce_v2_index(values, port) : -1};
  }
  if (nic.port.rdma) return;
  const std::string interface = "/sys/class/net/" + nic.name;
  constexpr double kMegabits = 1000;
  const double rate = parse_double(value_of(values, interface + "/speed")).value_or(0);
  nic.port.active = value_of(values, interface + "/operstate") == "up";
  nic.port.rate_gbit_s = std::max(0.0, rate) / kMegabits;
}

/// The interface of the default route in /proc/net/route.
std::string default_interface(std::string_view sysfs) {
  constexpr std::string_view kRoute = "/proc/net/route:";
  for (size_t at = sysfs.find(kRoute); at != std::string_view::npos;
       at = sysfs.find(kRoute, at + 1)) {
    const std::string_view line = sysfs.substr(at, sysfs.find('\n', at) - at).substr(kRoute.size());
    const size_t tab = line.find('\t');
    if (tab != std::string_view::npos && line.substr(tab + 1).starts_with("00000000\t")) {
      return std::string(line.substr(0, tab));
    }
  }
  return {};
}

std::vector<std::string> interfaces_in(const Values& values) {
  const std::string folder = "/sys/class/net/";
  std::vector<std::string> out;
  for (auto at = values.lower_bound(folder); at != values.end(); ++at) {
    const std::string& path = at->first;
    if (!path.starts_with(folder)) break;
    std::string name = path.substr(folder.size(), path.find('/', folder.size()) - folder.size());
    if (out.empty() || out.back() != name) out.push_back(std::move(name));
  }
  return out;
}

/// What follows "path:" in all lines of a file.
std::vector<std::string> lines_of(std::string_view sysfs, const std::string& path) {
  std::vector<std::string> out;
  while (!sysfs.empty()) {
    const size_t end = std::min(sysfs.find('\n'), sysfs.size());
    const std::string_view line = sysfs.substr(0, end);
    sysfs.remove_prefix(std::min(end + 1, sysfs.size()));
    if (line.size() > path.size() && line.starts_with(path) && line[path.size()] == ':') {
      out.emplace_back(trimmed(line.substr(path.size() + 1)));
    }
  }
  return out;
}

/// Access control at bridges, the IOMMU, and files that describe a virtual machine to NCCL.
void read_isolation(const std::string& sysfs, const Values& values, Topology& out) {
  // Request redirect, completion redirect, egress control.
  constexpr int kRedirects = 0x04 | 0x08 | 0x20, kHexadecimal = 16;
  for (const std::string& line : lines_of(sysfs, "/sys/bus/pci/acs_control")) {
    out.access_control_read = true;  // a line without an address: no bridge has it
    const size_t space = line.find(' ');
    if (space == std::string::npos) continue;
    const auto control = std::strtol(line.c_str() + space, nullptr, kHexadecimal);
    if ((control & kRedirects) != 0) out.redirecting.push_back(line.substr(0, space));
  }
  for (const std::string& line : lines_of(sysfs, "/etc/nccl.conf")) {
    constexpr std::string_view kSet = "NCCL_TOPO_FILE=";
    if (line.starts_with(kSet)) out.configured_topology = line.substr(kSet.size());
  }
  for (const auto& [path, value] : values) {
    if (path.starts_with("/sys/class/iommu/")) out.iommu = true;
    if (path.ends_with(".xml") && value == "present") out.topology_files.push_back(path);
  }
}

void read_sysfs(const std::string& sysfs, Topology& out) {
  const Values values = values_of(sysfs);
  read_isolation(sysfs, values, out);
  for (Device& nic : out.nics) add_port(values, nic);
  out.control_interface = default_interface(sysfs);
  out.interfaces = interfaces_in(values);
  out.peer_memory = value_of(values, "/sys/module/nvidia_peermem/initstate") == "live";
  out.open_driver =
      value_of(values, "/proc/driver/nvidia/version").find("Open Kernel") != std::string::npos;
  out.kernel = value_of(values, "/proc/sys/kernel/osrelease");
  if (!value_of(values, "/proc/cpuinfo").empty()) {
    out.virtual_machine = value_of(values, "/sys/class/dmi/id/product_name");
    if (out.virtual_machine.empty()) out.virtual_machine = "unknown product";
  }
}

}  // namespace

const char* way_name(Way way) {
  constexpr std::array kNames = {"X", "NV", "PIX", "PXB", "PHB", "NODE", "SYS", "?"};
  return kNames.at(static_cast<size_t>(way));
}

std::vector<Island> Topology::islands() const {
  std::vector<Island> out;
  std::set<size_t> placed;
  for (size_t i = 0; i < between_gpus.size(); ++i) {
    if (placed.contains(i)) continue;
    Island island{{i}, 0};
    for (size_t j = i + 1; j < between_gpus.size(); ++j) {
      const bool all = !placed.contains(j) && std::ranges::all_of(island.gpus, [&](size_t member) {
        return between_gpus[member][j].way == Way::NvLink;
      });
      if (!all) continue;
      for (const size_t member : island.gpus) {
        const int links = between_gpus[member][j].links;
        island.links = island.links == 0 ? links : std::min(island.links, links);
      }
      island.gpus.push_back(j);
      placed.insert(j);
    }
    if (island.gpus.size() > 1) out.push_back(std::move(island));
  }
  return out;
}

std::optional<double> Topology::nvlink_bytes_per_s(const Island& island) const {
  if (island.links == 0 || island.gpus.empty()) return std::nullopt;
  const std::string& model = gpus[island.gpus.front()].model;
  const bool blackwell = std::ranges::any_of(std::array{"B100", "B200", "B300"}, [&](auto name) {
    return model.find(name) != std::string::npos;
  });
  return island.links * (blackwell ? kBlackwellLinkBytes : kNvLinkBytes);
}

std::optional<size_t> nearest_nic(const Topology& topology, size_t gpu,
                                  const std::vector<size_t>& usable) {
  const auto& paths = topology.gpus_to_nics[gpu];
  const auto found =
      std::ranges::min_element(usable, {}, [&](size_t nic) { return paths[nic].way; });
  if (found == usable.end()) return std::nullopt;
  return *found;
}

Result<Topology> topology_of(const NodeFacts& facts) {
  Topology out;
  if (auto s = read_hwloc(facts.hwloc_xml, out); !s) return failure(s.error());
  const auto matrix = parse_smi_matrix(facts.smi_topo, "smi-topo.txt");
  if (!matrix) return failure(matrix.error());
  out.driver_table = !matrix->empty();
  if (auto s = name_gpus(facts.smi_gpus, *matrix, out.gpus); !s) return failure(s.error());
  if (auto s = check_sysfs(facts.sysfs, "sysfs.txt"); !s) return failure(s.error());
  read_sysfs(facts.sysfs, out);
  out.absent = facts.absent;
  // mlx5_2 before mlx5_10.
  std::ranges::sort(out.nics, {},
                    [](const Device& nic) { return std::pair(nic.name.size(), nic.name); });
  connect(*matrix, out);
  return out;
}

}  // namespace goban::base::topology
