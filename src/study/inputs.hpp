// Reads everything a simulation needs from the files its command line names.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "cli/site/reading_options.hpp"
#include "core/knowledge/locality.hpp"
#include "core/knowledge/pm_scores.hpp"
#include "core/model/cluster.hpp"
#include "core/policy/knowledge.hpp"
#include "study/history/fillers.hpp"
#include "study/history/job_reader.hpp"
#include "study/results/note.hpp"
#include "study/simulator/simulation.hpp"

namespace goban::cli {

/// Paths and names as given; empty = not given.
struct SimulateFiles {
  std::string cluster;
  std::string jobs;
  ReadingArguments reading;
  std::string scores;
  std::string fillers;
  std::string accounts;
  std::string incidents;
  std::string energy;      ///< power model: presets or a file
  std::string colocation;  ///< co-location history: CSV or Gavel's JSON
  std::string deadlines;   ///< a file, "gavel" or "none"
  std::string rejects;
  std::vector<std::string> penalties;
  std::vector<std::string> job_profiles;
  bool keep_rejects = true;  ///< write refused records to a file

  /// All files that are read, "-" for standard input; a preset is none.
  [[nodiscard]] std::vector<std::string> input_paths() const;
};

/// One penalty beyond the general one; which field is set says what it is for.
struct PenaltyOption {
  std::optional<core::model::AppClass> app_class;
  std::optional<core::model::ModelId> model;
  std::optional<size_t> level;
  int32_t min_gpus = 1;  ///< of a model
  double penalty = 1;
  std::vector<double> by_level;  ///< of a model, derived from its job profile
};

struct SimulateInputs {
  core::model::Cluster cluster;
  study::history::ReadResult jobs;
  core::knowledge::PmScores scores;
  std::shared_ptr<const core::model::SiteRules> rules;  ///< never null
  std::vector<core::model::Event> incidents;
  std::optional<study::history::FillerSource> fillers;
  std::vector<PenaltyOption> penalties;
  std::shared_ptr<const core::policy::SiteKnowledge> knowledge;  ///< null: nothing was given
  std::vector<study::results::Note> knowledge_notes;             ///< about it and the deadlines

  /// Penalties of one run: its own default, `across_nodes` over it, the site's over that.
  [[nodiscard]] core::knowledge::LocalityPenalties penalties_for(
      const core::policy::Composition& composition, std::optional<double> across_nodes) const;
  /// A source of its own for one run, or none.
  [[nodiscard]] study::simulator::FillerSource filler_source() const;
};

/// Loads all files. Fills in `files.rejects` if records were refused and no place was named.
/// `seed` is for deadlines that are drawn.
[[nodiscard]] base::Result<SimulateInputs> load_inputs(SimulateFiles& files, const std::string& out,
                                                       uint64_t seed);

}  // namespace goban::cli
