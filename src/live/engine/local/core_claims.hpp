// Cores of jobs that request cores: each core belongs to one such job at a time. A claim is a lock
// on `<state>/cores/<number>`, so it always ends with the supervisor that holds it, and a restarted
// daemon needs no record of it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/files.hpp"

namespace goban::live::engine::local {

struct CoreClaims {
  std::vector<int32_t> cpus{};  ///< ascending; empty: no limit
  std::vector<base::Descriptor> locks{};
};

/// Claims `wanted` of the cores that this process may use. Empty if all of them are wanted, or if
/// fewer are free: then the job is not bound to cores.
[[nodiscard]] CoreClaims claim_cores(const std::string& folder, size_t wanted);

}  // namespace goban::live::engine::local
