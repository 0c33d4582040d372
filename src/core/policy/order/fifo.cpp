// First in, first out: by submit time.
#include "core/policy/order/queue_order.hpp"

namespace goban::core::policy {
namespace {

class Fifo final : public QueueOrder {
 public:
  OrderKey key(const model::JobState& job, const OrderView&, TimeNs) const override {
    return {job.promoted ? kPromotedTier : kNormalTier, job.arrival, job.request.submit_ns};
  }
};

}  // namespace

std::unique_ptr<QueueOrder> make_fifo() { return std::make_unique<Fifo>(); }

}  // namespace goban::core::policy
