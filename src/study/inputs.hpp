// All inputs that a study reads from files: the cluster, the jobs, and the site's knowledge.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/progress.hpp"
#include "base/result.hpp"
#include "core/knowledge/locality.hpp"
#include "core/knowledge/pm_scores.hpp"
#include "core/model/cluster.hpp"
#include "core/model/storage_tiers.hpp"
#include "core/policy/knowledge.hpp"
#include "site/records/reject_limit.hpp"
#include "study/history/fillers.hpp"
#include "study/history/job_reader.hpp"
#include "study/results/note.hpp"
#include "study/results/prices.hpp"
#include "study/simulator/simulation.hpp"

namespace goban::study {

/// Paths and names as given; empty = not given.
struct InputFiles {
  std::string cluster;
  std::string jobs;
  site::records::ReadOptions reading;  ///< of the jobs; without rejects and progress callback
  std::string scores;
  std::string fillers;
  std::string accounts;
  std::string incidents;
  std::vector<std::string> spot_supply{};  ///< FILE:GROUP
  std::string energy;                      ///< power model: presets or a file
  std::string colocation;                  ///< co-location history: CSV or Gavel's JSON
  std::string deadlines;                   ///< a file, "gavel" or "none"
  std::string rates{};                     ///< steps per second of elastic jobs
  bool interpolate_rates = false;
  std::string prices{};  ///< of energy and GPU-hours; they change no run
  std::string rejects;
  double max_rejects_pct = site::records::kMaxRejectsPct;  ///< of the records of the jobs
  std::vector<std::string> penalties;
  std::vector<std::string> job_profiles;
  /// Share of the jobs that may be preempted, drawn by the seed; none: as the history says.
  std::optional<double> preemptible_share{};
  bool keep_rejects = true;  ///< write rejected records to a file

  /// All files that are read, "-" for standard input; presets are not files.
  [[nodiscard]] std::vector<std::string> input_paths() const;
};

/// A penalty that overrides the general one. The field that is set defines what it applies to.
struct PenaltyOption {
  std::optional<core::model::AppClass> app_class;
  std::optional<core::model::ModelId> model;
  std::optional<size_t> level;
  int32_t min_gpus = 1;  ///< of a model
  double penalty = 1;
  std::vector<double> by_level;  ///< of a model, derived from its job profile
};

/// Prices, and the Unix time of time 0 of the history on their calendar.
struct SitePrices {
  results::Prices prices;
  base::TimeNs zero_unix_ns = 0;
};

struct Inputs {
  core::model::Cluster cluster;
  history::ReadResult jobs;
  core::knowledge::PmScores scores;
  std::shared_ptr<const core::model::SiteRules> rules;  ///< never null
  std::vector<core::model::Event> incidents;
  std::optional<history::FillerSource> fillers;
  std::vector<PenaltyOption> penalties;
  std::shared_ptr<const core::policy::SiteKnowledge> knowledge;  ///< null: none was given
  std::vector<results::Note> knowledge_notes;  ///< about knowledge, deadlines, rates and prices
  std::shared_ptr<const core::model::JobSpeeds> speeds{};  ///< null: no rates were given
  /// With rates, by JobId: the history states the steps, which do not follow from true run times.
  std::vector<bool> states_steps{};
  std::optional<SitePrices> prices{};
  core::model::StorageTiers tiers{};

  /// Locality penalties of one run: the policy's default, overridden by `across_nodes`, then by
  /// `penalties`; all 1 for policies with RunSettings::ideal_speed.
  [[nodiscard]] core::knowledge::LocalityPenalties penalties_for(
      const core::policy::Composition& composition, std::optional<double> across_nodes) const;
  /// A separate filler source for one run; empty if there are no fillers. Refers to this object.
  [[nodiscard]] simulator::FillerSource filler_source() const;
};

/// Loads all files. Sets `files.rejects` to a default path if it is empty. `out`: folder of the
/// results, or empty. `seed`: for randomly drawn deadlines. Errors: those of reading each file;
/// BadData if no job remains.
[[nodiscard]] base::Result<Inputs> load_inputs(InputFiles& files, const std::string& out,
                                               uint64_t seed, base::Progress& progress);

}  // namespace goban::study
