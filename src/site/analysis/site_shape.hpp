// Properties of the site, from the records and the cluster: kinds of jobs, GPUs per node, racks.
#pragma once

#include <vector>

#include "site/analysis/population.hpp"

namespace goban::site::analysis {

/// The shape of the site, and the kind of every row of the table.
struct ShapedSite {
  SiteShape site;
  std::vector<uint16_t> kind_of_row;
  std::vector<int32_t> node_gpus_of_row;  ///< GPUs of a node of the job
};
[[nodiscard]] ShapedSite shape_site(const records::RecordTable& table, const Rules& rules,
                                    const core::model::Cluster* cluster);

/// Nodes of a job: as recorded; otherwise the length of its node list; otherwise the number that
/// its GPUs require on nodes of `node_gpus` GPUs.
[[nodiscard]] int32_t nodes_of(const records::RecordTable& table, const records::RecordRow& row,
                               int32_t node_gpus, bool whole_node);

}  // namespace goban::site::analysis
