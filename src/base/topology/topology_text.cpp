// A topology as text and as JSON.
#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "base/printable.hpp"
#include "base/topology/topology.hpp"

namespace goban::base::topology {
namespace {

using Json = nlohmann::json;

constexpr double kGiB = 1024.0 * 1024.0 * 1024.0, kBillion = 1e9;

std::string port_text(const Port& port) {
  std::string out = port.rdma ? (port.link_layer == "Ethernet" ? "RoCE" : port.link_layer) : "TCP";
  if (port.rate_gbit_s > 0) out += fmt::format(" {:g} Gbit/s", port.rate_gbit_s);
  return out + (port.active ? "" : ", down");
}

std::string device_text(const Device& device) {
  std::string out = fmt::format("{:<10} {}", device.name, device.pci);
  if (device.kind == DeviceKind::Nic) out += "  " + port_text(device.port);
  if (device.kind == DeviceKind::Gpu) out += "  " + device.model;
  if (device.pcie_gb_s > 0) out += fmt::format("  PCIe {:.1f} GB/s", device.pcie_gb_s);
  out.erase(out.find_last_not_of(' ') + 1);
  return out;
}

std::vector<const Device*> all_devices(const Topology& topology) {
  std::vector<const Device*> out;
  for (const auto* devices : {&topology.gpus, &topology.nics, &topology.disks}) {
    for (const Device& each : *devices) out.push_back(&each);
  }
  return out;
}

/// Draws devices under their host bridges and switches. A switch is a bridge below a root port.
void draw(const std::vector<const Device*>& devices, const std::string& indent, std::string& out) {
  constexpr size_t kUpstream = 2;  // host bridge, root port, upstream port of a switch, ...
  std::vector<const Device*> sorted = devices;
  std::ranges::stable_sort(sorted, {}, [](const Device* each) { return each->bridges; });
  std::string host, upstream;
  for (const Device* each : sorted) {
    const std::string above = each->bridges.empty() ? "" : each->bridges.front();
    if (!above.empty() && above != host) out += fmt::format("{}host bridge {}\n", indent, above);
    std::string path;
    std::vector<std::string> switches;
    for (size_t i = kUpstream; i < each->bridges.size(); i += kUpstream) {
      switches.push_back(each->bridges[i]);
    }
    if (!switches.empty()) path = fmt::format("{}", fmt::join(switches, " > "));
    if (!path.empty() && (path != upstream || above != host)) {
      out += fmt::format("{}  PCIe switch {}\n", indent, path);
    }
    host = above;
    upstream = path;
    out += fmt::format("{}{}{}\n", indent, path.empty() ? "  " : "    ", device_text(*each));
  }
}

void draw_numa(const Topology& topology, const NumaNode& node, std::string& out) {
  out += fmt::format("  NUMA node {}: cores {}, {:.0f} GiB\n", node.number, node.cores,
                     static_cast<double>(node.memory_bytes) / kGiB);
  std::vector<const Device*> here;
  for (const Device* each : all_devices(topology)) {
    if (each->numa == node.number) here.push_back(each);
  }
  draw(here, "    ", out);
}

std::string names_text(const Topology& topology, const std::vector<size_t>& gpus) {
  std::vector<std::string> names;
  for (const size_t gpu : gpus) names.push_back(topology.gpus[gpu].name);
  return fmt::format("{}", fmt::join(names, " "));
}

std::string path_text(const Path& path) {
  return path.way == Way::NvLink ? fmt::format("NV{}", path.links) : way_name(path.way);
}

void add_links(const Topology& topology, std::string& out) {
  for (const Island& island : topology.islands()) {
    out += fmt::format("NVLink island: {} ({} links between two GPUs, {:.0f} GB/s per direction)\n",
                       names_text(topology, island.gpus), island.links,
                       topology.nvlink_bytes_per_s(island).value_or(0) / kBillion);
  }
  if (topology.gpus.size() > 1 && topology.islands().empty()) {
    out += topology.driver_table ? "NVLink: none\n" : "NVLink: unknown (no nvidia-smi topo -m)\n";
  }
  std::vector<size_t> cards;
  for (size_t i = 0; i < topology.nics.size(); ++i) {
    if (topology.nics[i].port.rdma && topology.nics[i].port.active) cards.push_back(i);
  }
  for (size_t gpu = 0; gpu < topology.gpus.size(); ++gpu) {
    const auto nic = nearest_nic(topology, gpu, cards);
    if (!nic) continue;
    out += fmt::format("{}: nearest network card {} ({})\n", topology.gpus[gpu].name,
                       topology.nics[*nic].name, path_text(topology.gpus_to_nics[gpu][*nic]));
  }
}

Json device_json(const Device& device) {
  Json out = {{"name", device.name}};
  if (!device.pci.empty()) out["pci"] = device.pci;
  if (!device.model.empty()) out["model"] = device.model;
  if (device.package >= 0) out["socket"] = device.package;
  if (device.numa >= 0) out["numa"] = device.numa;
  if (device.pcie_gb_s > 0) out["pcie_gb_s"] = device.pcie_gb_s;
  if (!device.bridges.empty()) out["bridges"] = device.bridges;
  if (device.kind != DeviceKind::Nic) return out;
  out["rdma"] = device.port.rdma;
  out["active"] = device.port.active;
  if (!device.port.link_layer.empty()) out["link_layer"] = device.port.link_layer;
  if (device.port.rate_gbit_s > 0) out["rate_gbit_s"] = device.port.rate_gbit_s;
  return out;
}

Json matrix_json(const std::vector<std::vector<Path>>& paths) {
  Json out = Json::array();
  for (const auto& row : paths) {
    Json cells = Json::array();
    for (const Path& each : row) cells.push_back(path_text(each));
    out.push_back(std::move(cells));
  }
  return out;
}

}  // namespace

std::string absent_text(const Topology& topology) {
  if (topology.absent.empty()) return {};
  return fmt::format("no {}: what the machine would say there is unknown",
                     fmt::join(topology.absent, ", "));
}

std::string to_text(const Topology& topology) {
  std::string out = fmt::format(
      "{}: {} sockets, {} NUMA nodes, {} GPUs, {} network cards, {} disks{}\n",
      topology.host.empty() ? "machine" : topology.host, topology.packages, topology.numa.size(),
      topology.gpus.size(), topology.nics.size(), topology.disks.size(),
      topology.virtual_machine.empty()
          ? ""
          : fmt::format("; virtual machine ({})", topology.virtual_machine));
  for (int package = 0; package < topology.packages; ++package) {
    out += fmt::format("socket {}\n", package);
    for (const NumaNode& node : topology.numa) {
      if (node.package == package) draw_numa(topology, node, out);
    }
  }
  for (const NumaNode& node : topology.numa) {
    if (node.package < 0 || node.package >= topology.packages) draw_numa(topology, node, out);
  }
  std::vector<const Device*> elsewhere;
  for (const Device* each : all_devices(topology)) {
    if (std::ranges::none_of(topology.numa,
                             [&](const NumaNode& node) { return node.number == each->numa; })) {
      elsewhere.push_back(each);
    }
  }
  if (!elsewhere.empty()) {
    out += "at no NUMA node that is known\n";
    draw(elsewhere, "  ", out);
  }
  add_links(topology, out);
  if (!topology.absent.empty()) out += absent_text(topology) + "\n";
  return printable(out);
}

std::string to_json(const Topology& topology) {
  Json numa = Json::array(), gpus = Json::array(), nics = Json::array(), disks = Json::array(),
       islands = Json::array();
  for (const NumaNode& each : topology.numa) {
    numa.push_back({{"number", each.number},
                    {"socket", each.package},
                    {"cores", each.cores},
                    {"memory_bytes", each.memory_bytes}});
  }
  for (const Device& each : topology.gpus) gpus.push_back(device_json(each));
  for (const Device& each : topology.nics) nics.push_back(device_json(each));
  for (const Device& each : topology.disks) disks.push_back(device_json(each));
  for (const Island& each : topology.islands()) {
    Json names = Json::array();
    for (const size_t gpu : each.gpus) names.push_back(topology.gpus[gpu].name);
    islands.push_back({{"gpus", std::move(names)},
                       {"links", each.links},
                       {"bytes_per_s", topology.nvlink_bytes_per_s(each).value_or(0)}});
  }
  const Json out = {{"version", 1},
                    {"host", topology.host},
                    {"sockets", topology.packages},
                    {"numa", std::move(numa)},
                    {"gpus", std::move(gpus)},
                    {"nics", std::move(nics)},
                    {"disks", std::move(disks)},
                    {"nvlink_islands", std::move(islands)},
                    {"between_gpus", matrix_json(topology.between_gpus)},
                    {"gpus_to_nics", matrix_json(topology.gpus_to_nics)},
                    {"virtual_machine", topology.virtual_machine},
                    {"absent", topology.absent}};
  return out.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace goban::base::topology
