#include "core/model/job_speeds.hpp"

#include <algorithm>
#include <fmt/format.h>

#include "base/check.hpp"

namespace goban::core::model {

void JobSpeeds::add(ModelId model, int32_t batch_size, uint32_t gpu_model, SpeedLevel level) {
  GOBAN_CHECK(level.gpus > 0 && level.steps_per_s > 0);
  known_.emplace(model, batch_size);
  std::vector<SpeedLevel>& levels = levels_[{model, batch_size, gpu_model}];
  const auto at = std::ranges::lower_bound(levels, level.gpus, {}, &SpeedLevel::gpus);
  if (at != levels.end() && at->gpus == level.gpus) {
    *at = level;
  } else {
    levels.insert(at, level);
  }
}

void JobSpeeds::add_never(ModelId model, int32_t batch_size, uint32_t gpu_model, int32_t gpus) {
  known_.emplace(model, batch_size);
  never_[{model, batch_size, gpu_model}].insert(gpus);
}

void JobSpeeds::interpolate() {
  for (auto& [key, levels] : levels_) {
    std::vector<SpeedLevel> all;
    const auto never = never_.find(key);
    for (const SpeedLevel& to : levels) {
      if (!all.empty()) {
        const SpeedLevel from = all.back();
        const double per_gpu = (to.steps_per_s - from.steps_per_s) / (to.gpus - from.gpus);
        for (int32_t gpus = from.gpus + 1; gpus < to.gpus; ++gpus) {
          if (never != never_.end() && never->second.contains(gpus)) continue;
          const double steps_per_s = from.steps_per_s + per_gpu * (gpus - from.gpus);
          all.push_back({.gpus = gpus, .steps_per_s = steps_per_s, .interpolated = true});
        }
      }
      all.push_back(to);
    }
    levels = std::move(all);
  }
}

int32_t JobSpeeds::batch_of(ModelId model, int32_t batch_size) const {
  return known_.contains({model, batch_size}) ? batch_size : 0;
}

std::span<const SpeedLevel> JobSpeeds::levels(ModelId model, int32_t batch_size,
                                              uint32_t gpu_model) const {
  const auto found = levels_.find({model, batch_of(model, batch_size), gpu_model});
  if (found == levels_.end()) return {};
  return found->second;
}

std::span<const SpeedLevel> JobSpeeds::levels(const JobRequest& request, const TrainingFacts& facts,
                                              uint32_t gpu_model) const {
  const auto all = levels(request.model, facts.batch_size, gpu_model);
  const auto first = std::ranges::lower_bound(all, facts.gpus_min, {}, &SpeedLevel::gpus);
  const auto last = std::ranges::upper_bound(all, facts.gpus_max, {}, &SpeedLevel::gpus);
  return first < last ? std::span<const SpeedLevel>(first, last) : std::span<const SpeedLevel>();
}

const SpeedLevel* JobSpeeds::find(ModelId model, int32_t batch_size, uint32_t gpu_model,
                                  int32_t gpus) const {
  const auto all = levels(model, batch_size, gpu_model);
  const auto at = std::ranges::lower_bound(all, gpus, {}, &SpeedLevel::gpus);
  return at != all.end() && at->gpus == gpus ? &*at : nullptr;
}

const SpeedLevel* JobSpeeds::fastest(ModelId model, int32_t batch_size, int32_t gpus) const {
  const SpeedLevel* best = nullptr;
  const int32_t batch = batch_of(model, batch_size);
  for (auto each = levels_.lower_bound({model, batch, 0});
       each != levels_.end() && std::get<0>(each->first) == model &&
       std::get<1>(each->first) == batch;
       ++each) {
    const SpeedLevel* level = find(model, batch, std::get<2>(each->first), gpus);
    if (level == nullptr) continue;
    if (best == nullptr || level->steps_per_s > best->steps_per_s) best = level;
  }
  return best;
}

bool JobSpeeds::knows(ModelId model, int32_t batch_size) const {
  return known_.contains({model, batch_of(model, batch_size)});
}

std::optional<GpuCount> JobSpeeds::unknown_pair(const JobRequest& request,
                                                const TrainingFacts& facts,
                                                uint32_t num_models) const {
  const int32_t batch = batch_of(request.model, facts.batch_size);
  for (uint32_t m = 0; m < num_models; ++m) {
    for (const int32_t gpus : {facts.gpus_min, request.num_gpus, facts.gpus_max}) {
      if (find(request.model, batch, m, gpus) != nullptr) continue;
      const auto never = never_.find({request.model, batch, m});
      if (never != never_.end() && never->second.contains(gpus)) continue;
      return GpuCount{.gpu_model = m, .gpus = gpus};
    }
  }
  return {};
}

JobSpeeds JobSpeeds::with_models(std::span<const uint32_t> gpu_models) const {
  JobSpeeds out;
  const auto moved = [&](const Key& key) {
    const uint32_t old = std::get<2>(key);
    return old < gpu_models.size() ? gpu_models[old] : UINT32_MAX;
  };
  for (const auto& [key, levels] : levels_) {
    const auto& [model, batch_size, old] = key;
    if (moved(key) == UINT32_MAX) continue;
    for (const SpeedLevel& level : levels) out.add(model, batch_size, moved(key), level);
  }
  for (const auto& [key, counts] : never_) {
    const auto& [model, batch_size, old] = key;
    if (moved(key) == UINT32_MAX) continue;
    for (const int32_t gpus : counts) out.add_never(model, batch_size, moved(key), gpus);
  }
  return out;
}

const SpeedLevel* level_at_most(std::span<const SpeedLevel> levels, int64_t gpus) {
  const auto after = std::ranges::upper_bound(
      levels, gpus, {}, [](const SpeedLevel& level) { return static_cast<int64_t>(level.gpus); });
  return after == levels.begin() ? nullptr : &*std::prev(after);
}

std::string speed_problem(const JobSpeeds& speeds, const Cluster& cluster,
                          const JobRequest& request, const TrainingFacts& facts,
                          std::string_view name) {
  const std::string batch =
      facts.batch_size > 0 ? fmt::format(" with batch size {}", facts.batch_size) : std::string();
  if (!speeds.knows(request.model, facts.batch_size)) {
    return fmt::format("no speed of {}{} was measured", name, batch);
  }
  const auto count = static_cast<uint32_t>(cluster.gpu_models().size());
  if (const auto pair = speeds.unknown_pair(request, facts, count)) {
    return fmt::format("the speed of {}{} on {} x {} was not measured", name, batch, pair->gpus,
                       cluster.gpu_models()[pair->gpu_model].name);
  }
  if (speeds.fastest(request.model, facts.batch_size, request.num_gpus) == nullptr) {
    return fmt::format("{}{} runs on {} GPUs of no model", name, batch, request.num_gpus);
  }
  return {};
}

}  // namespace goban::core::model
