#include "core/policy/policy_options.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <optional>
#include <string>

#include "base/number.hpp"

namespace goban::core::policy {
namespace {

constexpr std::string_view kLiveRules = "live";

/// Calls `visit(group, settings)` for each group until one returns true.
bool any_group(PolicyOptions& options, const auto& visit) {
  return visit(options.rules, kSharingRules) || visit(options.limits, kSharingLimits) ||
         visit(options.observation, kObservationOptions) || visit(options.prices, kPriceOptions) ||
         visit(options.migration, kMigrationOptions) || visit(options.backfill, kBackfillOptions) ||
         visit(options.placement, kPlacementOptions);
}

template <typename Options>
base::Status set_field(Options& group, const Setting<Options>& setting, std::string_view text) {
  const bool whole = !std::holds_alternative<double Options::*>(setting.field);
  const std::optional<double> value = base::parse_double(text);
  const bool good = value && *value >= setting.min && *value <= setting.max &&
                    (!whole || *value == static_cast<double>(static_cast<int64_t>(*value)));
  if (!good) {
    return base::usage_error(
        fmt::format("setting {}: '{}' is invalid", setting.name, text),
        fmt::format("must be {} from {} to {}: {}", whole ? "an integer" : "a number", setting.min,
                    setting.max, setting.description));
  }
  std::visit(
      [&]<typename Field>(Field Options::* field) { group.*field = static_cast<Field>(*value); },
      setting.field);
  return {};
}

}  // namespace

std::vector<OptionInfo> known_options() {
  std::vector<OptionInfo> out;
  PolicyOptions unused;
  any_group(unused, [&](const auto&, const auto& settings) {
    for (const auto& setting : settings) out.push_back({setting.name, setting.description});
    return false;
  });
  return out;
}

base::Status set_option(PolicyOptions& options, std::string_view assignment) {
  if (assignment == kLiveRules) {
    options.rules = kLiveSharing;
    return {};
  }
  const size_t equals = std::min(assignment.find('='), assignment.size());
  const std::string_view name = assignment.substr(0, equals);
  const std::string_view text = assignment.substr(std::min(equals + 1, assignment.size()));
  base::Status status;
  const bool found = any_group(options, [&](auto& group, const auto& settings) {
    for (const auto& setting : settings) {
      if (setting.name != name) continue;
      status = set_field(group, setting, text);
      return true;
    }
    return false;
  });
  if (found) return status;
  std::vector<std::string_view> names;
  for (const OptionInfo& option : known_options()) names.push_back(option.name);
  return base::usage_error(fmt::format("unknown setting '{}'", name),
                           fmt::format("known: {}, and {} for everyone=0,within_account=1",
                                       fmt::join(names, ", "), kLiveRules));
}

}  // namespace goban::core::policy
