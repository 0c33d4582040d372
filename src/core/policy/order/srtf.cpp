// Shortest remaining time first: true work minus attained wall time, which may be negative (PAL:
// queue order, docs/papers.md). Requires the true work of every job: simulation only.
#include "base/check.hpp"
#include "core/policy/knowledge.hpp"
#include "core/policy/order/queue_order.hpp"
#include "core/policy/part.hpp"

namespace goban::core::policy {
namespace {

class ShortestRemaining final : public QueueOrder {
 public:
  explicit ShortestRemaining(const model::WorkOracle* oracle) : oracle_(oracle) {
    GOBAN_CHECK(oracle_ != nullptr, "srtf requires an oracle");
  }

  OrderKey key(const model::JobState& job, const OrderView&, TimeNs now) const override {
    const TimeNs total = base::from_seconds(oracle_->total_work_s(job.job));
    return {job.promoted ? kPromotedTier : kNormalTier, job.arrival, total - job.attained_ns(now)};
  }
  bool drifts() const override { return true; }

 private:
  const model::WorkOracle* oracle_;
};

}  // namespace

extern const Part kSrtf = {
    .kind = PartKind::Order,
    .name = "srtf",
    .description = "shortest remaining time first; needs true durations: simulation only",
    .install =
        [](PolicySet& set, const RunContext& run, const PolicyOptions& /*options*/) {
          set.order = std::make_unique<ShortestRemaining>(run.oracle);
        },
    .needs_true_work = true,
    .preemption = Preemption::Sticky,
    .starvation_s = kStarvation_s};

}  // namespace goban::core::policy
