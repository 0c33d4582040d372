// Priority: largest priority first, then by arrival.
#include "core/policy/order/queue_order.hpp"
#include "core/policy/part.hpp"

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

extern const Part kPriority = {.kind = PartKind::Order,
                               .name = "priority",
                               .description = "largest priority first, then by submit time",
                               .install = put<&PolicySet::order, Priority>};

}  // namespace goban::core::policy
