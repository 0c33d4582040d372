// A run of the simulator that stops wherever a waiting job can start, and asks which one: the
// environment of the laboratory.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/policy/select/select.hpp"
#include "study/lab/estimates.hpp"
#include "study/lab/fiber.hpp"
#include "study/lab/lab.hpp"

namespace goban::study::lab {

struct EpisodeOptions {
  /// Order of the queue and placement, as for core::policy::compose(); the selection is the
  /// agent's.
  std::string parts = "fifo+packed";
  size_t slots = 32;  ///< so many waiting jobs can be chosen from, the first ones of the queue
  RunOptions run{};   ///< its observer is not used
};

/// One episode. A step starts one job, or waits for the next event.
class Episode final : private simulator::Observer {
 public:
  /// What of a job in a slot is observed, in this order.
  enum Feature : uint8_t { kGpus, kEstimate_s, kWait_s, kFeatures };

  /// Errors: Usage if the parts are unknown or preempt.
  [[nodiscard]] static base::Result<std::unique_ptr<Episode>> make(
      std::shared_ptr<const core::model::JobHistory> history, const core::model::Cluster& cluster,
      const EpisodeOptions& options);
  ~Episode() override;

  /// Runs to the first decision. Errors: those of simulate().
  [[nodiscard]] base::Status begin() { return proceed(); }
  /// Starts the job in a slot; `slots` waits. A job that does not fit, or an empty slot, waits,
  /// too; where waiting would last for ever, the first job that fits is started. Errors: those of
  /// simulate().
  [[nodiscard]] base::Status step(size_t action);
  [[nodiscard]] bool over() const { return fiber_.ended(); }

  /// Fills a row of kFeatures for each slot, zeros for empty ones.
  void observe_slots(std::span<float> out) const;
  /// Fills the number of free GPUs of each node.
  void observe_free(std::span<float> out) const;
  /// Fills 1 for each slot that can be chosen, and for waiting.
  void observe_mask(std::span<int8_t> out) const;
  [[nodiscard]] double now_s() const { return base::to_seconds(now_); }
  /// Seconds that jobs spent in the system so far, from submission to end, over all jobs.
  [[nodiscard]] double job_s() const { return job_s_; }
  [[nodiscard]] size_t jobs() const { return history_->jobs.size(); }
  [[nodiscard]] int64_t running() const { return running_; }

 private:
  class Choice;
  class Watched;
  struct Stopped {};
  /// A waiting job that can be chosen. What is kept of it holds while it waits, so that the job
  /// itself is looked at once.
  struct Slot {
    const JobState* job = nullptr;
    uint32_t arrival = 0;
    int32_t gpus = 0;
    float estimate_s = 0;
    bool refused = false;  ///< in this decision: the placement found no GPUs
    TimeNs since = 0;      ///< it waits
  };
  struct Held {
    JobId job{};
    std::vector<core::model::GpuId> gpus;
  };

  Episode(std::shared_ptr<const core::model::JobHistory> history,
          const core::model::Cluster& cluster, const EpisodeOptions& options);
  void run();
  base::Status proceed();
  void select(core::policy::Board& board);
  /// The first jobs of the queue become the slots.
  void fill_slots(core::policy::Board& board);
  [[nodiscard]] bool fits(size_t slot) const;
  [[nodiscard]] bool must_start() const;
  /// Counts the time of the jobs in the system up to `now`.
  void count_to(TimeNs now);
  void hold(JobId job);
  void job_ended(TimeNs now, JobId job, simulator::JobEnd end) override;

  std::shared_ptr<const core::model::JobHistory> history_;
  const core::model::Cluster cluster_;
  EpisodeOptions options_;
  Estimates estimates_;
  std::vector<Slot> slots_;  ///< of the decision in progress; before it, those of the last one
  std::vector<Slot> spare_;  ///< storage of fill_slots()
  std::vector<core::policy::Board::Waiting> waiting_;
  int32_t free_gpus_ = 0;
  std::vector<int32_t> free_;               ///< by node
  std::vector<core::model::GpuId> placed_;  ///< what the placement chose last
  /// What running jobs hold, in any order; behind them storage of jobs that have ended.
  std::vector<Held> held_;
  std::vector<uint32_t> held_at_;  ///< by JobId: in held_
  size_t action_ = 0;
  bool stops_ = false;
  TimeNs now_ = 0;
  TimeNs counted_ = 0;
  double job_s_ = 0;
  size_t submitted_ = 0;
  int64_t in_system_ = 0;
  int64_t running_ = 0;
  base::Status status_;
  Fiber fiber_;  ///< last: its body uses all of the above
};

}  // namespace goban::study::lab
