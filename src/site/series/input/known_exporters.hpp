// The exporters whose metrics are supported without an adapter file.
#pragma once

#include <string>
#include <vector>

#include "site/series/input/adapter.hpp"

namespace goban::site::series {

/// Labels that may name the node, most specific first.
[[nodiscard]] const std::vector<std::string>& node_labels();
[[nodiscard]] std::vector<Adapter> known_exporters();

}  // namespace goban::site::series
