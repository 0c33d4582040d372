// Multifactor priority, as in Slurm's plug-in: the weighted sum of age, fair-share, quality of
// service, partition and size, each from 0 to 1. Equal priorities are ordered by arrival.
#include <algorithm>
#include <cmath>

#include "core/policy/order/queue_order.hpp"
#include "core/policy/part.hpp"

namespace goban::core::policy {
namespace {

double priority_of(const std::vector<double>& by_id, size_t id) {
  return id < by_id.size() ? by_id[id] : 0.0;
}

class Multifactor final : public QueueOrder {
 public:
  explicit Multifactor(const model::SiteRules& rules) : rules_(&rules) {}

  OrderKey key(const model::JobState& job, const OrderView& view, TimeNs now) const override {
    const model::PriorityWeights& weights = rules_->weights;
    const model::JobRequest& request = job.request;
    const double age =
        base::to_seconds(now - request.submit_ns) / base::to_seconds(weights.age_max_ns);
    double priority = weights.age * std::clamp(age, 0.0, 1.0);
    priority += weights.fair_share * view.fair_share_of(job);
    priority += weights.qos * priority_of(rules_->qos_priority, request.qos.index());
    priority +=
        weights.partition * priority_of(rules_->partition_priority, request.partition.index());
    const double size = static_cast<double>(request.num_gpus) / view.cluster_gpus;
    priority += weights.size >= 0 ? weights.size * size : -weights.size * (1 - size);
    return {job.promoted ? kPromotedTier : kNormalTier, job.arrival, -std::llround(priority)};
  }
  TimeNs resort_ns() const override { return rules_->recalculate_ns; }
  bool uses_fair_share() const override { return true; }

 private:
  const model::SiteRules* rules_;
};

}  // namespace

// The set owns the rules; they outlive the order.
extern const Part kMultifactor = {
    .kind = PartKind::Order,
    .name = "multifactor",
    .description = "Slurm's weighted sum of age, fair-share, qos, partition and size",
    .install = [](PolicySet& set, const RunContext& /*run*/, const PolicyOptions& /*options*/) {
      set.order = std::make_unique<Multifactor>(*set.rules);
    }};

}  // namespace goban::core::policy
