// The supply of spot instances over time, as in skypilot-org/spot-traces: JSON,
//
//   {"metadata": {"gap_seconds": G}, "data": [n0, n1, ...]}
//
// From i G to (i+1) G seconds there are n_i instances; the last number holds from then on.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "core/model/cluster.hpp"
#include "study/history/outages.hpp"

namespace goban::study::history {

struct SpotSupply {
  double gap_s = 0;
  std::vector<int32_t> instances;  ///< never empty

  [[nodiscard]] int32_t most() const;
};

/// Errors: BadData naming the file and the field.
[[nodiscard]] base::Result<SpotSupply> parse_spot_supply(std::string_view json,
                                                         const std::string& file);

/// A file, and the nodes of the cluster that are open while it has instances.
struct SpotGroup {
  SpotSupply supply;
  std::vector<size_t> nodes;  ///< ascending; the lowest ones open first
};

/// Reads `FILE:GROUP`, plain or gzip. GROUP is a GPU model, a node, a range of nodes `first..last`
/// in the order of the cluster, or `*`. Errors: Usage for GROUP; Failed, BadData for the file.
[[nodiscard]] base::Result<SpotGroup> read_spot_group(const std::string& option,
                                                      const core::model::Cluster& cluster);

/// Adds the times in which nodes of the group are closed; the data begin at `from_ns`. What runs on
/// a node that closes is lost since its last checkpoint, as in a failure. Errors: BadData if nodes
/// close more than five million times.
[[nodiscard]] base::Status add_outages(const SpotGroup& group, base::TimeNs from_ns,
                                       NodeOutages& outages);

}  // namespace goban::study::history
