// Keeps PM scores up to date: it learns from finished jobs, measures idle GPUs, and lets scores
// expire that were measured under another driver. Changes are sent to the scheduler as
// live::controller::ScoresMeasured, as if an operator had sent them, so the journal records them.
#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "core/knowledge/measure/learned_scores.hpp"
#include "live/machine/refresh.hpp"
#include "serve/api/api.hpp"
#include "serve/daemon/measuring_gate.hpp"
#include "serve/daemon/score_evidence.hpp"
#include "serve/stores/profile_book.hpp"

namespace goban::serve::daemon {

/// Queue of evidence from the accounting to the ScoreKeeper. Thread-safe.
class EvidenceBox {
 public:
  struct Entry {
    core::knowledge::LearnedScores::Seen job{};
    std::vector<core::knowledge::RunEvidence> runs{};
  };
  void put(const live::controller::LiveJob& job, stores::ProfileBook& profiles,
           const EvidenceRules& rules = {});
  [[nodiscard]] std::vector<Entry> take();

 private:
  std::mutex mutex_{};
  std::vector<Entry> entries_{};
};

using MeasureFunction = std::function<live::machine::SessionResult(
    const base::gpus::MachineGpus& machine, const live::machine::SessionPlan& plan,
    const std::function<live::machine::BusyGpus()>& busy, const std::atomic<bool>& interrupted)>;

struct ScoreKeeperOptions {
  std::string state{};   ///< folder of `scores.learned.json`
  std::string scores{};  ///< score table whose measurement log is continued (measure_book.hpp)
  bool refreshes = true;
  double refresh_cost_s = live::machine::kRefreshSeconds;
  base::TimeNs every_ns = base::kSecond;  ///< period of turn(); 0 = no thread, the caller calls it
  base::TimeNs look_every_ns = 60 * base::kSecond;  ///< period of checking driver and log
  core::knowledge::LearnOptions learning{};
  /// Whether the state folder still belongs to this daemon; empty function: always.
  std::function<bool()> may_write{};
  std::function<int64_t()> unix_clock{};          ///< empty: the system's
  MeasureFunction measure{};                      ///< empty: measures as `goban profile` does
  std::function<void(const std::string&)> say{};  ///< log lines
};

class ScoreKeeper final : public api::ScoreReporter {
 public:
  /// `scheduler` and `box` outlive this object.
  ScoreKeeper(live::loop::SchedulerClient& scheduler, base::gpus::MachineGpus machine,
              EvidenceBox& box, std::shared_ptr<MeasuringGate> gate, ScoreKeeperOptions options);
  /// Interrupts a measurement.
  ~ScoreKeeper() override;
  ScoreKeeper(const ScoreKeeper&) = delete;
  ScoreKeeper& operator=(const ScoreKeeper&) = delete;

  /// Thread-safe.
  [[nodiscard]] api::ScoreReport report() const override;
  /// One iteration: learn, check for expiry, send changes, measure. Called by one thread.
  void turn();

 private:
  void hear_scheduler();
  void look_at_book();
  void learn();
  void send();
  void save();
  void refresh();
  void measure(size_t gpu);
  [[nodiscard]] std::vector<size_t> idle_gpus() const;
  [[nodiscard]] std::vector<core::knowledge::GpuNow> conditions();
  [[nodiscard]] bool write_book(const core::knowledge::MeasureBook& book);
  [[nodiscard]] core::knowledge::MeasureBook read_book();
  void publish();
  [[nodiscard]] int64_t now_unix_s() const;
  [[nodiscard]] bool may_write() const;
  void complain(const std::string& what);
  [[nodiscard]] std::string gpu_name(size_t gpu) const;

  live::loop::SchedulerClient& scheduler_;
  base::gpus::MachineGpus machine_;
  EvidenceBox& box_;
  std::shared_ptr<MeasuringGate> gate_;
  ScoreKeeperOptions options_;
  core::knowledge::ScoreTable counting_{};  ///< the scheduler's scores, as last read
  core::knowledge::LearnedScores learned_;
  core::knowledge::LearnedScores::Image saved_{};
  std::vector<core::knowledge::GpuNow> conditions_{};
  base::TimeNs next_look_ns_ = 0;  ///< on the steady clock
  bool has_changes_ = false;       ///< since the last save
  bool book_is_broken_ = false;
  std::string said_{};

  mutable std::mutex mutex_{};  ///< guards what follows
  std::condition_variable wake_{};
  api::ScoreReport report_{};
  bool ending_ = false;
  std::thread thread_{};
};

}  // namespace goban::serve::daemon
