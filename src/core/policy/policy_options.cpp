#include "core/policy/policy_options.hpp"

#include <algorithm>
#include <array>
#include <fmt/format.h>

#include "base/number.hpp"
#include "core/knowledge/colocation/colocation_history.hpp"

namespace goban::core::policy {
namespace {

using knowledge::kSetMax;

/// A number in [min, max] and where it goes; whole numbers and switches (0 or 1) are numbers, too.
struct Setter {
  EacoSetting setting{};
  double min = 0;
  double max = 0;
  bool whole = false;
  void (*set)(EacoOptions&, double) = nullptr;
};

constexpr double kSecondsMax = 1e9;
constexpr std::string_view kLiveRules = "live";

constexpr std::array kSetters = {
    Setter{{"everyone", "0: only jobs share that say so, or whose partition does"},
           0,
           1,
           true,
           [](EacoOptions& o, double v) { o.rules.everyone = v > 0; }},
    Setter{{"within_account", "1: neighbours have to be of one account"},
           0,
           1,
           true,
           [](EacoOptions& o, double v) { o.rules.within_account = v > 0; }},
    Setter{{"unenforced", "1: also GPUs on which nobody is held to the memory that he asked for"},
           0,
           1,
           true,
           [](EacoOptions& o, double v) { o.rules.unenforced = v > 0; }},
    Setter{{"jobs_per_gpu_max", "jobs on one GPU"},
           1,
           static_cast<double>(kSetMax),
           true,
           [](EacoOptions& o, double v) { o.jobs_per_gpu_max = static_cast<int32_t>(v); }},
    Setter{{"util_max_pct", "utilisation of a GPU, summed over its jobs alone"},
           0,
           100.0 * kSetMax,
           false,
           [](EacoOptions& o, double v) { o.util_max_pct = v; }},
    Setter{{"max_slowdown", "of a job that promises nothing, as expected"},
           1,
           1000,
           false,
           [](EacoOptions& o, double v) { o.max_slowdown = v; }},
    Setter{{"lost_deadlines_bind", "1: deadlines that are lost even alone forbid sharing"},
           0,
           1,
           true,
           [](EacoOptions& o, double v) { o.lost_deadlines_bind = v > 0; }},
    Setter{{"spare_promises", "1: jobs that can keep a promise give way to priority only"},
           0,
           1,
           true,
           [](EacoOptions& o, double v) { o.spare_promises = v > 0; }},
    Setter{{"observe_max_s", "longest observation of a provisional place"},
           1,
           kSecondsMax,
           false,
           [](EacoOptions& o, double v) { o.observe_max_s = v; }},
    Setter{{"min_residence_s", "after a join or leave nobody joins for so long"},
           0,
           kSecondsMax,
           false,
           [](EacoOptions& o, double v) { o.min_residence_s = v; }},
    Setter{{"cool_down_s", "after an undo the job stays alone for so long"},
           0,
           kSecondsMax,
           false,
           [](EacoOptions& o, double v) { o.cool_down_s = v; }},
    Setter{{"undo_cost_s", "what an undo costs a job, charged in deadlines"},
           0,
           kSecondsMax,
           false,
           [](EacoOptions& o, double v) { o.undo_cost_s = v; }},
    Setter{{"broken_max", "applications that broke together more often are kept apart"},
           0,
           1e9,
           true,
           [](EacoOptions& o, double v) { o.broken_max = static_cast<uint32_t>(v); }},
    Setter{{"min_saving", "part of the joules per work that sharing has to save"},
           -1,
           1,
           false,
           [](EacoOptions& o, double v) { o.min_saving = v; }},
    Setter{{"delay_price_w", "joules that have to be saved for a second's delay of a job"},
           0,
           1e9,
           false,
           [](EacoOptions& o, double v) { o.delay_price_w = v; }},
    Setter{{"crowded_rates", "if more GPUs are asked for than exist: least sum of rates; 0: off"},
           0,
           static_cast<double>(kSetMax),
           false,
           [](EacoOptions& o, double v) { o.crowded_rates = v; }},
    Setter{{"power_caps", "0: GPUs are never limited"},
           0,
           1,
           true,
           [](EacoOptions& o, double v) { o.power_caps = v > 0; }},
    Setter{{"cap_price_w", "as delay_price_w, of power limits alone, if that is more"},
           0,
           1e9,
           false,
           [](EacoOptions& o, double v) { o.cap_price_w = v; }},
    Setter{{"move_interval_s", "so often nodes are looked for that jobs could leave"},
           1,
           kSecondsMax,
           false,
           [](EacoOptions& o, double v) { o.move_interval_s = v; }},
    Setter{{"move_horizon_s", "a node that jobs left counts as unused for so long at most"},
           0,
           kSecondsMax,
           false,
           [](EacoOptions& o, double v) { o.move_horizon_s = v; }},
};

std::string names() {
  std::string out;
  for (const Setter& setter : kSetters) {
    out += out.empty() ? "" : ", ";
    out += setter.setting.name;
  }
  return out;
}

constexpr auto settings_of(const auto& setters) {
  std::array<EacoSetting, kSetters.size()> out{};
  std::ranges::transform(setters, out.begin(), &Setter::setting);
  return out;
}
constexpr auto kSettings = settings_of(kSetters);

}  // namespace

std::span<const EacoSetting> eaco_settings() { return kSettings; }

base::Status set_eaco(EacoOptions& options, std::string_view assignment) {
  if (assignment == kLiveRules) {
    options.rules = kLiveSharing;
    return {};
  }
  const size_t equals = std::min(assignment.find('='), assignment.size());
  const std::string_view name = assignment.substr(0, equals);
  const auto* const setter =
      std::ranges::find(kSetters, name, [](const Setter& each) { return each.setting.name; });
  if (setter == kSetters.end()) {
    return base::usage_error(
        fmt::format("unknown setting of sharing '{}'", name),
        fmt::format("known: {}, and {} for everyone=0,within_account=1", names(), kLiveRules));
  }
  const std::string_view text = assignment.substr(std::min(equals + 1, assignment.size()));
  const std::optional<double> value = base::parse_double(text);
  const bool good = value && *value >= setter->min && *value <= setter->max &&
                    (!setter->whole || *value == static_cast<double>(static_cast<int64_t>(*value)));
  if (!good) {
    return base::usage_error(
        fmt::format("setting {} of sharing cannot be '{}'", name, text),
        fmt::format("give a {} from {} to {}: {}", setter->whole ? "whole number" : "number",
                    setter->min, setter->max, setter->setting.description));
  }
  setter->set(options, *value);
  return {};
}

}  // namespace goban::core::policy
