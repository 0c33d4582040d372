// NCCL's environment of a job, derived from the machine (base/topology/nccl_advice).
#pragma once

#include <map>
#include <string>

#include "base/topology/node_facts.hpp"
#include "live/engine/local/run_folder.hpp"

namespace goban::live::engine::local {

/// Variables for a job on several GPUs of this machine; none for other jobs, and none if they
/// cannot be derived.
[[nodiscard]] std::map<std::string, std::string> nccl_variables(const RunOrder& order);
/// The same with the facts of a machine.
[[nodiscard]] std::map<std::string, std::string> nccl_variables(
    const RunOrder& order, const base::topology::NodeFacts& facts);

}  // namespace goban::live::engine::local
