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
#include "live/controller/job_book.hpp"
#include "live/controller/order.hpp"
#include "live/controller/site.hpp"

namespace goban::live::controller {

class Staging {
 public:
  /// `book` and `orders` outlive this.
  Staging(JobBook& book, StagingRules rules, std::vector<Order>& orders);

  /// True if the job's data is ready, or it needs none. Otherwise copying goes on, or begins.
  [[nodiscard]] bool prepare(LiveJob& job, TimeNs at);
  /// The job has ended (LiveJob::stage and result say how): its data may leave the fast tier, and
  /// its results are copied.
  void ended(LiveJob& job, TimeNs at);

  /// What follows for jobs.
  struct Outcome {
    std::vector<JobId> ready{};    ///< prepare() is true from now on
    std::vector<JobId> failed{};   ///< their data can never be ready: JobStaging::problem
    std::vector<JobId> settled{};  ///< their results have arrived
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
  /// Its folder on the fast tier goes if nothing is left in it. An order that is not repeated.
  void clean_up(const LiveJob& job);
  /// Gives all orders that can be given now.
  void proceed(TimeNs at, Outcome& out);
  void measure_all(TimeNs at);
  void admit_all(TimeNs at, Outcome& out);
  void copy_all(TimeNs at);
  void fail(LiveJob& job, const std::string& problem, bool is_final, TimeNs at, Outcome& out);
  void measured(LiveJob& job, const StageReport& report, TimeNs at, Outcome& out);
  void take_answer(LiveJob& job, const StageReport& report, TimeNs at, Outcome& out);
  void give(LiveJob& job);
  [[nodiscard]] StageOrder order_of(const LiveJob& job) const;
  [[nodiscard]] StageOrder removal_of(const std::string& key) const;
  /// With whose rights it is copied; nullopt: nobody's.
  [[nodiscard]] const job::Owner* actor_of(const LiveJob& job) const;
  [[nodiscard]] std::string folder_of(const job::Owner& actor) const;
  [[nodiscard]] std::string job_folder_of(const LiveJob& job) const;
  [[nodiscard]] static bool is_due(const JobStaging& staging, TimeNs at) {
    return staging.retry_ns < 0 || at >= staging.retry_ns;
  }

  JobBook& book_;
  StagingRules rules_;
  std::vector<Order>& orders_;
  core::staging::FastTier tier_;
  std::map<std::string, job::Owner> actors_;  ///< by key of the tier
  std::set<JobId> active_;                    ///< Measuring, NeedsRoom, Copying, Out
  Outcome late_;                              ///< follow() returns it
};

/// The job has data to copy before it starts.
[[nodiscard]] inline bool stages(const job::JobSpec& spec) {
  return !spec.stage_in.empty() || !spec.stage_out.empty();
}

/// "waits for its data: 1.2 of 4.0 GB are copied"; empty if it does not wait for it.
[[nodiscard]] std::string data_words(const LiveJob& job, const JobBook& book);

/// "its results are being copied: ..."; empty if they are not, or no longer.
[[nodiscard]] std::string result_words(const LiveJob& job);

/// Errors: BadData naming the field, if the site cannot stage what the job asks for.
[[nodiscard]] base::Status check_staging(const job::JobSpec& spec, const Site& site);

}  // namespace goban::live::controller
