// Consolidation: moves jobs if the node they leave saves more energy asleep than the moves cost.
#include <algorithm>
#include <fmt/format.h>

#include "core/policy/compose.hpp"
#include "core/policy/migration/migration.hpp"
#include "core/policy/sharing/promises.hpp"
#include "core/policy/sharing/worth.hpp"

namespace goban::core::policy {
namespace {

class Consolidate final : public Migration {
 public:
  explicit Consolidate(const PolicyOptions& options)
      : interval_ns_(base::from_seconds(options.migration.move_interval_s)),
        horizon_s_(options.migration.move_horizon_s),
        min_residence_ns_(base::from_seconds(options.observation.min_residence_s)),
        move_cost_s_(options.observation.undo_cost_s),
        delay_price_w_(options.prices.delay_price_w) {}

  TimeNs interval_ns() const override { return interval_ns_; }

  bool may_move(const SharingView& view, const JobState& job) const override {
    if (job.request.stays || job.request.priority > 0) return false;
    if (job.request.resource_type.valid()) return false;
    if (view.now() - job.run_start_ns < min_residence_ns_) return false;
    return std::ranges::none_of(view.tenants().groups_of(job.job),
                                [&](GroupId id) { return view.tenants().group(id).locked; });
  }

  bool pays(const SharingView& view, const Evacuation& evacuation) const override {
    const knowledge::PowerModel* model = model_of(view, evacuation.node);
    if (model == nullptr) return false;
    const double price_w = delay_price_w(view, delay_price_w_);
    double longest_s = 0;
    double cost_j = 0;
    for (const Move& move : evacuation.moves) {
      const JobState& job = *move.job;
      const double here = view.alone_slowdown(job);
      const double there = view.alone_slowdown(job, move.to);
      const Slowdown beside = worst_beside(view, job);
      const bool keepable = slack_s(view, {.job = &job, .alone_slowdown = here}).has_value();
      // A service target that is missed without the move does not forbid it.
      const PromiseRules rules{.upper = true, .lost_bind = keepable, .unknown_bind = false};
      const Prospect moved{
          .job = &job, .alone_slowdown = there, .beside = beside, .extra_s = move_cost_s_};
      if (!keeps_promise(view, rules, moved)) return false;
      const double left_s = time_left_s(view, job, here * beside.mean);
      longest_s = std::max(longest_s, left_s);
      const double later_s = move_cost_s_ + left_s * (there / here - 1);
      cost_j += later_s * (power_w(view, job, *model) + price_w);
    }
    return saved_j(*model, view.tenants().cluster().node(evacuation.node).num_gpus,
                   std::min(longest_s, horizon_s_)) > cost_j;
  }

 private:
  static const knowledge::PowerModel* model_of(const SharingView& view, model::NodeId node) {
    return power_model(view, view.tenants().cluster().node(node).gpu_model);
  }

  /// Slowdown by neighbours and power limits, worst over the subsets of its sets.
  static Slowdown worst_beside(const SharingView& view, const JobState& job) {
    return slower({1, 1}, slowdown_elsewhere(view, job.job, {}, true));
  }

  /// Remaining run time; if unknown, the time the job has run so far.
  static double time_left_s(const SharingView& view, const JobState& job, double slowdown) {
    const double work_s = view.work_left_s(job);
    return work_s < 0 ? base::to_seconds(job.attained_ns(view.now())) : work_s * slowdown;
  }

  /// The job's part of the power of its GPUs, including their parts of the host's.
  static double power_w(const SharingView& view, const JobState& job,
                        const knowledge::PowerModel& model) {
    const Tenants& tenants = view.tenants();
    double sum_w = 0;
    for (const GroupId id : tenants.groups_of(job.job)) {
      const Tenants::Group& group = tenants.group(id);
      const TenantSet set(view, tenants.kind(group.kind).gpu_model, group.traits);
      const double gpu_w = set.power_w(view, set.predict(view)) + model.host_share_w();
      sum_w += gpu_w * static_cast<double>(group.gpus.size()) / static_cast<double>(set.size());
    }
    return sum_w;
  }

  /// Energy saved by a node that is unused for `span_s`: it idles for the break-even time, sleeps,
  /// and is woken.
  static double saved_j(const knowledge::PowerModel& model, uint32_t num_gpus, double span_s) {
    const double idle_w = model.node_idle_w(num_gpus);
    const double asleep_s = span_s - knowledge::break_even_s(model.sleep, idle_w);
    if (asleep_s <= 0) return 0;
    const knowledge::RestEnergy rest = knowledge::rest_energy(model.sleep, asleep_s, true);
    return idle_w * asleep_s - rest.rest_j - rest.transition_j;
  }

  TimeNs interval_ns_;
  double horizon_s_;
  TimeNs min_residence_ns_;
  double move_cost_s_;  ///< checkpoint, restart and warm-up of a moved job
  double delay_price_w_;
};

base::Status check_nodes_sleep(const Composition& c) {
  if (c.rests_nodes()) return {};
  return base::usage_error(
      fmt::format("policy '{}' has consolidate, but its nodes never sleep", c.name),
      "add sleep or remove consolidate");
}

}  // namespace

extern const Part kConsolidate = {
    .kind = PartKind::Migration,
    .name = "consolidate",
    .description = "move jobs off little-used nodes so that they can sleep",
    .install =
        [](PolicySet& set, const RunContext& /*run*/, const PolicyOptions& options) {
          set.migration = std::make_unique<Consolidate>(options);
        },
    .knowledge = KnowledgeUse::Required,
    .check = check_nodes_sleep};

}  // namespace goban::core::policy
