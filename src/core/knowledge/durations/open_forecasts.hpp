// A predictor of run times with the forecasts of the jobs that have not ended, from which it learns
// when they end.
#pragma once

#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/knowledge/durations/duration_predictor.hpp"

namespace goban::core::knowledge {

/// A run that has ended.
struct EndedRun {
  DurationTraits traits{};
  base::TimeNs submit_ns = 0;
  base::TimeNs end_ns = 0;
  double run_s = 0;
};

class OpenForecasts {
 public:
  OpenForecasts() = default;
  /// As if these runs had been submitted and had ended at their times. Call it first, and only
  /// once. Cost: about 5 us each.
  void learn_past(std::vector<EndedRun> runs);

  [[nodiscard]] DurationForecast predict(const DurationTraits& job) const {
    return predictor_.predict(job);
  }
  /// Keeps the forecast of a job that is submitted now.
  const DurationForecast& submitted(model::JobId job, const DurationTraits& traits);
  /// The job ended after it had held its resources for `run_s` in total. Call in order of the ends.
  void ended(model::JobId job, double run_s);
  /// The job never ran.
  void withdrawn(model::JobId job) { open_.erase(job); }
  [[nodiscard]] uint64_t learned() const { return predictor_.learned(); }

  /// The state as bytes; equal states have equal bytes.
  [[nodiscard]] std::string bytes() const;
  /// Into a new object, to the end of the bytes. False if they are damaged; it must not be used
  /// then. `format`: as DurationPredictor::read().
  [[nodiscard]] bool read(base::ByteReader& in, int format = kDurationFormat);

 private:
  /// Jobs that were submitted together and are alike share one.
  struct Open {
    DurationTraits traits{};
    std::shared_ptr<const DurationForecast> forecast{};
  };

  DurationPredictor predictor_;
  std::unordered_map<model::JobId, Open> open_;
  Open last_;
  uint64_t learned_then_ = 0;  ///< when `last_` was made
};

}  // namespace goban::core::knowledge
