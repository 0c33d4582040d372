// Exclusive: one job a GPU.
#include "core/policy/sharing/sharing.hpp"

namespace goban::core::policy {
namespace {

class Exclusive final : public Sharing {
 public:
  int32_t jobs_per_gpu_max() const override { return 1; }
};

}  // namespace

std::unique_ptr<Sharing> make_exclusive() { return std::make_unique<Exclusive>(); }

}  // namespace goban::core::policy
