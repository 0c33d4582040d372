#include "core/policy/preemption/preemption.hpp"

#include <fmt/format.h>

#include "core/policy/compose.hpp"

namespace goban::core::policy {
namespace {

template <Preemption kPreemption>
void set_preemption(PolicySet& set, const RunContext& /*run*/, const PolicyOptions& /*options*/) {
  set.preemption = kPreemption;
}

/// Non-sticky decisions cannot be combined with sharing or migration.
base::Status check_places_stand(const Composition& c) {
  if (c.is_standard(PartKind::Sharing) && c.is_standard(PartKind::Migration)) return {};
  return base::usage_error(
      fmt::format(
          "policy '{}' combines non-sticky with sharing or migration, which requires that jobs "
          "keep their GPUs",
          c.name),
      "use sticky, by-priority or non-preemptive");
}

}  // namespace

extern const Part kNonPreemptive = {.kind = PartKind::Preemption,
                                    .name = "non-preemptive",
                                    .description = "running jobs keep their GPUs until they end",
                                    .install = set_preemption<Preemption::None>,
                                    .preemption = Preemption::None};

extern const Part kSticky = {.kind = PartKind::Preemption,
                             .name = "sticky",
                             .description = "running jobs yield only to jobs ahead of them",
                             .install = set_preemption<Preemption::Sticky>,
                             .preemption = Preemption::Sticky};

extern const Part kPriced = {
    .kind = PartKind::Preemption,
    .name = "priced",
    .description = "as sticky, where the waiting job gains far more than the running one loses",
    .install =
        [](PolicySet& set, const RunContext& /*run*/, const PolicyOptions& /*options*/) {
          set.preemption = Preemption::Sticky;
          set.price.asked = true;
        },
    .preemption = Preemption::Sticky,
    .uses_forecasts = true};

extern const Part kNonSticky = {.kind = PartKind::Preemption,
                                .name = "non-sticky",
                                .description = "every decision places all jobs again",
                                .install = set_preemption<Preemption::NonSticky>,
                                .preemption = Preemption::NonSticky,
                                .check = check_places_stand};

extern const Part kByPriority = {
    .kind = PartKind::Preemption,
    .name = "by-priority",
    .description = "running jobs yield only to jobs of higher priority",
    .install = set_preemption<Preemption::ByPriority>,
    .preemption = Preemption::ByPriority};

}  // namespace goban::core::policy
