// Test support: layouts under which the bits of the unsplit run are expected.
#pragma once

#include "train/mesh/test_layouts.hpp"

namespace goban::train::mesh {

/// True if no sum is formed between devices and the graph contains only operations whose elements
/// do not depend on the size of their input: no matrix products, sums, or functions such as exp,
/// which LibTorch's vector code and its remainder loops round differently.
[[nodiscard]] bool same_bits_expected(const Builder& build, const LayoutCase& layout);

}  // namespace goban::train::mesh
