#include "core/knowledge/locality.hpp"

#include <algorithm>

#include "base/check.hpp"

namespace goban::core::knowledge {

LocalityPenalties::LocalityPenalties(const model::Cluster& cluster, double across_nodes)
    : node_level_(cluster.node_level()), by_level_(cluster.levels().size(), 1.0) {
  set_across_nodes(across_nodes);
  for (size_t level = 0; level < by_level_.size(); ++level) {
    if (cluster.levels()[level].locality_penalty) {
      by_level_[level] = *cluster.levels()[level].locality_penalty;
    }
  }
}

void LocalityPenalties::set_across_nodes(double penalty) {
  for (size_t level = node_level_ + 1; level < by_level_.size(); ++level)
    by_level_[level] = penalty;
}

void LocalityPenalties::set_level(size_t level, double penalty) { by_level_[level] = penalty; }

void LocalityPenalties::set_class(AppClass app_class, double penalty) {
  if (by_class_.size() <= app_class.value) by_class_.resize(app_class.value + size_t{1}, 0.0);
  by_class_[app_class.value] = penalty;
}

void LocalityPenalties::set_model(ModelId model, int32_t min_gpus, double penalty) {
  by_model_[model][min_gpus] = penalty;
}

void LocalityPenalties::set_model_levels(ModelId model, int32_t min_gpus,
                                         std::vector<double> by_level) {
  GOBAN_CHECK(by_level.size() == by_level_.size());
  model_levels_[model][min_gpus] = std::move(by_level);
}

namespace {

/// Value of the largest threshold <= key, or null.
template <typename Value>
const Value* at_threshold(const std::map<int32_t, Value>& thresholds, int32_t key) {
  const auto above = thresholds.upper_bound(key);
  return above == thresholds.begin() ? nullptr : &std::prev(above)->second;
}

}  // namespace

LocalityPenalties LocalityPenalties::moved(const model::Cluster& from,
                                           const model::Cluster& to) const {
  const auto values = [&](const std::vector<double>& old) {
    std::vector<double> out;
    for (size_t level = 0; level < to.levels().size(); ++level) {
      const auto same =
          std::ranges::find(from.levels(), to.levels()[level].name, &model::TopologyLevel::name);
      const double other = level > to.node_level() ? old.back() : 1.0;
      out.push_back(same == from.levels().end()
                        ? other
                        : old[static_cast<size_t>(same - from.levels().begin())]);
    }
    return out;
  };
  LocalityPenalties out = *this;
  out.node_level_ = to.node_level();
  out.by_level_ = values(by_level_);
  for (auto& [model, thresholds] : out.model_levels_) {
    for (auto& [gpus, by_level] : thresholds) by_level = values(by_level);
  }
  return out;
}

double LocalityPenalties::at(size_t level, const model::JobRequest& job) const {
  if (!model_levels_.empty()) {
    if (const auto found = model_levels_.find(job.model); found != model_levels_.end()) {
      const auto* levels = at_threshold(found->second, job.num_gpus);
      if (levels != nullptr) return (*levels)[level];
    }
  }
  if (level > node_level_) {
    if (!by_model_.empty()) {
      if (const auto found = by_model_.find(job.model); found != by_model_.end()) {
        const double* penalty = at_threshold(found->second, job.num_gpus);
        return penalty == nullptr ? 1.0 : *penalty;
      }
    }
    if (job.app_class.value < by_class_.size() && by_class_[job.app_class.value] > 0) {
      return by_class_[job.app_class.value];
    }
  }
  return by_level_[level];
}

}  // namespace goban::core::knowledge
