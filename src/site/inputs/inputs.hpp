// Files that describe a site: its cluster, rules, PM scores, co-location and power. This module
// reads the files; the core parses their texts.
//
// Files may be plain or gzip; "-" is standard input, except for clusters. Errors of each function:
// Failed if the file cannot be read or is too large; those of the parser.
#pragma once

#include <optional>
#include <string>

#include "base/result.hpp"
#include "core/knowledge/binning.hpp"
#include "core/knowledge/colocation/colocation_history.hpp"
#include "core/knowledge/energy/power_model.hpp"
#include "core/knowledge/pm_scores.hpp"
#include "core/knowledge/profile_runs.hpp"
#include "core/model/cluster.hpp"
#include "core/model/job_history.hpp"
#include "core/model/site_rules.hpp"
#include "core/model/storage_tiers.hpp"

namespace goban::site::inputs {

/// True if `--cluster` names a file, not a preset: it ends with .toml, or the file exists.
[[nodiscard]] bool is_cluster_file(const std::string& spec);
/// The cluster that `--cluster` names: a file, a preset or NxM. Errors also: those of make_preset.
[[nodiscard]] base::Result<core::model::Cluster> resolve_cluster(const std::string& spec);

/// The storage tiers of a cluster file; none of a preset.
[[nodiscard]] base::Result<core::model::StorageTiers> resolve_tiers(const std::string& spec);

/// True if `--energy` names a file, not presets.
[[nodiscard]] bool is_power_file(const std::string& spec);
/// The power models that `--energy` names: a file, or one or more presets. Errors also: those of
/// make_power_presets.
[[nodiscard]] base::Result<core::knowledge::PowerCatalog> resolve_power(const std::string& spec);

/// The file that `--accounts` names; see parse_site_rules for its effect on the history.
[[nodiscard]] base::Result<core::model::SiteRules> read_site_rules(
    const std::string& path, core::model::JobHistory& history);

/// A table of PM scores.
[[nodiscard]] base::Result<core::knowledge::PmScores> read_scores(
    const std::string& path, std::optional<uint32_t> num_gpus,
    const core::knowledge::BinningOptions& binning = {});

/// Measured runs of one benchmark.
[[nodiscard]] base::Result<core::knowledge::ProfileRuns> read_profile_runs(const std::string& path);

/// Measured slowdowns of co-located applications.
[[nodiscard]] base::Result<core::knowledge::ColocationHistory> read_colocation(
    const std::string& path);

}  // namespace goban::site::inputs
