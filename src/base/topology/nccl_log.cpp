#include "base/topology/nccl_log.hpp"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "base/printable.hpp"
#include "base/text.hpp"

namespace goban::base::topology {
namespace {

constexpr size_t kMostNames = 10'000;

/// A message that explains why something is not used: between GPUs, or between nodes.
struct Hint {
  std::string_view message;
  bool between_gpus;
  std::string_view meaning;
};
constexpr std::array kHints = {
    Hint{"P2P is disabled between", true,
         "the driver refuses peer access between GPUs: containers that see single GPUs, ACS or "
         "IOMMU, or a missing fabric manager"},
    Hint{"Could not enable P2P between", true,
         "the driver refuses peer access between GPUs: check /dev/nvidia*, the container's IPC "
         "namespace, ACS and IOMMU"},
    Hint{"fabric manager", true, "the fabric manager of the NVSwitches is not ready"},
    Hint{"No device found", false,
         "NCCL sees no InfiniBand or RoCE card: mount /dev/infiniband into the container, check "
         "NCCL_IB_HCA"},
    Hint{"Failed to open libibverbs", false, "libibverbs is not installed where the job runs"},
    Hint{"Call to ibv_modify_qp failed", false,
         "the RoCE GID or the fabric's partition key is wrong"},
};

bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

/// The text after `before` up to one of the characters `ends`; empty if `before` is absent.
std::string_view after(std::string_view text, std::string_view before, std::string_view ends) {
  const size_t at = text.find(before);
  if (at == std::string_view::npos) return {};
  const std::string_view rest = text.substr(at + before.size());
  return rest.substr(0, rest.find_first_of(ends));
}

/// "NVL/PIX" of a line with the search's result.
void read_pattern(std::string_view message, NcclLog& out) {
  const std::string_view ways = after(message, ", type ", ",");
  const size_t slash = ways.find('/');
  if (slash == std::string_view::npos) return;
  // Without a channel the search has found nothing.
  if (after(message, "nChannels ", ",") == "0") return;
  out.ways_inside.emplace(ways.substr(0, slash));
  out.ways_outside.emplace(ways.substr(slash + 1));
}

void read_channel(std::string_view message, NcclLog& out) {
  const std::string_view via = message.substr(message.find(" via ") + 5);
  if (via.starts_with("P2P/")) {
    ++out.p2p;
  } else if (via.starts_with("SHM")) {
    ++out.shm;
  } else if (via.starts_with("NET/Socket")) {
    ++out.sockets;
  } else if (via.starts_with("NET/") || via.starts_with("COLLNET/")) {
    ++(contains(via, "/GDRDMA") ? out.rdma_direct : out.rdma_bounced);
  } else {
    ++out.other;
  }
}

void read_message(std::string_view message, NcclLog& out) {
  if (message.starts_with("Channel ") && contains(message, " via ")) {
    read_channel(message, out);
  } else if (message.starts_with("Pattern ")) {
    read_pattern(message, out);
  } else if (contains(message, "GPU Direct RDMA ")) {
    const std::string card(after(message, "'", "'"));
    const bool on = contains(message, "GPU Direct RDMA Enabled");
    auto& cards = on ? out.cards_with_gdr : out.cards_without_gdr;
    if (!card.empty() && cards.size() < kMostNames) cards.insert(card);
  } else if (contains(message, " set by environment to ")) {
    const size_t end = message.find(" set by environment to ");
    const std::string_view name = message.substr(0, end);
    std::string value(message.substr(end + std::string_view(" set by environment to ").size()));
    if (value.ends_with('.')) value.pop_back();
    const size_t blank = name.rfind(' ');
    if (out.environment.size() < kMostNames) {
      out.environment[std::string(name.substr(blank == std::string_view::npos ? 0 : blank + 1))] =
          value;
    }
  }
  for (const Hint& hint : kHints) {
    if (!contains(message, hint.message)) continue;
    const std::string meaning(hint.meaning);
    auto& hints = hint.between_gpus ? out.hints_inside : out.hints_outside;
    if (std::ranges::find(hints, meaning) == hints.end()) hints.push_back(meaning);
  }
}

/// Reasons in the variables that NCCL read.
void add_reasons_in(const std::map<std::string, std::string>& environment,
                    const std::vector<const char*>& names, std::vector<std::string>& reasons) {
  for (const char* name : names) {
    const auto found = environment.find(name);
    if (found == environment.end()) continue;
    reasons.push_back(fmt::format("{}={} is set: remove it", name, found->second));
  }
}

NcclFinding nvlink_finding(const NcclLog& log, const std::optional<Topology>& topology) {
  NcclFinding out{"NVLink", Use::Unknown, {}};
  const int64_t inside = log.p2p + log.shm;
  const bool nvl = log.ways_inside.contains("NVL") || log.ways_inside.contains("NVB");
  const bool far = std::ranges::any_of(log.ways_inside, [](const std::string& way) {
    return way == "PIX" || way == "PXB" || way == "PHB" || way == "SYS" || way == "PXN";
  });
  std::string ways = log.ways_inside.empty()
                         ? "no line about the graph"
                         : fmt::format("graph over {}", fmt::join(log.ways_inside, ", "));
  out.evidence = fmt::format("{} channels between GPUs by peer access, {} through host memory; {}",
                             log.p2p, log.shm, ways);
  const bool has = topology && !topology->islands().empty();
  if (inside == 0 || (topology && topology->gpus.size() < 2)) {
    out.use = Use::NotNeeded;
    out.evidence = "no channel between GPUs of one node";
    return out;
  }
  if (topology && topology->driver_table && !has && !nvl) {
    out.use = Use::NotNeeded;
    out.evidence += "; the machine has no NVLink";
    return out;
  }
  if (nvl && log.shm == 0) {
    out.use = far ? Use::Partly : Use::Used;
    if (far) out.reasons.emplace_back("some rings or trees also go over PCIe");
  } else if (nvl) {
    out.use = Use::Partly;
  } else if (log.shm > 0 || far) {
    out.use = Use::NotUsed;
  } else if (has) {
    out.use = Use::Used;
    out.evidence += fmt::format("; NV{} between the GPUs", topology->islands().front().links);
  } else {
    out.reasons.emplace_back(
        "peer access can be NVLink or PCIe: log once with NCCL_DEBUG_SUBSYS=INIT,NET,GRAPH,ENV");
    return out;
  }
  if (out.use == Use::Used) return out;
  add_reasons_in(log.environment, {"NCCL_P2P_DISABLE", "NCCL_P2P_LEVEL", "NCCL_TOPO_FILE"},
                 out.reasons);
  out.reasons.insert(out.reasons.end(), log.hints_inside.begin(), log.hints_inside.end());
  if (out.reasons.empty()) {
    out.reasons.emplace_back(
        log.shm > 0 ? "peer access is refused: check that containers share /dev/shm and the IPC "
                      "namespace, that ACS is off, and that nvidia-smi topo -m shows NV#"
                    : "NVLink is not in NCCL's graph: nvidia-smi nvlink -s shows whether the links "
                      "are up; NVSwitches need nvidia-fabricmanager");
  }
  return out;
}

NcclFinding gdr_finding(const NcclLog& log, const std::optional<Topology>& topology) {
  NcclFinding out{"GPUDirect RDMA", Use::Unknown, {}};
  const int64_t all = log.rdma_direct + log.rdma_bounced;
  out.evidence =
      fmt::format("{} of {} channels between nodes go from GPU memory", log.rdma_direct, all);
  if (all == 0) {
    out.use = log.sockets > 0 ? Use::NotUsed : Use::NotNeeded;
    out.evidence =
        log.sockets > 0 ? "transfers between nodes go over TCP" : "no channel between nodes";
    if (log.sockets > 0) out.reasons.emplace_back("see network");
    return out;
  }
  out.use = log.rdma_bounced == 0 ? Use::Used : log.rdma_direct == 0 ? Use::NotUsed : Use::Partly;
  if (out.use == Use::Used) return out;
  if (!log.cards_without_gdr.empty()) {
    out.reasons.push_back(fmt::format(
        "NCCL has it disabled for {}: load nvidia_peermem, or use the open driver (dma-buf)",
        fmt::join(log.cards_without_gdr, ", ")));
  }
  for (const std::string& way : log.ways_outside) {
    if (way != "PHB" && way != "SYS") continue;
    out.reasons.push_back(fmt::format(
        "GPU and network card are {} apart, the limit is PXB: give ranks the GPUs beside "
        "the cards; NCCL_NET_GDR_LEVEL={} only if a measurement shows a gain",
        way, way));
  }
  add_reasons_in(log.environment, {"NCCL_NET_GDR_LEVEL", "NCCL_NET_GDR_READ", "NCCL_IB_HCA"},
                 out.reasons);
  if (topology && !topology->peer_memory && !topology->open_driver) {
    out.reasons.emplace_back("nvidia_peermem is not loaded on this machine");
  }
  if (out.reasons.empty()) out.reasons.emplace_back("check ACS (must be off) and nvidia_peermem");
  return out;
}

NcclFinding network_finding(const NcclLog& log) {
  NcclFinding out{"network", Use::Unknown, {}};
  const int64_t rdma = log.rdma_direct + log.rdma_bounced;
  out.evidence = fmt::format("{} channels over InfiniBand or RoCE, {} over TCP", rdma, log.sockets);
  if (rdma + log.sockets == 0) {
    out.use = Use::NotNeeded;
    out.evidence = "no channel between nodes";
    return out;
  }
  out.use = log.sockets == 0 ? Use::Used : rdma == 0 ? Use::NotUsed : Use::Partly;
  if (out.use == Use::Used) return out;
  add_reasons_in(log.environment, {"NCCL_IB_DISABLE", "NCCL_NET", "NCCL_IB_HCA"}, out.reasons);
  out.reasons.insert(out.reasons.end(), log.hints_outside.begin(), log.hints_outside.end());
  if (out.reasons.empty()) {
    out.reasons.emplace_back("NCCL found no InfiniBand or RoCE card: ibv_devinfo inside the job");
  }
  return out;
}

}  // namespace

Result<NcclLog> parse_nccl_log(std::string_view text, const std::string& file) {
  NcclLog out;
  constexpr std::string_view kInfo = " NCCL INFO ", kWarn = " NCCL WARN ";
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (out.version.empty() && contains(line, "NCCL version ")) {
      out.version = after(line, "NCCL version ", " +\r");
    }
    size_t at = line.find(kInfo);
    if (at == std::string_view::npos) at = line.find(kWarn);
    if (at == std::string_view::npos) continue;
    ++out.info_lines;
    if (out.hosts.size() < kMostNames) out.hosts.emplace(line.substr(0, line.find(':')));
    read_message(trimmed(line.substr(at + kInfo.size())), out);
  }
  if (out.info_lines > 0) return out;
  return bad_data({file, 0, 0, {}}, "has no line of NCCL",
                  "run with NCCL_DEBUG=INFO NCCL_DEBUG_SUBSYS=INIT,NET,GRAPH,ENV "
                  "NCCL_DEBUG_FILE=nccl.%h.%p");
}

