// Which jobs are ours, and which of these are left to Slurm because the core could not place them
// as their users want. Pure.
#pragma once

#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "live/engine/slurm/job_list.hpp"
#include "live/engine/slurm/node_list.hpp"
#include "live/engine/slurm/orders.hpp"

namespace goban::live::engine::slurm {

struct QueueRules {
  bool observe = false;                   ///< no job is ours
  std::vector<std::string> partitions{};  ///< managed ones; empty = all
  Indices indices = Indices::Nodes;
};

/// What all nodes together have; made once a look.
struct NodeTraits {
  std::vector<std::string> index_types{};  ///< index_types_of()
  std::set<std::string> models{};          ///< of GPUs of managed nodes
  bool mixed = false;                      ///< a managed node has GPUs of several models
  bool partitions_differ = false;          ///< of managed nodes: these limit where jobs may run
  int32_t shards_per_gpu = 0;              ///< the most
};
[[nodiscard]] NodeTraits traits_of(std::span<const NodeRow> nodes, const QueueRules& rules);

/// True for jobs of managed partitions, except components of heterogeneous jobs (het_jobs.hpp),
/// jobs without GPUs and jobs that name GPUs by their indices in a way that the core does not know
/// (own_indices).
[[nodiscard]] bool is_managed(const JobRow& row, const JobWords& words, const QueueRules& rules,
                              std::span<const std::string> index_types);

/// The node is in a managed partition: of the nodes only these are told.
[[nodiscard]] bool is_managed_node(const NodeRow& node, const QueueRules& rules);

/// Those of the node, in the order of their names.
[[nodiscard]] std::vector<std::string> managed_partitions(const NodeRow& node,
                                                          const QueueRules& rules);

/// The core knows no kind of parts for the place where a job may run (place_of()).
[[nodiscard]] bool is_unknown_place(const std::string& place, const NodeTraits& traits,
                                    const std::set<std::string>& places);

/// Why a managed job is left to Slurm, which can place it where the core cannot: a word of a mark
/// ("several-gpu-types"); empty: the core can. `places`: those that the core knows
/// (partitions.hpp).
[[nodiscard]] std::string_view why_for_slurm(const JobRow& row, const JobWords& words,
                                             const NodeTraits& traits, const QueueRules& rules,
                                             const std::set<std::string>& places);

/// The job requests GPUs by types that stand for an index.
[[nodiscard]] bool names_index(const JobWords& words, std::span<const std::string> index_types);

/// The GPUs of a job can be chosen by their types: it requests them per node, and nothing else.
[[nodiscard]] bool takes_types(const JobWords& words);

}  // namespace goban::live::engine::slurm
