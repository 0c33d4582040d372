// Least attained service: the job that has held resources for the shortest time first (wall time,
// not multiplied by GPUs; PAL: queue order, docs/papers.md).
#include "core/policy/order/queue_order.hpp"
#include "core/policy/part.hpp"

namespace goban::core::policy {
namespace {

class LeastAttainedService final : public QueueOrder {
 public:
  explicit LeastAttainedService(TimeNs quantum_ns) : quantum_ns_(quantum_ns) {}

  OrderKey key(const model::JobState& job, const OrderView&, TimeNs now) const override {
    const TimeNs attained = job.attained_ns(now);
    const TimeNs counted = quantum_ns_ > 0 ? attained / quantum_ns_ : attained;
    return {job.promoted ? kPromotedTier : kNormalTier, job.arrival, counted};
  }
  bool drifts() const override { return true; }

 private:
  TimeNs quantum_ns_;
};

}  // namespace

// Attained service is compared in multiples of the interval of the run: with an exact comparison,
// two jobs would alternate at every event.
extern const Part kLas = {
    .kind = PartKind::Order,
    .name = "las",
    .description = "least attained service first: wall time held so far",
    .install =
        [](PolicySet& set, const RunContext& /*run*/, const PolicyOptions& /*options*/) {
          set.order = std::make_unique<LeastAttainedService>(set.interval_ns);
        },
    .preemption = Preemption::Sticky,
    .starvation_s = kStarvation_s};

}  // namespace goban::core::policy
