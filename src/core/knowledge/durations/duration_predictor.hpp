// Predicts how long jobs run, from the runs that have ended so far. Every group of similar runs
// (all, by size, by limit, by account, by user, by name, by script, and combinations) has two
// histograms of run times, one that forgets slowly and one that forgets fast. A forecast mixes them
// from the most general group to the most special one; each pulls the mixture towards itself in
// proportion to its runs. Quantiles are read at levels that LevelCalibration corrects.
//
// The fast histograms follow a user from one experiment to the next, but where many jobs are
// submitted together they repeat what the last few had in common. So there are two mixtures, with
// and without them, and each counts as much as it has been right lately (exponential weights of
// their pinball losses).
//
// Deterministic: equal calls in equal order give equal bits on every machine.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "core/knowledge/durations/duration_forecast.hpp"
#include "core/knowledge/durations/level_calibration.hpp"

namespace goban::core::knowledge {

/// Of the bytes of predictors and open forecasts: 1 without scripts and losses of mixtures.
inline constexpr int kDurationFormat = 2;

class DurationPredictor {
 public:
  /// Keeps at most `groups_max` groups (about 800 bytes each); the one that was learned least
  /// recently is dropped.
  explicit DurationPredictor(size_t groups_max = 65'536);

  /// Forecast at submission. Cost: 1 to 3 us.
  [[nodiscard]] DurationForecast predict(const DurationTraits& job) const;

  /// Learns from a run that has ended: `forecast` is the one made at its submission. Runs above the
  /// limit count as the limit. Call in the order of the ends, and not for jobs that never started.
  void learn(const DurationTraits& job, const DurationForecast& forecast, double run_s);

  [[nodiscard]] size_t num_groups() const { return index_.size(); }
  /// Number of runs learned.
  [[nodiscard]] uint64_t learned() const { return learned_; }

  /// The state as bytes. A predictor that has read them predicts and learns as this one does.
  void write(std::string& out) const;
  /// Into a new predictor. False if they are damaged or have more groups than it keeps; it must not
  /// be used then. `format`: kDurationFormat, or that of the release that wrote them.
  [[nodiscard]] bool read(base::ByteReader& in, int format = kDurationFormat);

 private:
  struct Key {
    DurationBasis basis{};
    uint32_t who = 0;
    uint32_t what = 0;
    int32_t size = 0;
    uint32_t limit_s = 0;
    friend bool operator==(const Key&, const Key&) = default;
  };
  struct KeyHash {
    size_t operator()(const Key& key) const;
  };
  struct Keys {
    std::array<Key, 12> keys{};
    size_t count = 0;
  };
  struct Group {
    DurationCounts slow;
    DurationCounts fast;
    Key key;
    uint32_t older = UINT32_MAX;  ///< neighbours in the order of learning
    uint32_t newer = UINT32_MAX;
  };

  [[nodiscard]] static Keys keys_of(const DurationTraits& job);
  [[nodiscard]] const Group* find(const Key& key) const;
  /// Of the mixture with the fast histograms; the other one has the rest.
  [[nodiscard]] double weight_of_fast() const;
  void learn_losses(const DurationForecast& forecast, double run_s);
  [[nodiscard]] uint8_t familiarity(const DurationTraits& job) const;
  /// The group as the one that was learned last; made if it is new.
  Group& touch(const Key& key);
  void unlink(uint32_t at);
  void link_last(uint32_t at);

  size_t groups_max_;
  std::unordered_map<Key, uint32_t, KeyHash> index_;  ///< into groups_
  std::vector<Group> groups_;
  uint32_t oldest_ = UINT32_MAX;
  uint32_t newest_ = UINT32_MAX;
  std::array<LevelCalibration, 3> calibrations_;  ///< by familiarity
  uint64_t learned_ = 0;
  /// Discounted sums of pinball losses, with and without the fast histograms.
  std::array<double, 2> losses_{};
};

}  // namespace goban::core::knowledge
