// The environment of NCCL for a machine: few variables are derived, all are checked, and each comes
// with its evidence. Source: NVIDIA's guide "NCCL, Environment Variables", and NCCL's defaults
// (2.30).
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/topology/topology.hpp"

namespace goban::base::topology {

/// A variable with its value and the reason, or a remark about a variable that is not set.
struct NcclSetting {
  std::string name, value, evidence;
};

struct NcclAdvice {
  std::vector<NcclSetting> set;       ///< to be set, unless the user has set them
  std::vector<NcclSetting> kept;      ///< set by the user; `evidence`: what would have been derived
  std::vector<NcclSetting> left;      ///< left to NCCL, and why; `value` is empty
  std::vector<NcclSetting> problems;  ///< of the environment or the machine; `name` may be empty
  std::vector<std::string> binding;   ///< a line for each GPU: network card, NUMA node, cores
};

/// `environment`: the variables in force; the user's own values win. GPUs of a job that runs on one
/// node need no network cards, but what is derived does them no harm.
[[nodiscard]] NcclAdvice nccl_advice(const Topology& topology,
                                     const std::map<std::string, std::string>& environment);

/// As a table with reasons.
[[nodiscard]] std::string to_text(const NcclAdvice& advice);
[[nodiscard]] std::string to_json(const NcclAdvice& advice);
/// `export NAME=value` lines, for a shell and for Slurm's TaskProlog.
[[nodiscard]] std::string export_lines(const NcclAdvice& advice);

}  // namespace goban::base::topology
