// Scalars of each step that are to be seen (scalar_summary in functions.hpp).
#pragma once

#include <cstdint>
#include <string>

namespace goban::train::mesh {

/// `value` is the node; the name is its own in the graph, with its scopes.
struct Summary {
  std::string name;
  int32_t value;
};

}  // namespace goban::train::mesh
