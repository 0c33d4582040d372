// What agents on nodes said of runs, on its way to the scheduler: progress as reports of the
// engine, usage, ranks and pace with the report of a run's end. Neither side waits for the other.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "live/front_engine.hpp"

namespace goban::serve::daemon {

/// A run's means and peaks so far. Runs are those of live::RunId; run 0 is that of a job that the
/// engine started by itself.
struct RunMeans {
  double util_pct_sum = 0;
  int64_t num_util = 0;
  int64_t gpu_mem_bytes_max = -1;
  double energy_j = 0;
  bool has_energy = false;
};

/// Thread-safe; no call takes longer than a copy.
class AgentBox {
 public:
  /// What the run reported on this node since its start.
  void put_progress(live::RunId run, const std::string& node,
                    const base::reports::RunProgress& progress);
  /// One reading of one of its GPUs that stands for `over_s`; negative values are unknown.
  void put_reading(live::RunId run, const base::gpus::GpuReading& reading, double over_s);
  void put_software(core::model::JobId job, const std::vector<std::string>& names);

  /// New progress since the last call, as reports.
  [[nodiscard]] std::vector<live::Report> take_progress();
  /// Fills in what an Ended report does not say.
  void complete(live::Report& ended) const;
  /// Without doubles, in alphabetical order.
  [[nodiscard]] std::vector<std::string> software_of(core::model::JobId job) const;
  /// Forgets all runs and jobs but these.
  void keep(const std::set<core::model::JobId>& jobs);

 private:
  struct Run {
    std::map<std::string, base::reports::RunProgress> progress{};  ///< by node
    RunMeans means{};
  };
  mutable std::mutex mutex_{};
  std::map<live::RunId, Run> runs_{};
  std::map<core::model::JobId, std::set<std::string>> software_{};
  std::set<std::pair<live::RunId, std::string>> fresh_{};  ///< progress that was not taken
};

/// In front of the engine of a cluster whose nodes have agents.
class AgentEngine final : public live::FrontEngine {
 public:
  AgentEngine(std::unique_ptr<live::Engine> engine, std::shared_ptr<AgentBox> box)
      : FrontEngine(std::move(engine)), box_(std::move(box)) {}

  [[nodiscard]] std::vector<live::EngineEvent> take_events() override;

 private:
  std::shared_ptr<AgentBox> box_;
};

}  // namespace goban::serve::daemon
