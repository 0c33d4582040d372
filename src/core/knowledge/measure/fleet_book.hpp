// The measurement logs of many nodes as one: which GPU is where, what was measured of it, and the
// scores of all of them against the median GPU of the fleet. Scores follow a GPU by its UUID when
// it moves to another node or index.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "core/knowledge/measure/measure_book.hpp"

namespace goban::core::knowledge {

/// UUIDs of a node's GPUs, by index, as of its last measurement; by node.
using GpuPlaces = std::map<std::string, std::vector<std::string>>;

/// A node of the cluster, in the order of the score table.
struct FleetNode {
  std::string name{};
  int32_t num_gpus = 0;
};

/// Takes over what was measured on a node: a log of that node alone, in the order of its indices.
/// UUIDs of virtual GPUs get the node's name before them, as each node has the same.
void add_node(MeasureBook& fleet, GpuPlaces& places, const std::string& node,
              const MeasureBook& measured);

/// When all GPUs of a node were last measured, Unix time; 0: one of them never was.
[[nodiscard]] int64_t measured_unix_s(const MeasureBook& fleet, const GpuPlaces& places,
                                      const FleetNode& node);

/// [class][gpu] for the score table, over all nodes in their order; 1 for GPUs that were not
/// measured, or whose measurement is older than kScoreAgeMax_s. Scores are relative to the median
/// GPU of the fleet.
[[nodiscard]] std::vector<std::vector<double>> fleet_scores(const MeasureBook& fleet,
                                                            const GpuPlaces& places,
                                                            std::span<const FleetNode> nodes,
                                                            int64_t now_unix_s);

/// Path of the places of a score table: `scores.csv` -> `scores.places.json`.
[[nodiscard]] std::string places_path(const std::string& scores_path);
[[nodiscard]] std::string to_json(const GpuPlaces& places);
/// Errors: BadData with `file`.
[[nodiscard]] base::Result<GpuPlaces> parse_places(std::string_view json, const std::string& file);

}  // namespace goban::core::knowledge
