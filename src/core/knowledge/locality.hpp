// Locality penalty: slowdown of a job whose GPUs span a level of the topology; one value for all,
// per class, or per (model, number of GPUs) (PAL: PM-First and PAL placement, docs/papers.md).
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "core/model/cluster.hpp"
#include "core/model/job.hpp"

namespace goban::core::knowledge {

using model::AppClass;
using model::ModelId;

/// Penalties by topology level (innermost first, as in Cluster::levels()), with overrides.
class LocalityPenalties {
 public:
  /// Penalty 1 up to level `node`; above it `across_nodes`, or the `locality_penalty` that the
  /// cluster states for a level.
  LocalityPenalties(const model::Cluster& cluster, double across_nodes);

  /// Sets the penalty of every level above `node`, overriding the cluster's.
  void set_across_nodes(double penalty);
  void set_level(size_t level, double penalty);
  /// For one class: `penalty` at every level above `node`.
  void set_class(AppClass app_class, double penalty);
  /// For one model from `min_gpus` GPUs on (the largest matching threshold applies).
  void set_model(ModelId model, int32_t min_gpus, double penalty);
  /// For one model from `min_gpus` GPUs on: a penalty per level, as derived from its job profile.
  void set_model_levels(ModelId model, int32_t min_gpus, std::vector<double> by_level);

  /// The same penalties for another cluster, by the names of its levels. A level that the old one
  /// did not have gets the penalty of the whole cluster if it is above `node`, otherwise 1.
  [[nodiscard]] LocalityPenalties moved(const model::Cluster& from, const model::Cluster& to) const;

  /// Slowdown of a job whose innermost common level is `level`; monotone in `level` if the inputs
  /// are. Precedence: model levels, model threshold, class, level.
  [[nodiscard]] double at(size_t level, const model::JobRequest& job) const;
  /// Whether this model has penalties of its own.
  [[nodiscard]] bool has_model(ModelId model) const {
    return by_model_.contains(model) || model_levels_.contains(model);
  }
  [[nodiscard]] size_t num_levels() const { return by_level_.size(); }

 private:
  size_t node_level_;
  std::vector<double> by_level_;
  std::vector<double> by_class_;  ///< 0 = not set
  std::map<ModelId, std::map<int32_t, double>> by_model_;
  std::map<ModelId, std::map<int32_t, std::vector<double>>> model_levels_;
};

}  // namespace goban::core::knowledge
