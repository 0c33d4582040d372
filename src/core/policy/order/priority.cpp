// Priority: the largest priority first, then by arrival.
#include "core/policy/order/queue_order.hpp"

namespace goban::core::policy {
namespace {

class Priority final : public QueueOrder {
 public:
  OrderKey key(const model::JobState& job, const OrderView&, TimeNs) const override {
    return {job.promoted ? kPromotedTier : kNormalTier, job.arrival,
            -static_cast<int64_t>(job.request.priority)};
  }
};

}  // namespace

std::unique_ptr<QueueOrder> make_priority() { return std::make_unique<Priority>(); }

}  // namespace goban::core::policy
