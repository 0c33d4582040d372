// When waiting jobs will start: a copy of the core runs ahead, several times, with run times drawn
// from the forecasts of the jobs. Jobs that will be submitted later are unknown, so what they delay
// is missing; knowledge::StartCalibration corrects for that.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "core/model/start_interval.hpp"
#include "core/policy/compose.hpp"
#include "core/scheduler/core_image.hpp"

namespace goban::core::scheduler {

/// The configuration of the core that runs ahead; what it points to outlives the call.
struct AheadSite {
  policy::SpeedModel speed{};
  const policy::Composition* composition = nullptr;
  std::shared_ptr<const policy::SiteKnowledge> knowledge{};
  uint64_t seed = 1;
};

/// A job that is not submitted: what if it were?
struct AheadJob {
  model::JobRequest request{};
  model::RunForecast forecast{};
};

struct AheadOptions {
  int runs = 20;                        ///< at least 2
  uint64_t seed = 1;                    ///< of the luck; equal seeds have equal luck
  TimeNs horizon_ns = 60 * base::kDay;  ///< how far to look ahead
  /// Submitted at the start, after all others; then only its start is forecast.
  std::optional<AheadJob> extra{};
  /// Of a run; a longer one ends early, and knows no later start. 0 = any number.
  int64_t decisions_max = 0;
  /// Asked between decisions: true ends the run in progress, which does not count.
  std::function<bool()> stop{};
};

struct StartForecasts {
  std::map<JobId, model::StartInterval> starts{};  ///< of the jobs that wait in the image
  model::StartInterval extra{};                    ///< of AheadOptions::extra
  int runs = 0;                                    ///< completed; below 2 there are no starts
};

/// Runs ahead from `now`. The image is that of a core at `now` with this configuration; of a
/// composition that decides in rounds nothing is forecast.
[[nodiscard]] StartForecasts forecast_starts(const AheadSite& site, const CoreImage& image,
                                             TimeNs now, const AheadOptions& options);

}  // namespace goban::core::scheduler
