// The row of the Slurm engine in the table of engines.
#pragma once

#include "live/engine/slurm/slurm_engine.hpp"
#include "live/engine_kind.hpp"

namespace goban::live::engine::slurm {

struct SlurmChoice {
  SlurmOptions options{};
  bool any_version = false;  ///< also one that was not tried
};

/// Reads all keys of the table [slurm] and refuses wrong values:
///   mode        observe (no job is ours, nothing is written), partitions, all; must be given
///   partitions  the managed ones, with mode = "partitions"
///   conf        path of slurm.conf
///   indices     nodes (if absent), types
///   poll        time between two looks, at most a minute
///   rest        the same, where nothing has happened for a while; five times `poll` if absent
///   sleep       yes: nodes may sleep, by Slurm's power states; no if absent
///   version     any: also a version of Slurm that was not tried
[[nodiscard]] SlurmChoice read_slurm(base::TableReader& table);

/// `said`: what `scontrol --version` printed. Errors: Failed if this version was not tried.
[[nodiscard]] base::Status check_version(std::string_view said, bool any);

/// Slurm can put nodes to sleep, by what scontrol show config printed. Errors: Failed.
[[nodiscard]] base::Status check_power_programs(std::string_view config);

/// Errors: those above; Failed if the client commands are absent or of a version not tried.
[[nodiscard]] base::Result<EngineParts> make_slurm(const EngineSetup& setup);

/// `sleep` of the table.
[[nodiscard]] bool may_sleep(const EngineChoice& choice);

inline constexpr EngineKind kSlurmKind{
    .name = "slurm",
    .submit_with = "sbatch",
    .rests_nodes = may_sleep,
    .check = [](base::TableReader& table) { (void)read_slurm(table); },
    .make = make_slurm};

}  // namespace goban::live::engine::slurm
