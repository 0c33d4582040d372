// Stay: running jobs are never moved.
#include "core/policy/migration/migration.hpp"
#include "core/policy/part.hpp"

namespace goban::core::policy {

extern const Part kStay = {.kind = PartKind::Migration,
                           .name = "stay",
                           .description = "running jobs are never moved",
                           .install = put<&PolicySet::migration, Migration>};

}  // namespace goban::core::policy
