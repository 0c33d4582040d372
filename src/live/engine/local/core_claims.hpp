// Which cores a job computes on that asked for cores: each core is for one such job at a time. A
// claim is a lock on `<state>/cores/<number>`, so it ends with the supervisor that holds it,
// whatever happens, and a restarted daemon has nothing to remember.
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

/// Claims `wanted` of the cores that this process may use. Nothing, if it wants all of them, or if
/// so many are not to be had: then the job runs wherever the kernel lets it.
[[nodiscard]] CoreClaims claim_cores(const std::string& folder, size_t wanted);

}  // namespace goban::live::engine::local
