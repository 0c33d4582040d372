// Levels of attained service: who held little GPU time so far goes first, as in LAS, but compared
// in levels that double, so that a job gives way only a few times in its life (the discretised
// 2D-LAS of Tiresias, NSDI'19). First come, first served within a level. Jobs of a priority above
// zero go before all others, the highest first.
#include <algorithm>
#include <bit>

#include "core/policy/order/queue_order.hpp"

namespace goban::core::policy {
namespace {

class AttainedLevels final : public QueueOrder {
 public:
  explicit AttainedLevels(TimeNs first_gpu_ns) : first_gpu_ns_(first_gpu_ns) {}

  OrderKey key(const model::JobState& job, const OrderView&, TimeNs now) const override {
    const auto gpus = static_cast<double>(std::max(job.request.num_gpus, 1));
    const double firsts =
        gpus * static_cast<double>(job.attained_ns(now)) / static_cast<double>(first_gpu_ns_);
    constexpr double kMost = 1e15;
    const auto level =
        static_cast<int64_t>(std::bit_width(static_cast<uint64_t>(std::min(firsts, kMost))));
    const int32_t normal = job.promoted ? kPromotedTier : kNormalTier;
    const int32_t priority = job.request.priority;
    return {priority > 0 ? -priority : normal, job.arrival, level};
  }
  bool drifts() const override { return true; }

 private:
  TimeNs first_gpu_ns_;
};

}  // namespace

std::unique_ptr<QueueOrder> make_attained_levels(TimeNs first_gpu_ns) {
  return std::make_unique<AttainedLevels>(first_gpu_ns);
}

}  // namespace goban::core::policy
