// Levels of attained service: jobs with less GPU time first, as in LAS, but compared by levels of
// doubling size, so that a job is preempted only a few times (the discretised 2D-LAS of Tiresias,
// NSDI'19). FIFO within a level. Jobs with priority above zero precede all others, the highest
// first.
#include <algorithm>
#include <bit>

#include "core/policy/order/queue_order.hpp"
#include "core/policy/part.hpp"

namespace goban::core::policy {
namespace {

/// GPU time at which the first level ends; each further level ends at twice the previous one.
constexpr TimeNs kFirstLevel_gpu_ns = 3600 * base::kSecond;
/// Waiting time after which a job is promoted: with the selection skip, large jobs could starve.
constexpr double kLevelsStarvation_s = 24.0 * 3600;

class AttainedLevels final : public QueueOrder {
 public:
  OrderKey key(const model::JobState& job, const OrderView&, TimeNs now) const override {
    const auto gpus = static_cast<double>(std::max(job.request.num_gpus, 1));
    const double firsts =
        gpus * static_cast<double>(job.attained_ns(now)) / static_cast<double>(kFirstLevel_gpu_ns);
    constexpr double kMost = 1e15;
    const auto level =
        static_cast<int64_t>(std::bit_width(static_cast<uint64_t>(std::min(firsts, kMost))));
    const int32_t normal = job.promoted ? kPromotedTier : kNormalTier;
    const int32_t priority = job.request.priority;
    return {priority > 0 ? -priority : normal, job.arrival, level};
  }
  bool drifts() const override { return true; }
};

}  // namespace

extern const Part kLasLevels = {
    .kind = PartKind::Order,
    .name = "las-levels",
    .description = "LAS by GPU time in levels of doubling size: few preemptions",
    .install =
        [](PolicySet& set, const RunContext& /*run*/, const PolicyOptions& /*options*/) {
          set.order = std::make_unique<AttainedLevels>();
        },
    .preemption = Preemption::Sticky,
    .starvation_s = kLevelsStarvation_s};

}  // namespace goban::core::policy
