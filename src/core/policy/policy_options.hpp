// The options of policies, set by name: "max_slowdown=1.2".
#pragma once

#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "core/policy/migration/migration_options.hpp"
#include "core/policy/placement/placement_options.hpp"
#include "core/policy/select/backfill_options.hpp"
#include "core/policy/sharing/observation_options.hpp"
#include "core/policy/sharing/price_options.hpp"
#include "core/policy/sharing/sharing_options.hpp"

namespace goban::core::policy {

/// Options of backfill, placement, sharing and migration, in groups. docs/energy.md has the
/// sensitivity of sharing to the defaults.
struct PolicyOptions {
  SharingRules rules{};
  SharingLimits limits{};
  ObservationOptions observation{};
  PriceOptions prices{};
  MigrationOptions migration{};
  BackfillOptions backfill{};
  PlacementOptions placement{};
};

struct OptionInfo {
  std::string_view name;
  std::string_view description;
};
/// All options that can be set by name.
[[nodiscard]] std::vector<OptionInfo> known_options();

/// Sets an option from "name=value"; "live" sets kLiveSharing. Errors: Usage, with the option and
/// its valid values.
[[nodiscard]] base::Status set_option(PolicyOptions& options, std::string_view assignment);

}  // namespace goban::core::policy
