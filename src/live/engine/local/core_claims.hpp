// Cores of jobs that request cores: each core belongs to one such job at a time. A claim is a lock
// on `<state>/cores/<number>`, so it always ends with the supervisor that holds it, and a restarted
// daemon needs no record of it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/files.hpp"
#include "live/engine/local/run_folder.hpp"

namespace goban::live::engine::local {

struct CoreClaims {
  std::vector<int32_t> cpus{};  ///< ascending; empty: no limit
  std::vector<base::Descriptor> locks{};
};

/// Claims `wanted` of the cores that this process may use. Empty if all of them are wanted, or if
/// fewer are free: then the job is not bound to cores.
[[nodiscard]] CoreClaims claim_cores(const std::string& folder, size_t wanted);
/// The cores that the run requests, of all its instances.
[[nodiscard]] CoreClaims claim_cores(const std::string& folder, const RunOrder& order);
/// The CPUs that the run may use, ascending: those near its GPUs, and what it claimed. Empty: all.
[[nodiscard]] std::vector<int32_t> cpus_of(const RunOrder& order, const CoreClaims& claims);

}  // namespace goban::live::engine::local
