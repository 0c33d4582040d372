// Test support: under which layouts the bits of the unsplit run are to be expected.
#pragma once

#include "train/mesh/test_layouts.hpp"

namespace goban::train::mesh {

/// True if no device adds up what another one computed, and the graph has operations only whose
/// elements do not depend on how many there are: no products of matrices, sums, or functions such
/// as exp, which LibTorch's vector units and its loops for the rest round differently.
[[nodiscard]] bool same_bits_expected(const Builder& build, const LayoutCase& layout);

}  // namespace goban::train::mesh
