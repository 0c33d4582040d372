// On: no node ever sleeps.
#include "policy/power/power.hpp"

namespace goban::policy {
namespace {

class AlwaysOn final : public Power {
 public:
  bool may_rest() const override { return false; }
  base::TimeNs rest_after_ns(const profile::PowerModel& /*model*/,
                             uint32_t /*num_gpus*/) const override {
    return base::kNever;
  }
};

}  // namespace

std::unique_ptr<Power> make_always_on() { return std::make_unique<AlwaysOn>(); }

}  // namespace goban::policy
