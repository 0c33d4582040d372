// Brings data to the fast tier before jobs start, and results back after they have ended. A job
// whose data is not there is not in the core. Which data leaves the tier is decided by
// core::staging::FastTier; the orders are carried out by the engine (Engine::stage).
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <set>
#include <string>
#include <vector>

#include "base/json_fields.hpp"
#include "core/staging/fast_tier.hpp"
#include "live/controller/input.hpp"
#include "live/controller/job_book.hpp"
#include "live/controller/staging_orders.hpp"
#include "live/controller/staging_words.hpp"

namespace goban::live::controller {

class Staging {
 public:
  /// `book` and `orders` outlive this.
  Staging(JobBook& book, StagingRules rules, std::vector<Order>& orders);

  /// True if the job's data is ready, or it needs none. Otherwise copying goes on, or begins.
  [[nodiscard]] bool prepare(LiveJob& job, TimeNs at);
  /// True if the job's next run may be launched: its data was seen to be there.
  /// Otherwise it is looked for.
  [[nodiscard]] bool is_seen(LiveJob& job, TimeNs at);
  /// The job has ended (LiveJob::stage and result say how): its data may leave the fast tier, and
  /// its results are copied.
  void ended(LiveJob& job, TimeNs at);
  /// The results of an ended job are not copied any more. They stay where they
  /// are.
  void give_up_results(LiveJob& job, const std::string& who, TimeNs at);

  /// What follows for jobs.
  struct Outcome {
    std::vector<JobId> ready{};    ///< prepare() is true from now on
    std::vector<JobId> failed{};   ///< their data can never be ready: JobStaging::problem
    std::vector<JobId> settled{};  ///< their results have arrived
    std::vector<JobId> lost{};     ///< their data is gone, and copied again: they must not start
  };
  [[nodiscard]] Outcome take(const StageReport& report, TimeNs at);
  /// Tries again what failed, if it is due.
  [[nodiscard]] Outcome follow(TimeNs at);
  /// When follow() is due; kNever = not at all.
  [[nodiscard]] TimeNs next_ns() const;
  [[nodiscard]] std::vector<Order> unanswered() const;
  [[nodiscard]] const core::staging::FastTier& tier() const { return tier_; }

  /// Where the data of a job is, for its environment.
  void add_places(const LiveJob& job, LaunchOrder& order) const;

  void write(nlohmann::json& snapshot) const;
  /// The book was read before.
  void read(base::FieldReader& snapshot);

 private:
  void begin(LiveJob& job, TimeNs at);
  void release(LiveJob& job, TimeNs at);
  /// Gives all orders that can be given now.
  void proceed(TimeNs at, Outcome& out);
  void measure_all(TimeNs at);
  void admit_all(TimeNs at, Outcome& out);
  void copy_all(TimeNs at);
  void fail(LiveJob& job, const std::string& problem, bool is_final, TimeNs at, Outcome& out);
  void measured(LiveJob& job, const StageReport& report, TimeNs at, Outcome& out);
  /// Whether the data still is on the fast tier. Empty: it is.
  void looked(LiveJob& job, const std::string& problem, TimeNs at, Outcome& out);
  void take_answer(LiveJob& job, const StageReport& report, TimeNs at, Outcome& out);
  void give(LiveJob& job);
  [[nodiscard]] StageOrder removal_of(const std::string& key) const;
  [[nodiscard]] static bool is_due(const JobStaging& staging, TimeNs at) {
    return staging.retry_ns < 0 || at >= staging.retry_ns;
  }

  JobBook& book_;
  StagingOrders makes_;
  std::vector<Order>& orders_;
  core::staging::FastTier tier_;
  std::map<std::string, job::Owner> actors_;  ///< by key of the tier
  /// Measuring, NeedsRoom, Copying, Out; Ready while it is looked for.
  std::set<JobId> active_;
  Outcome late_;  ///< follow() returns it
};

}  // namespace goban::live::controller
