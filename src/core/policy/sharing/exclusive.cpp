// Exclusive: one job per GPU.
#include "core/policy/part.hpp"
#include "core/policy/sharing/sharing.hpp"

namespace goban::core::policy {
namespace {

class Exclusive final : public Sharing {
 public:
  int32_t jobs_per_gpu_max() const override { return 1; }
};

}  // namespace

extern const Part kExclusive = {.kind = PartKind::Sharing,
                                .name = "exclusive",
                                .description = "one job per GPU",
                                .install = put<&PolicySet::sharing, Exclusive>};

}  // namespace goban::core::policy
