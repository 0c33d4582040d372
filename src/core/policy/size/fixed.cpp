// Fixed sizes: jobs run on the GPUs that they requested.
#include "core/policy/part.hpp"
#include "core/policy/size/size.hpp"

namespace goban::core::policy {

extern const Part kFixed = {.kind = PartKind::Size,
                            .name = "fixed",
                            .description = "jobs run on as many GPUs as they requested",
                            .install = put<&PolicySet::size, SizePolicy>};

}  // namespace goban::core::policy
