// Reads everything a simulation needs from the files its command line names.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "cli/reading_options.hpp"
#include "engine/simulated/simulation.hpp"
#include "history/fillers.hpp"
#include "history/job_reader.hpp"
#include "model/cluster.hpp"
#include "policy/knowledge.hpp"
#include "profile/locality.hpp"
#include "profile/pm_scores.hpp"
#include "report/note.hpp"

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
  std::optional<model::AppClass> app_class;
  std::optional<model::ModelId> model;
  std::optional<size_t> level;
  int32_t min_gpus = 1;  ///< of a model
  double penalty = 1;
  std::vector<double> by_level;  ///< of a model, derived from its job profile
};

struct SimulateInputs {
  model::Cluster cluster;
  history::ReadResult jobs;
  profile::PmScores scores;
  std::shared_ptr<const model::SiteRules> rules;  ///< never null
  std::vector<model::Event> incidents;
  std::optional<history::FillerSource> fillers;
  std::vector<PenaltyOption> penalties;
  std::shared_ptr<const policy::SiteKnowledge> knowledge;  ///< null: nothing was given
  std::vector<report::Note> knowledge_notes;               ///< about it and the deadlines

  /// Penalties of one run: its own default, `across_nodes` over it, the site's over that.
  [[nodiscard]] profile::LocalityPenalties penalties_for(const policy::Composition& composition,
                                                         std::optional<double> across_nodes) const;
  /// A source of its own for one run, or none.
  [[nodiscard]] engine::FillerSource filler_source() const;
};

/// Loads all files. Fills in `files.rejects` if records were refused and no place was named.
/// `seed` is for deadlines that are drawn.
[[nodiscard]] base::Result<SimulateInputs> load_inputs(SimulateFiles& files, const std::string& out,
                                                       uint64_t seed);

}  // namespace goban::cli
