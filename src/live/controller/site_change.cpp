#include "live/controller/site_change.hpp"

#include <algorithm>

namespace goban::live::controller {
namespace {

/// Scores follow their GPUs; a GPU that joined has score 1.
core::knowledge::PmScores moved_scores(const core::knowledge::PmScores& old,
                                       const core::scheduler::ClusterNumbers& numbers,
                                       uint32_t num_gpus) {
  constexpr size_t kBinsMax = 255;
  std::vector<core::knowledge::ClassScores> classes;
  for (size_t c = 0; c < old.num_classes(); ++c) {
    const auto& from = old.of(core::model::AppClass{static_cast<uint8_t>(c)});
    const bool has_one = std::ranges::find(from.bin_values, 1.0) != from.bin_values.end();
    const bool is_full = !has_one && from.bin_values.size() >= kBinsMax;
    std::vector<double> raw(num_gpus, 1.0);
    std::vector<double> bins(num_gpus, is_full ? from.bin_values.front() : 1.0);
    for (size_t gpu = 0; gpu < numbers.gpus.size() && gpu < from.raw.size(); ++gpu) {
      if (!numbers.gpus[gpu].valid()) continue;
      raw[numbers.gpus[gpu].index()] = from.raw[gpu];
      bins[numbers.gpus[gpu].index()] = from.bin_values[from.bin[gpu]];
    }
    classes.push_back(core::knowledge::class_from_values(std::move(raw), bins));
  }
  return core::knowledge::PmScores(std::move(classes));
}

/// By the names of GPU models. An unknown model is taken to use as much power as the first one.
std::shared_ptr<const core::policy::SiteKnowledge> moved_knowledge(
    const core::policy::SiteKnowledge& old, const core::model::Cluster& from,
    const core::model::Cluster& to) {
  auto out = std::make_shared<core::policy::SiteKnowledge>(old);
  out->gpu_types.clear();
  out->power.clear();
  for (const core::model::GpuModel& model : to.gpu_models()) {
    const auto known =
        std::ranges::find(from.gpu_models(), model.name, &core::model::GpuModel::name);
    const bool is_new = known == from.gpu_models().end();
    const size_t at = is_new ? 0 : static_cast<size_t>(known - from.gpu_models().begin());
    const bool has_type = !is_new && at < old.gpu_types.size();
    out->gpu_types.push_back(has_type ? old.gpu_types[at] : core::knowledge::GpuTypeId{});
    if (!old.power.empty()) out->power.push_back(old.power[std::min(at, old.power.size() - 1)]);
  }
  return out;
}

/// By the names of GPU models; nothing is known of a new one.
std::shared_ptr<const core::model::JobSpeeds> moved_speeds(const core::model::JobSpeeds& old,
                                                           const core::model::Cluster& from,
                                                           const core::model::Cluster& to) {
  std::vector<uint32_t> numbers;
  for (const core::model::GpuModel& model : from.gpu_models()) {
    const auto found = std::ranges::find(to.gpu_models(), model.name, &core::model::GpuModel::name);
    const auto index = static_cast<uint32_t>(found - to.gpu_models().begin());
    numbers.push_back(found == to.gpu_models().end() ? UINT32_MAX : index);
  }
  return std::make_shared<core::model::JobSpeeds>(old.with_models(numbers));
}

}  // namespace

Site changed_site(const Site& old, core::model::Cluster cluster,
                  const core::scheduler::ClusterNumbers& numbers) {
  Site site = old;
  site.penalties = old.penalties.moved(old.cluster, cluster);
  site.scores = moved_scores(old.scores, numbers, cluster.num_gpus());
  if (old.knowledge != nullptr) {
    site.knowledge = moved_knowledge(*old.knowledge, old.cluster, cluster);
  }
  if (old.speeds != nullptr) site.speeds = moved_speeds(*old.speeds, old.cluster, cluster);
  site.cluster = std::move(cluster);
  return site;
}

}  // namespace goban::live::controller
