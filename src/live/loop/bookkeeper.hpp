// Records of finished jobs on their way to the history store, in a thread of their own, so that a
// slow or failing store delays no decision.
#pragma once

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "base/result.hpp"
#include "core/model/cluster.hpp"
#include "live/controller/job_book.hpp"

namespace goban::live::loop {

struct FinishedJob {
  controller::LiveJob job{};
  std::shared_ptr<const core::model::Cluster> cluster{};  ///< that its GPUs are numbered by
};

/// Takes the records of finished jobs. Called from a thread of its own.
class Accounting {
 public:
  virtual ~Accounting() = default;
  /// Writes them; repeated calls with the same jobs are allowed. Errors: Failed; all are retried
  /// later.
  [[nodiscard]] virtual base::Status record(const std::vector<FinishedJob>& jobs) = 0;
};

/// Records failed jobs again until they are stored. Thread-safe.
class Bookkeeper {
 public:
  /// `is_ours`: false once another daemon has taken over.
  Bookkeeper(std::unique_ptr<Accounting> accounting, std::function<void(std::string)> say,
             std::function<bool()> is_ours);
  /// Jobs that are not recorded yet are accounted after the next start.
  ~Bookkeeper();
  Bookkeeper(const Bookkeeper&) = delete;
  Bookkeeper& operator=(const Bookkeeper&) = delete;

  /// Adds a job unless it was added before.
  void add(const controller::LiveJob& job, std::shared_ptr<const core::model::Cluster> cluster);
  /// The jobs that were recorded since the last call.
  [[nodiscard]] std::vector<JobId> take_done();

 private:
  void work();

  std::unique_ptr<Accounting> accounting_;
  std::function<void(std::string)> say_;
  std::function<bool()> is_ours_;
  std::mutex mutex_{};
  std::condition_variable wake_{};
  std::vector<FinishedJob> todo_{};
  std::vector<JobId> done_{};
  std::set<JobId> known_{};  ///< in todo_, being written, or in done_
  bool stops_ = false;
  bool failing_ = false;
  std::thread thread_{};
};

}  // namespace goban::live::loop
