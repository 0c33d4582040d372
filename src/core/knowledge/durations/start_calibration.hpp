// Corrects forecast start intervals by how the latest ones held: looking ahead knows nothing of
// jobs that are submitted later.
#pragma once

#include <deque>
#include <vector>

#include "core/model/start_interval.hpp"

namespace goban::core::knowledge {

/// A forecast that was made at `made_ns`.
struct StartForecastAt {
  base::TimeNs made_ns = 0;
  model::StartInterval interval{};
};

class StartCalibration {
 public:
  /// A job started at `start_ns`; `raw` is its first forecast, before calibration.
  void learn(const StartForecastAt& raw, base::TimeNs start_ns);
  /// The same, as if these jobs, which still wait at `now` although their intervals have ended,
  /// started now: otherwise only short waits would be known when waits grow. Others are left out.
  [[nodiscard]] StartCalibration with_overdue(const std::vector<StartForecastAt>& waiting,
                                              base::TimeNs now) const;
  /// The ends moved by the 0.1 and 0.9 quantile of the errors, and the median by theirs. Raw,
  /// before enough starts are known.
  [[nodiscard]] model::StartInterval calibrated(const StartForecastAt& raw) const;
  /// Starts that calibrated() rests on.
  [[nodiscard]] size_t known() const { return errors_.size(); }

 private:
  /// ln of actual / forecast wait from then on, each plus a minute.
  struct Errors {
    double low = 0;
    double middle = 0;
    double high = 0;
  };
  std::deque<Errors> errors_;  ///< of the latest starts
};

}  // namespace goban::core::knowledge
