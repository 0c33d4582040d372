#include "core/policy/pilot_policies.hpp"

#include <algorithm>
#include <array>
#include <fmt/format.h>

namespace goban::core::policy {

base::Status check_pilot_policy(const char* field, const Composition& policy) {
  const base::Place place{.file = {}, .line = 0, .column = 0, .field = field};
  if (policy.simulation_only()) {
    return base::bad_data(place,
                          fmt::format("policy '{}' requires true job durations, which exist only "
                                      "in simulation",
                                      policy.name),
                          "use another policy; goban policies lists them");
  }
  const bool is_plain =
      !policy.needs_knowledge() &&
      std::ranges::all_of(
          std::array{PartKind::Sharing, PartKind::Power, PartKind::Migration}, [&](PartKind kind) {
            return policy.is_standard(kind) || policy.part(kind).knowledge != KnowledgeUse::None;
          });
  if (is_plain) return {};
  return base::bad_data(
      place,
      fmt::format("policy '{}' shares GPUs, moves jobs or lets nodes sleep, which cannot be undone "
                  "at the end of a period",
                  policy.name),
      "use a policy that does not");
}

bool decide_alike(const Composition& a, const Composition& b) {
  return a.parts == b.parts && a.artifact == b.artifact && a.settings.round_s == b.settings.round_s;
}

}  // namespace goban::core::policy
