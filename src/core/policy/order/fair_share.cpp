// Fair-share: by the fair-share factor of the user (fair_tree.hpp), then by arrival.
#include "core/policy/order/queue_order.hpp"
#include "core/policy/part.hpp"

namespace goban::core::policy {
namespace {

class FairShare final : public QueueOrder {
 public:
  explicit FairShare(const model::SiteRules& rules) : resort_ns_(rules.recalculate_ns) {}
  OrderKey key(const model::JobState& job, const OrderView& view, TimeNs) const override {
    constexpr double kResolution = 1e12;
    return {job.promoted ? kPromotedTier : kNormalTier, job.arrival,
            -static_cast<int64_t>(view.fair_share_of(job) * kResolution)};
  }
  TimeNs resort_ns() const override { return resort_ns_; }
  bool uses_fair_share() const override { return true; }

 private:
  TimeNs resort_ns_;
};

}  // namespace

extern const Part kFairShare = {
    .kind = PartKind::Order,
    .name = "fair-share",
    .description = "least usage for its shares first (Fair Tree)",
    .install = [](PolicySet& set, const RunContext& /*run*/, const PolicyOptions& /*options*/) {
      set.order = std::make_unique<FairShare>(*set.rules);
    }};

}  // namespace goban::core::policy
