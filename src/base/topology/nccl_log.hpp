// NCCL's own log (NCCL_DEBUG=INFO): whether NVLink and GPUDirect RDMA are really used. Source: the
// messages of NCCL 2.7 to 2.30.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "base/topology/topology.hpp"

namespace goban::base::topology {

/// What the log says, counted over all ranks in it.
struct NcclLog {
  std::string version{};  ///< of NCCL; empty: not in the log
  int64_t info_lines = 0;
  std::set<std::string> hosts{};
  // Channels by transport.
  int64_t p2p = 0, shm = 0, rdma_direct = 0, rdma_bounced = 0, sockets = 0, other = 0;
  std::set<std::string> ways_inside{};   ///< of rings and trees between GPUs: NVL, PIX, SYS, ...
  std::set<std::string> ways_outside{};  ///< between GPU and network card
  std::set<std::string> cards_with_gdr{}, cards_without_gdr{};
  std::map<std::string, std::string> environment{};  ///< variables that NCCL read
  /// Known messages that explain a fallback, between GPUs and between nodes, each once.
  std::vector<std::string> hints_inside{}, hints_outside{};
};

/// Lines that are not NCCL's are ignored. Errors: BadData with `file`, if none is.
[[nodiscard]] Result<NcclLog> parse_nccl_log(std::string_view text, const std::string& file);

enum class Use : uint8_t { Used, Partly, NotUsed, NotNeeded, Unknown };
[[nodiscard]] const char* use_name(Use use);

/// One answer with its evidence and, if something is missed, reasons and the remedy.
struct NcclFinding {
  std::string what;  ///< "NVLink", "GPUDirect RDMA", "network"
  Use use = Use::Unknown;
  std::string evidence;
  std::vector<std::string> reasons{};
};

/// NVLink, GPUDirect RDMA, network. `topology`: of the node that wrote the log, if known.
[[nodiscard]] std::vector<NcclFinding> findings_of(const NcclLog& log,
                                                   const std::optional<Topology>& topology);

/// Whether something that the hardware has, or may have, is not used.
[[nodiscard]] bool misses_something(const std::vector<NcclFinding>& findings);

[[nodiscard]] std::string to_text(const std::vector<NcclFinding>& findings);
[[nodiscard]] std::string to_json(const std::vector<NcclFinding>& findings);

}  // namespace goban::base::topology
