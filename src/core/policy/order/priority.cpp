// Priority: the largest priority first, then by arrival.
#include "core/policy/order/queue_order.hpp"

namespace goban::core::policy {
namespace {

class Priority final : public Order {
 public:
  OrderKey key(const model::JobState& job, const OrderView&, TimeNs) const override {
    return {job.promoted ? kPromotedTier : kNormalTier, job.arrival,
            -static_cast<int64_t>(job.request.priority)};
  }
};

}  // namespace

std::unique_ptr<Order> make_priority() { return std::make_unique<Priority>(); }

}  // namespace goban::core::policy
