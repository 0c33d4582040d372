// Expansion factor: a job's wait in proportion to its size. Each job has a time at which its wait
// has reached kStretch times its expected remaining run time, weighted with the root of its GPUs;
// the job whose time comes first goes first. So short jobs pass long ones, but a long one only for
// so long: the time of a waiting job is fixed, and nobody starves. (Among jobs that arrive together
// this is shortest first; the expansion factor itself would have to be sorted again all the time.)
// Jobs with priority above zero precede all others, the highest first. `fair-expansion` shortens
// the time by the fair-share factor, so that the few large jobs of an account that has used little
// do not give way to all the short jobs of one that has used much.
#include <cmath>

#include "core/policy/order/expected_left.hpp"
#include "core/policy/order/queue_order.hpp"
#include "core/policy/part.hpp"

namespace goban::core::policy {
namespace {

/// Chosen on histories that docs/studies/ahead.md does not report.
constexpr double kStretch = 20;
/// Shorter jobs count as this long.
constexpr TimeNs kShortest_ns = base::kMinute;
constexpr double kLatest_ns = 9e18;
/// A fair-share factor of 1 / kFairness halves the time for which a job lets others pass. Chosen on
/// ThetaGPU, from 2023-02-01, seeds 101 and 102.
constexpr double kFairness = 8;
/// Waiting time after which a job is promoted: where no start can be promised, large jobs could
/// starve.
constexpr double kStarvationOfLarge_s = 7.0 * base::kDay_s;

class Expansion : public QueueOrder {
 public:
  OrderKey key(const model::JobState& job, const OrderView& view, TimeNs now) const override {
    const TimeNs left = std::max(expected_left_ns(job, now), kShortest_ns);
    const double size = std::sqrt(static_cast<double>(std::max(job.request.num_gpus, 1)));
    const double due = static_cast<double>(job.request.submit_ns) +
                       kStretch * static_cast<double>(left) * size * patience(job, view);
    const int32_t normal = job.promoted ? kPromotedTier : kNormalTier;
    const int32_t priority = job.request.priority;
    return {priority > 0 ? -priority : normal, job.arrival,
            static_cast<int64_t>(std::min(due, kLatest_ns))};
  }
  bool drifts() const override { return true; }

 private:
  /// A share of the time for which a job lets others pass.
  virtual double patience(const model::JobState& /*job*/, const OrderView& /*view*/) const {
    return 1;
  }
};

/// The less an account has used of its share, the less its jobs let others pass.
class FairExpansion final : public Expansion {
 public:
  explicit FairExpansion(const model::SiteRules& rules) : resort_ns_(rules.recalculate_ns) {}

  TimeNs resort_ns() const override { return resort_ns_; }
  bool uses_fair_share() const override { return true; }

 private:
  double patience(const model::JobState& job, const OrderView& view) const override {
    return std::exp2(-kFairness * view.fair_share_of(job));
  }

  TimeNs resort_ns_;
};

}  // namespace

extern const Part kExpansion = {
    .kind = PartKind::Order,
    .name = "expansion",
    .description = "by wait in proportion to predicted run time: short jobs first, nobody starves",
    .install = [](PolicySet& set, const RunContext& /*run*/,
                  const PolicyOptions& /*options*/) { set.order = std::make_unique<Expansion>(); },
    .preemption = Preemption::Sticky,
    .starvation_s = kStarvationOfLarge_s,
    .uses_forecasts = true};

extern const Part kFairExpansion = {
    .kind = PartKind::Order,
    .name = "fair-expansion",
    .description = "as expansion; jobs of accounts that have used little of their share wait less",
    .install =
        [](PolicySet& set, const RunContext& /*run*/, const PolicyOptions& /*options*/) {
          set.order = std::make_unique<FairExpansion>(*set.rules);
        },
    .preemption = Preemption::Sticky,
    .starvation_s = kStarvationOfLarge_s,
    .uses_forecasts = true};

}  // namespace goban::core::policy
