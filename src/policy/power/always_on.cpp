// On: no node ever sleeps.
#include "policy/power/power.hpp"

namespace goban::policy {
namespace {

class AlwaysOn final : public Power {
 public:
  bool may_sleep() const override { return false; }
};

}  // namespace

std::unique_ptr<Power> make_always_on() { return std::make_unique<AlwaysOn>(); }

}  // namespace goban::policy
