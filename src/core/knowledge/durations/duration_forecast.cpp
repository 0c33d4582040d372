#include "core/knowledge/durations/duration_forecast.hpp"

#include <algorithm>

namespace goban::core::knowledge {
namespace {

constexpr std::array<std::string_view, kDurationBases> kBasisNames = {
    "unknown",     "limit_only",      "all",          "size",
    "limit",       "account",         "account_size", "user",
    "user_size",   "user_limit",      "user_name",    "user_name_size",
    "user_script", "user_script_size"};

}  // namespace

std::string_view name_of(DurationBasis basis) { return kBasisNames[static_cast<size_t>(basis)]; }

DurationBasis basis_of(std::string_view name) {
  const auto* const found = std::ranges::find(kBasisNames, name);
  if (found == kBasisNames.end()) return DurationBasis::Unknown;
  return static_cast<DurationBasis>(found - kBasisNames.begin());
}

model::RunForecast DurationForecast::for_core() const {
  if (!has_interval()) return {};
  return {.p10_ns = base::from_seconds(p10_s),
          .p50_ns = base::from_seconds(p50_s),
          .p90_ns = base::from_seconds(p90_s)};
}

std::string_view text_of(DurationBasis basis) {
  switch (basis) {
    case DurationBasis::Unknown:
      return "too few runs";
    case DurationBasis::LimitOnly:
      return "too few runs; the walltime limit";
    case DurationBasis::AllRuns:
      return "all runs";
    case DurationBasis::Size:
      return "runs with about as many GPUs";
    case DurationBasis::Limit:
      return "runs with the same limit";
    case DurationBasis::Account:
      return "runs of this account";
    case DurationBasis::AccountSize:
      return "runs of this account with about as many GPUs";
    case DurationBasis::User:
      return "runs of this user";
    case DurationBasis::UserSize:
      return "runs of this user with about as many GPUs";
    case DurationBasis::UserLimit:
      return "runs of this user with the same limit and size";
    case DurationBasis::UserName:
      return "runs of this user with this name";
    case DurationBasis::UserNameSize:
      return "runs of this user with this name, limit and size";
    case DurationBasis::UserScript:
      return "runs of this user with this script";
    case DurationBasis::UserScriptSize:
      return "runs of this user with this script, limit and size";
  }
  return "";
}

}  // namespace goban::core::knowledge
