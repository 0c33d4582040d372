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
  model::StartInterval moved{};  ///< as StartCalibration::moved() had it then
};

class StartCalibration {
 public:
  /// A job started at `start_ns`; `raw` is its first forecast, before calibration, with `moved`.
  void learn(const StartForecastAt& raw, base::TimeNs start_ns);
  /// The same, as if these jobs, which still wait at `now` although their intervals have ended,
  /// started now: otherwise only short waits would be known when waits grow. Others are left out.
  [[nodiscard]] StartCalibration with_overdue(const std::vector<StartForecastAt>& waiting,
                                              base::TimeNs now) const;
  /// The ends moved by a low and a high quantile of the errors, and the median by theirs. The
  /// levels, 0.1 and 0.9 at first, follow the share of starts that such intervals missed (adaptive
  /// conformal inference, Gibbs and Candes 2021). Raw, before enough starts are known.
  [[nodiscard]] model::StartInterval moved(const StartForecastAt& raw) const;
  /// Moved, unless of the latest raw intervals a share held that was clearly nearer to 80 %.
  [[nodiscard]] model::StartInterval calibrated(const StartForecastAt& raw) const;
  /// The same of a forecast whose `moved` is this object's.
  [[nodiscard]] model::StartInterval shown(const StartForecastAt& made) const;
  /// Starts that calibrated() rests on.
  [[nodiscard]] size_t known() const { return errors_.size(); }

 private:
  /// ln of actual / forecast wait from then on, each plus a minute.
  struct Errors {
    double low = 0;
    double middle = 0;
    double high = 0;
    bool raw_held = false;  ///< the job started inside the interval
    bool moved_held = false;
  };
  std::deque<Errors> errors_;  ///< of the latest starts
  double outside_ = 0.2;       ///< share of errors outside of both quantiles
  bool is_raw_ = true;         ///< what calibrated() returns
};

}  // namespace goban::core::knowledge