const char* use_name(Use use) {
  constexpr std::array kNames = {"used", "partly used", "not used", "not needed", "unknown"};
  return kNames.at(static_cast<size_t>(use));
}

std::vector<NcclFinding> findings_of(const NcclLog& log, const std::optional<Topology>& topology) {
  return {nvlink_finding(log, topology), network_finding(log), gdr_finding(log, topology)};
}

bool misses_something(const std::vector<NcclFinding>& findings) {
  return std::ranges::any_of(findings, [](const NcclFinding& each) {
    return each.use == Use::NotUsed || each.use == Use::Partly;
  });
}

std::string to_text(const std::vector<NcclFinding>& findings) {
  std::string out;
  for (const NcclFinding& each : findings) {
    out += fmt::format("{}: {} ({})\n", each.what, use_name(each.use), each.evidence);
    for (const std::string& reason : each.reasons) out += fmt::format("  {}\n", reason);
  }
  return printable(out);
}

std::string to_json(const std::vector<NcclFinding>& findings) {
  nlohmann::json list = nlohmann::json::array();
  for (const NcclFinding& each : findings) {
    list.push_back({{"what", each.what},
                    {"use", use_name(each.use)},
                    {"evidence", each.evidence},
                    {"reasons", each.reasons}});
  }
  const nlohmann::json out = {{"version", 1}, {"findings", std::move(list)}};
  return out.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

}  // namespace goban::base::topology
