#include "core/policy/sharing/power_caps.hpp"

#include <algorithm>

namespace goban::core::policy {
namespace {

/// Power of a busy node that a limit does not lower, per held GPU; mean over the group's GPUs.
double overhead_w(const Tenants& tenants, const Tenants::Group& group,
                  const knowledge::PowerModel& model) {
  const model::Cluster& cluster = tenants.cluster();
  double sum_w = 0;
  for (const model::GpuId gpu : group.gpus) {
    const model::Node& node = cluster.node(cluster.node_of(gpu));
    uint32_t held = 0;
    for (uint32_t other = node.first_gpu; other < node.end_gpu(); ++other) {
      held += tenants.group_of(model::GpuId(other)).valid() ? 1 : 0;
    }
    sum_w += (model.host_idle_w + (node.num_gpus - held) * model.gpu_idle_w) / held;
  }
  return sum_w / static_cast<double>(group.gpus.size());
}

/// Every job of the group has a service target that can still be met, and holds no other group.
bool all_have_slack(const SharingView& view, const Tenants::Group& group) {
  return std::ranges::all_of(group.jobs, [&](JobId id) {
    if (view.tenants().groups_of(id).size() != 1) return false;
    const JobState& job = view.job(id);
    return slack_s(view, {.job = &job, .alone_slowdown = view.alone_slowdown(job)}).has_value();
  });
}

}  // namespace

int8_t cap_into_slack(const SharingView& view, GroupId id, double delay_price_w) {
  const Tenants& tenants = view.tenants();
  const Tenants::Group& group = tenants.group(id);
  const uint32_t gpu_model = tenants.kind(group.kind).gpu_model;
  const knowledge::PowerModel* model = power_model(view, gpu_model);
  if (model == nullptr || model->caps.empty() || group.locked || view.someone_waits()) return -1;
  if (!all_have_slack(view, group)) return -1;

  const TenantSet set(view, gpu_model, group.traits);
  const SetPrediction prediction = set.predict(view);
  const double gpu_w = set.power_w(view, prediction);
  const auto is_felt = [&](const knowledge::PowerCap& cap) { return cap.cap_w < gpu_w; };
  if (std::ranges::none_of(model->caps, is_felt)) return -1;
  const double other_w = overhead_w(tenants, group, *model);
  // Jobs per GPU: the delayed jobs.
  const double delayed =
      static_cast<double>(group.jobs.size()) / static_cast<double>(group.gpus.size());
  const SetPrediction promised = set.worst_of_parts(view, prediction);
  int8_t best = -1;
  double best_w = gpu_w + other_w;  // cost of one second's work without a limit, in joules
  for (size_t i = 0; i < model->caps.size(); ++i) {
    const knowledge::PowerCap& cap = model->caps[i];
    if (!is_felt(cap)) continue;
    const double capped_w = gpu_w * cap.energy_factor + other_w * cap.time_factor +
                            delay_price_w * delayed * (cap.time_factor - 1);
    if (capped_w >= best_w) continue;
    const PromiseRules upper{.upper = true, .lost_bind = true};
    if (!residents_keep_promises(
            view, upper, id,
            {.set = &set, .prediction = &promised, .time_factor = cap.time_factor})) {
      continue;
    }
    best = static_cast<int8_t>(i);
    best_w = capped_w;
  }
  return best;
}

}  // namespace goban::core::policy
