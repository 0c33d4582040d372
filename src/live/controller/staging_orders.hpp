// The orders by which data of jobs is staged: whose rights, which paths.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "live/controller/job_book.hpp"
#include "live/controller/site.hpp"
#include "live/staging.hpp"

namespace goban::live::controller {

class StagingOrders {
 public:
  explicit StagingOrders(StagingRules rules) : rules_(std::move(rules)) {}

  /// With whose rights data of the job is copied; null: nobody's.
  [[nodiscard]] const job::Owner* actor_of(const LiveJob& job) const;
  /// Where data of this user is on the fast tier.
  [[nodiscard]] std::string folder_of(const job::Owner& actor) const;
  /// The job's own folder there; empty: it has none.
  [[nodiscard]] std::string job_folder_of(const LiveJob& job) const;
  /// Where this path of JobSpec::stage_in is.
  [[nodiscard]] static std::string source_of(const LiveJob& job, const std::string& path);
  /// Jobs of equal sources are measured once.
  using Sources = std::pair<job::OwnerKey, std::vector<std::string>>;
  [[nodiscard]] static Sources sources_of(const LiveJob& job);
  /// Where the results of the job go.
  [[nodiscard]] static std::vector<std::string> targets_of(const LiveJob& job);

  /// What the job's stage asks for; of Ready, whether its data is still there.
  [[nodiscard]] StageOrder next_of(const LiveJob& job) const;
  /// What next_of() ordered is not to be done any more.
  [[nodiscard]] StageOrder withdrawal_of(const LiveJob& job) const;
  /// Its folder on the fast tier goes if nothing is left in it.
  [[nodiscard]] StageOrder clean_up_of(const LiveJob& job) const;
  /// The same for a job whose results are not copied any more: they stay.
  [[nodiscard]] StageOrder giving_up_of(const LiveJob& job) const;
  /// `actor`: whose data it is; null: unknown.
  [[nodiscard]] StageOrder removal_of(const std::string& key, const job::Owner* actor) const;

  [[nodiscard]] const StagingRules& rules() const { return rules_; }

 private:
  [[nodiscard]] StageOrder begin(const LiveJob& job, StageTask task) const;
  [[nodiscard]] StageOrder results_of(const LiveJob& job) const;

  StagingRules rules_;
};

}  // namespace goban::live::controller
