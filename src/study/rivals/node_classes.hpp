// ElasticFlow's elastic placement: classes of node sets by the GPUs of their jobs (ElasticFlow:
// artifact, docs/studies/rivals.md).
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "study/rivals/decisions.hpp"

namespace goban::study::rivals {

/// The sizes of jobs and free room that sets are listed by.
inline constexpr std::array<int32_t, 16> kNodeClasses = {1,  2,  4,  8,  12, 16, 24,  32,
                                                         40, 48, 56, 64, 72, 88, 128, 256};
/// Index of a class; nullopt if there is none of this size.
[[nodiscard]] std::optional<size_t> node_class(int32_t gpus);

struct PlacedJob {
  int32_t job = 0;
  int32_t gpus = 1;
};

/// Places jobs on an empty cluster, large ones first, and returns who holds which GPUs: jobs and
/// ids ascending. `gpus` of a job is a power of two up to the cluster's. Nullopt if they do not
/// fit.
[[nodiscard]] std::optional<std::vector<Holding>> place_elastic(std::span<const PlacedJob> jobs,
                                                                int32_t num_nodes);

/// Appends the GPUs of a node, from its first on.
void append_node_gpus(std::vector<int32_t>& gpus, int32_t node, int32_t from, int32_t count);

}  // namespace goban::study::rivals
