// First in, first out: by submit time.
#include "core/policy/order/queue_order.hpp"
#include "core/policy/part.hpp"

namespace goban::core::policy {
namespace {

class Fifo final : public QueueOrder {
 public:
  OrderKey key(const model::JobState& job, const OrderView&, TimeNs) const override {
    return {job.promoted ? kPromotedTier : kNormalTier, job.arrival, job.request.submit_ns};
  }
};

}  // namespace

extern const Part kFifo = {.kind = PartKind::Order,
                           .name = "fifo",
                           .description = "by submit time",
                           .install = put<&PolicySet::order, Fifo>};

}  // namespace goban::core::policy
