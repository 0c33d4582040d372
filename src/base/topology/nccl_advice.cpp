#include "base/topology/nccl_advice.hpp"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>

#include "base/printable.hpp"
#include "base/shell_word.hpp"

namespace goban::base::topology {
namespace {

using Environment = std::map<std::string, std::string>;

struct Variable {
  const char *name, *remark;
};
/// Variables for debugging that do not belong into production, according to NVIDIA's guide.
constexpr std::array kDebugging = {
    Variable{"NCCL_P2P_DISABLE", "turns NVLink and PCIe peer access off"},
    Variable{"NCCL_P2P_LEVEL", "overrides the ways that NCCL uses between GPUs"},
    Variable{"NCCL_SHM_DISABLE", "turns transfers through host memory off"},
    Variable{"NCCL_IB_DISABLE", "turns InfiniBand and RoCE off: transfers go over TCP"},
    Variable{"NCCL_NET_GDR_LEVEL", "overrides the distance at which GPUDirect RDMA is used"},
    Variable{"NCCL_ALGO", "fixes the algorithm for all sizes"},
    Variable{"NCCL_PROTO", "fixes the protocol for all sizes"},
    Variable{"NCCL_NTHREADS", "overrides NCCL's choice"},
    Variable{"NCCL_MIN_NCHANNELS", "overrides NCCL's choice"},
    Variable{"NCCL_MAX_NCHANNELS", "overrides NCCL's choice"},
};

std::string value_in(const Environment& environment, const std::string& name) {
  const auto found = environment.find(name);
  return found == environment.end() ? std::string() : found->second;
}

bool near(const Path& path) { return path.way == Way::Pix || path.way == Way::Pxb; }

/// The network cards of the compute fabric, and why others were dropped.
struct Fabric {
  std::vector<size_t> nics;
  std::vector<std::string> dropped;
};

Fabric compute_fabric(const Topology& topology) {
  Fabric out;
  std::vector<size_t> left;
  for (size_t i = 0; i < topology.nics.size(); ++i) {
    const Device& nic = topology.nics[i];
    if (!nic.port.rdma) continue;
    if (nic.port.active) {
      left.push_back(i);
    } else {
      out.dropped.push_back(nic.name + ": port is down");
    }
  }
  const auto keep = [&](const auto& wanted, const std::string& reason) {
    std::erase_if(left, [&](size_t i) {
      if (wanted(i)) return false;
      out.dropped.push_back(topology.nics[i].name + ": " + reason);
      return true;
    });
  };
  const auto beside_gpu = [&](size_t nic) {
    return std::ranges::any_of(topology.gpus_to_nics,
                               [&](const auto& paths) { return near(paths[nic]); });
  };
  if (std::ranges::any_of(left, beside_gpu)) {
    keep(beside_gpu, "no GPU shares a PCIe switch with it, others do (storage or control)");
  }
  double most = 0;
  std::string layer;
  for (const size_t i : left) {
    const Port& port = topology.nics[i].port;
    const bool better =
        port.rate_gbit_s > most || (port.rate_gbit_s == most && port.link_layer == "InfiniBand");
    if (better) {
      most = port.rate_gbit_s;
      layer = port.link_layer;
    }
  }
  keep([&](size_t i) { return topology.nics[i].port.link_layer == layer; },
       fmt::format("NCCL takes one kind of link, and the faster ports are {}", layer));
  keep([&](size_t i) { return topology.nics[i].port.rate_gbit_s >= most; },
       fmt::format("slower than {:g} Gbit/s", most));
  out.nics = std::move(left);
  return out;
}

/// Sets the variable, or records that the user has set it.
void derive(NcclAdvice& out, const Environment& environment, NcclSetting setting) {
  const auto found = environment.find(setting.name);
  if (found == environment.end()) {
    out.set.push_back(std::move(setting));
    return;
  }
  const std::string& own = found->second;
  out.kept.push_back({setting.name, own,
                      own == setting.value
                          ? "the same as derived: " + setting.evidence
                          : fmt::format("derived: {} ({})", setting.value, setting.evidence)});
}

void derive_cards(const Topology& topology, const Environment& environment, const Fabric& fabric,
                  NcclAdvice& out) {
  if (fabric.nics.empty()) {
    out.left.push_back(
        {"NCCL_IB_HCA", "", "no active InfiniBand or RoCE port: between nodes NCCL uses TCP"});
    return;
  }
  std::vector<std::string> ports;
  std::set<int> indexes;
  for (const size_t i : fabric.nics) {
    const Device& nic = topology.nics[i];
    ports.push_back(fmt::format("{}:{}", nic.name, nic.port.number));
    indexes.insert(nic.port.roce_v2_index);
  }
  const Port& first = topology.nics[fabric.nics.front()].port;
  std::string evidence = fmt::format("{} active {} ports of {:g} Gbit/s", ports.size(),
                                     first.link_layer, first.rate_gbit_s);
  if (!fabric.dropped.empty()) {
    evidence += fmt::format("; dropped {}", fmt::join(fabric.dropped, "; "));
  }
  derive(out, environment,
         {"NCCL_IB_HCA", fmt::format("={}", fmt::join(ports, ",")), std::move(evidence)});
  if (first.link_layer != "Ethernet") return;
  if (indexes.size() == 1 && *indexes.begin() >= 0) {
    derive(out, environment,
           {"NCCL_IB_GID_INDEX", fmt::format("{}", *indexes.begin()),
            "the RoCE v2 entry with an IPv4 address, the same on all ports"});
  } else {
    out.left.push_back({"NCCL_IB_GID_INDEX", "",
                        "the ports have no common RoCE v2 entry with an IPv4 address; NCCL 2.21 "
                        "and later look for one on each"});
  }
}

/// The provider's description of this kind of virtual machine; empty if none is known and there.
std::string provided_file(const Topology& topology) {
  struct Provided {
    const char *path, *gpu;
  };
  constexpr std::array kProvided = {Provided{"/opt/microsoft/ndv4-topo.xml", "A100"},
                                    Provided{"/opt/microsoft/ndv5-topo.xml", "H100"},
                                    Provided{"/opt/microsoft/ndv5-topo.xml", "H200"}};
  const std::string& model = topology.gpus.front().model;
  for (const Provided& each : kProvided) {
    if (model.find(each.gpu) == std::string::npos) continue;
    if (std::ranges::find(topology.topology_files, each.path) != topology.topology_files.end()) {
      return each.path;
    }
  }
  return {};
}

/// NCCL_TOPO_FILE, where the machine does not show how its GPUs are connected.
void explain_topology_file(const Topology& topology, const Environment& environment,
                           NcclAdvice& out) {
  constexpr const char* kName = "NCCL_TOPO_FILE";
  constexpr size_t kWithSwitch = 3;  // host bridge, root port, switch
  const auto hidden = [](size_t bridges) {
    return [bridges](const Device& gpu) { return gpu.bridges.size() < bridges; };
  };
  if (topology.gpus.size() < 2 || !std::ranges::all_of(topology.gpus, hidden(kWithSwitch))) return;
  const std::string own = value_in(environment, kName);
  const bool nowhere = std::ranges::all_of(topology.gpus, hidden(1));
  if (topology.virtual_machine.empty() && !nowhere) return;
  if (!topology.configured_topology.empty()) {
    out.left.push_back({kName, "", "/etc/nccl.conf names " + topology.configured_topology});
    return;
  }
  for (const std::string& each : topology.topology_files) {
    if (!each.ends_with("/virtualTopology.xml")) continue;
    out.left.push_back({kName, own, "NCCL reads " + each + " by itself"});
    return;
  }
  const std::string file = provided_file(topology);
  if (!file.empty()) {
    derive(out, environment,
           {kName, file,
            "this virtual machine shows no PCIe switches; the file of its provider "
            "describes them"});
    return;
  }
  out.left.push_back(
      {kName, own,
       nowhere ? "the PCIe tree is hidden, as in some containers: run once on the host with "
                 "NCCL_TOPO_DUMP_FILE=FILE, and give the file to containers as NCCL_TOPO_FILE"
               : "this virtual machine shows no PCIe switches; if the hardware has them, set it to "
                 "the provider's file"});
}

void explain_the_rest(const Topology& topology, const Environment& environment,
                      const Fabric& fabric, NcclAdvice& out) {
  if (topology.gpus.size() > 1) {
    out.left.push_back({"NCCL_P2P_LEVEL", "",
                        topology.driver_table && topology.islands().empty()
                            ? "no NVLink; NCCL uses peer access over PCIe switches by itself"
                            : "NCCL uses NVLink by itself; where it does not, look for isolation "
                              "(containers, ACS, fabric manager) and not for a variable"});
  }
  if (!fabric.nics.empty()) {
    out.left.push_back({"NCCL_NET_GDR_LEVEL", "",
                        "NCCL uses GPUDirect RDMA below a common PCIe switch; set it only if a "
                        "measurement shows a gain"});
    out.left.push_back({"NCCL_CROSS_NIC", "",
                        "0 only on a fabric with one switch per rail, which a node cannot see"});
  }
  explain_topology_file(topology, environment, out);
}

/// A list for NCCL: names that begin with one of its parts, after '=' those that are equal to one;
/// a card may be followed by its port. A list after '^' excludes, which may be nothing.
void check_names(const char* variable, const char* what, const Environment& environment,
                 const std::vector<std::string>& present, NcclAdvice& out) {
  const std::string value = value_in(environment, variable);
  if (value.empty() || value.starts_with('^')) return;
  const bool exact = value.starts_with('=');
  std::string_view rest = std::string_view(value).substr(exact ? 1 : 0);
  while (!rest.empty()) {
    const std::string_view part = rest.substr(0, rest.find(','));
    rest.remove_prefix(std::min(rest.size(), part.size() + 1));
    const std::string_view name = part.substr(0, part.find(':'));
    const bool found = std::ranges::any_of(present, [&](const std::string& each) {
      return exact ? each == name : each.starts_with(name);
    });
    if (found) continue;
    out.problems.push_back(
        {variable, value,
         fmt::format("no {} of this machine {} {}", what, exact ? "is" : "begins with", name)});
  }
}

void check_environment(const Topology& topology, const Environment& environment, NcclAdvice& out) {
  for (const Variable& each : kDebugging) {
    const std::string value = value_in(environment, each.name);
    if (value.empty()) continue;
    out.problems.push_back(
        {each.name, value,
         fmt::format("{}; for debugging only, remove it from jobs", each.remark)});
  }
  std::vector<std::string> cards;
  for (const Device& nic : topology.nics) {
    if (nic.port.rdma) cards.push_back(nic.name);
  }
  check_names("NCCL_IB_HCA", "RDMA card", environment, cards, out);
  std::string interface = value_in(environment, "NCCL_SOCKET_IFNAME");
  if (!topology.interfaces.empty()) {
    check_names("NCCL_SOCKET_IFNAME", "network interface", environment, topology.interfaces, out);
  } else if (!interface.empty()) {
    out.problems.push_back({"NCCL_SOCKET_IFNAME", interface,
                            "cannot be checked: the saved files name no network interfaces"});
  }
  interface.erase(0, interface.find_first_not_of('='));
  const bool loopback = interface == "lo" || interface == "127.0.0.1";
  if (loopback) {
    out.problems.push_back({"NCCL_SOCKET_IFNAME", interface, "other nodes cannot reach loopback"});
  }
}

/// A card for each GPU: the nearest, and of equally near ones that which the fewest GPUs have.
std::vector<std::optional<size_t>> cards_of(const Topology& topology, const Fabric& fabric) {
  std::vector<std::optional<size_t>> out;
  for (size_t gpu = 0; gpu < topology.gpus.size(); ++gpu) {
    const auto& paths = topology.gpus_to_nics[gpu];
    const auto found = std::ranges::min_element(fabric.nics, {}, [&](size_t nic) {
      return std::pair(paths[nic].way, std::ranges::count(out, std::optional(nic)));
    });
    out.push_back(found == fabric.nics.end() ? std::nullopt : std::optional(*found));
  }
  return out;
}

/// Two devices below one switch, and the bridges between them whose ACS redirects transfers.
struct Detour {
  std::string between;
  std::set<std::string> bridges;
};

std::vector<Detour> detours(const Topology& topology, const Fabric& fabric) {
  std::vector<Detour> out;
  const auto look = [&](const Device& a, const Device& b, const Path& path) {
    if (!near(path)) return;
    const auto differ = std::ranges::mismatch(a.bridges, b.bridges);
    Detour found{fmt::format("{} and {}", a.name, b.name), {}};
    for (const auto& [from, end] :
         {std::pair(differ.in1, a.bridges.end()), std::pair(differ.in2, b.bridges.end())}) {
      for (auto at = from; at != end; ++at) {
        if (std::ranges::find(topology.redirecting, *at) != topology.redirecting.end()) {
          found.bridges.insert(*at);
        }
      }
    }
    if (!found.bridges.empty()) out.push_back(std::move(found));
  };
  for (size_t i = 0; i < topology.gpus.size(); ++i) {
    for (size_t j = i + 1; j < topology.gpus.size(); ++j) {
      look(topology.gpus[i], topology.gpus[j], topology.between_gpus[i][j]);
    }
    for (const size_t nic : fabric.nics) {
      look(topology.gpus[i], topology.nics[nic], topology.gpus_to_nics[i][nic]);
    }
  }
  return out;
}

/// Access control services (ACS) of PCIe switches: NVIDIA's guide of NCCL, "Troubleshooting".
void check_access_control(const Topology& topology, const Fabric& fabric, NcclAdvice& out) {
  const std::vector<Detour> found = detours(topology, fabric);
  if (!found.empty()) {
    std::set<std::string> bridges;
    for (const Detour& each : found) bridges.insert(each.bridges.begin(), each.bridges.end());
    std::string remedy =
        "switch it off: ACS or the IOMMU (VT-d) in the BIOS, or as root after each start of the "
        "machine setpci -s BRIDGE ECAP_ACS+0x6.w=0000";
    if (!topology.virtual_machine.empty()) {
      remedy =
          "virtual machines need it: let the host switch on address translation (ATS) in the "
          "network cards, and direct translated transfers in ACS";
    }
    out.problems.push_back(
        {"", "",
         fmt::format("PCIe access control (ACS) sends transfers between devices below one switch "
                     "up to the processor: {}{}; on at {}. {}",
                     found.front().between,
                     found.size() > 1 ? fmt::format(" and {} other pairs", found.size() - 1) : "",
                     fmt::join(bridges, ", "), remedy)});
    return;
  }
  const bool matters = topology.gpus.size() > 1 || (!topology.gpus.empty() && !fabric.nics.empty());
  if (topology.access_control_read || !matters) return;
  out.left.push_back(
      {"", "",
       fmt::format("PCIe access control (ACS) is not known: only root can read it (sudo goban "
                   "doctor nccl){}",
                   topology.iommu ? ". The IOMMU is on, and with it Linux switches ACS on, which "
                                    "slows transfers below a switch down"
                                  : "")});
}

/// What keeps GPUs and cards from working together.
void check_machine(const Topology& topology, const Fabric& fabric, NcclAdvice& out) {
  if (!fabric.nics.empty() && !topology.gpus.empty() && !topology.peer_memory &&
      !topology.open_driver) {
    out.problems.push_back({"", "",
                            "GPUDirect RDMA has no way into GPU memory: nvidia_peermem is not "
                            "loaded, and the driver is not the open one (dma-buf); modprobe "
                            "nvidia_peermem"});
  }
  const auto cards = cards_of(topology, fabric);
  for (size_t gpu = 0; gpu < topology.gpus.size(); ++gpu) {
    const auto nic = cards[gpu];
    const Device& device = topology.gpus[gpu];
    std::string line = device.name;
    if (nic) {
      const Path& path = topology.gpus_to_nics[gpu][*nic];
      line += fmt::format(" - {} ({})", topology.nics[*nic].name, way_name(path.way));
      if (path.way > Way::Pxb && path.way != Way::Unknown) {
        out.problems.push_back(
            {"", "",
             fmt::format("{}: the nearest network card, {}, is at distance {}; "
                         "NCCL copies through host memory beyond PXB",
                         device.name, topology.nics[*nic].name, way_name(path.way))});
      }
    }
    const auto node = std::ranges::find(topology.numa, device.numa, &NumaNode::number);
    if (node != topology.numa.end()) {
      line += fmt::format(" - NUMA node {}, cores {}", node->number, node->cores);
    }
    out.binding.push_back(std::move(line));
  }
}

nlohmann::json settings_json(const std::vector<NcclSetting>& settings) {
  nlohmann::json out = nlohmann::json::array();
  for (const NcclSetting& each : settings) {
    out.push_back({{"name", each.name}, {"value", each.value}, {"evidence", each.evidence}});
  }
  return out;
}

/// For a shell: in single quotes if it has characters other than these.
std::string shell_word(const std::string& text) {
  const bool plain = std::ranges::all_of(text, [](unsigned char c) {
    return std::isalnum(c) != 0 ||
           std::string_view("=:,_-./").find(static_cast<char>(c)) != std::string_view::npos;
  });
  return plain ? text : shell_quoted(text);
}

}  // namespace

NcclAdvice nccl_advice(const Topology& topology, const Environment& environment) {
  NcclAdvice out;
  const Fabric fabric = compute_fabric(topology);
  if (topology.control_interface.empty()) {
    out.left.push_back({"NCCL_SOCKET_IFNAME", "", "this machine has no default route"});
  } else {
    derive(out, environment,
           {"NCCL_SOCKET_IFNAME", "=" + topology.control_interface,
            "the interface of the default route"});
  }
  derive_cards(topology, environment, fabric, out);
  explain_the_rest(topology, environment, fabric, out);
  check_environment(topology, environment, out);
  check_machine(topology, fabric, out);
  check_access_control(topology, fabric, out);
  if (!topology.absent.empty()) out.problems.push_back({"", "", absent_text(topology)});
  return out;
}

std::string to_text(const NcclAdvice& advice) {
  std::string out;
  const auto part = [&](const char* title, const std::vector<NcclSetting>& settings) {
    if (settings.empty()) return;
    out += fmt::format("{}\n", title);
    for (const NcclSetting& each : settings) {
      std::string name = each.name;
      if (!each.value.empty()) name += "=" + each.value;
      out += name.empty() ? fmt::format("  {}\n", each.evidence)
                          : fmt::format("  {}\n      {}\n", name, each.evidence);
    }
  };
  part("derived", advice.set);
  part("set by you, and kept", advice.kept);
  part("left to NCCL", advice.left);
  part("problems", advice.problems);
  if (!advice.binding.empty()) {
    out += "rank on GPU - network card - processor\n";
    for (const std::string& each : advice.binding) out += "  " + each + "\n";
  }
  out +=
      "to check: run once with NCCL_DEBUG=INFO NCCL_DEBUG_SUBSYS=INIT,NET,GRAPH,ENV "
      "NCCL_DEBUG_FILE=nccl.%h.%p, then goban doctor nccl --verify FILE\n";
  return printable(out);
}

std::string to_json(const NcclAdvice& advice) {
  const nlohmann::json out = {{"version", 1},
                              {"set", settings_json(advice.set)},
                              {"kept", settings_json(advice.kept)},
                              {"left", settings_json(advice.left)},
                              {"problems", settings_json(advice.problems)},
                              {"binding", advice.binding}};
  return out.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

std::string export_lines(const NcclAdvice& advice) {
  std::string out;
  for (const NcclSetting& each : advice.set) {
    out += fmt::format("export {}={}\n", each.name, shell_word(each.value));
  }
  return out;
}

}  // namespace goban::base::topology
