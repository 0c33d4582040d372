// Options of placement: the rules of pal-tight, each of which can be left out.
#pragma once

#include <array>

#include "core/policy/setting.hpp"

namespace goban::core::policy {

struct PlacementOptions {
  bool tight_nodes = true;  ///< the node that is broken up least; else the best-scored one
  bool whole_nodes = true;  ///< jobs of whole nodes leave none in part
  bool use_scores = true;   ///< PAL while many GPUs are free, best scores among equal nodes
};

inline constexpr auto kPlacementOptions = std::to_array<Setting<PlacementOptions>>({
    {"tight_nodes", "0: pal-tight takes the best-scored node, however much it breaks up",
     &PlacementOptions::tight_nodes},
    {"whole_nodes", "0: pal-tight lets PAL leave whole nodes in part",
     &PlacementOptions::whole_nodes},
    {"use_scores", "0: pal-tight does not look at PM scores", &PlacementOptions::use_scores},
});

}  // namespace goban::core::policy
