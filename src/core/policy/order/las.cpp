// Least attained service: who held resources for the shortest time (wall time, not multiplied by
// GPUs; PAL spec 7) goes first.
#include "core/policy/order/queue_order.hpp"

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

std::unique_ptr<QueueOrder> make_las(TimeNs quantum_ns) {
  return std::make_unique<LeastAttainedService>(quantum_ns);
}

}  // namespace goban::core::policy
