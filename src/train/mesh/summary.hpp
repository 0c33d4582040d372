// Scalars recorded at each step (scalar_summary in functions.hpp).
#pragma once

#include <cstdint>
#include <string>

namespace goban::train::mesh {

/// `value` is the node; `name` is unique in the graph and includes its scopes.
struct ScalarSummary {
  std::string name;
  int32_t value;
};

}  // namespace goban::train::mesh
