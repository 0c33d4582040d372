// Sleep: a node sleeps after its break-even time of idleness (ski rental: at most twice the
// optimum).
#include <cmath>

#include "core/policy/part.hpp"
#include "core/policy/power/power.hpp"

namespace goban::core::policy {
namespace {

class Sleep final : public Power {
 public:
  bool may_rest() const override { return true; }
  base::TimeNs rest_after_ns(const knowledge::PowerModel& model, uint32_t num_gpus) const override {
    const double after_s = knowledge::break_even_s(model.sleep, model.node_idle_w(num_gpus));
    return std::isfinite(after_s) ? base::from_seconds(after_s) : base::kNever;
  }
};

}  // namespace

extern const Part kSleep = {
    .kind = PartKind::Power,
    .name = "sleep",
    .description = "nodes sleep after their break-even time if no job waits",
    .install = put<&PolicySet::power, Sleep>,
    .knowledge = KnowledgeUse::Required,
    .rests_nodes = true};

}  // namespace goban::core::policy
