// On: nodes never sleep.
#include "core/policy/part.hpp"
#include "core/policy/power/power.hpp"

namespace goban::core::policy {
namespace {

class AlwaysOn final : public Power {
 public:
  bool may_rest() const override { return false; }
  base::TimeNs rest_after_ns(const knowledge::PowerModel& /*model*/,
                             uint32_t /*num_gpus*/) const override {
    return base::kNever;
  }
};

}  // namespace

extern const Part kAlwaysOn = {.kind = PartKind::Power,
                               .name = "on",
                               .description = "nodes never sleep",
                               .install = put<&PolicySet::power, AlwaysOn>};

}  // namespace goban::core::policy
