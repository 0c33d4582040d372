// ElasticFlow's plan of the free GPUs over time for jobs in order of their deadlines (ElasticFlow:
// artifact, docs/studies/rivals.md).
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <utility>
#include <vector>

namespace goban::study::rivals {

/// Numbers of GPUs that a job can use, with its rates; ascending.
struct ElasticLevels {
  std::vector<std::pair<int32_t, double>> rates;

  [[nodiscard]] int32_t most() const { return rates.back().first; }
  /// The largest number of GPUs up to `gpus`; 0 if there is none.
  [[nodiscard]] int32_t at_most(int32_t gpus) const;
  /// Steps per second on one of the levels.
  [[nodiscard]] double rate(int32_t gpus) const;
};

struct PlannedJob {
  int32_t gpus_now = 0;
  double end_s = 0;
};

/// Plans one job after the other into what those before left free.
class ElasticPlan {
 public:
  ElasticPlan(double now_s, int32_t num_gpus)
      : now_s_(now_s), num_gpus_(num_gpus), free_{{now_s, num_gpus}} {}

  /// `left`: steps to do.
  [[nodiscard]] PlannedJob add(const ElasticLevels& levels, double left);

 private:
  /// The slot in which `end_s` falls, counted from now.
  [[nodiscard]] double slot_end(double end_s) const;
  void keep_changes(std::map<double, int32_t> free);

  double now_s_;
  int32_t num_gpus_;
  std::map<double, int32_t> free_;  ///< free GPUs from each time on
};

}  // namespace goban::study::rivals
