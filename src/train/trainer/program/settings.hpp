// Common to the commands of goban-train: the options of a run, and the start of its ranks.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/command_line/options.hpp"
#include "train/trainer/options.hpp"
#include "train/trainer/ranks.hpp"

namespace goban::train::trainer {

/// Run by main after parsing; returns the exit code.
using Action = std::function<int()>;

/// Precision of activations. Tf32: like fp32, but GPUs may multiply matrices with 10 bits of
/// mantissa.
enum class Precision : uint8_t { Fp32, Tf32, Bf16, Fp16 };

struct RunSettings {
  RunSettings();  ///< the program's defaults: device auto, data in the user's cache

  TrainOptions train;
  RankOptions start;
  Precision precision = Precision::Fp32;
  std::vector<std::string> precision_of;  ///< REGEX=TYPE
  double bucket_mb = 1, delay_ms_per_mb = 0;
};

/// Options for starting ranks: threads, device, collectives, time-out.
void add_rank_options(base::command_line::Command& command, RunSettings& settings);
/// Options common to runs and sweeps, those of ranks included.
void add_run_options(base::command_line::Command& command, RunSettings& settings);
/// Options of image models.
void add_image_options(base::command_line::Command& command, RunSettings& settings);

/// Options of the loader and of shards.
void add_feeding_options(base::command_line::Command& command, RunSettings& settings);

/// Requires a finite number >= 0: CLI11 accepts "nan" and "inf".
base::command_line::Option* from_zero(base::command_line::Option* option);

/// Requires a whole number >= `least`: CLI11 accepts -1 for a number without sign.
base::command_line::Option* whole_from(base::command_line::Option* option, uint64_t least);

/// Sets device, precision and signal handlers of the process, before anything runs. Returns 0 or
/// the exit code.
[[nodiscard]] int prepare(RunSettings& settings);

/// Says on stderr that fp16 is emulated, if `device` is the processor.
void note_emulated_half(const std::string& device);

/// Runs `body` on each rank: an MPI rank if mpirun started this process, otherwise threads. Returns
/// the exit code.
[[nodiscard]] int on_ranks(const RunSettings& settings, const RankBody& body);

}  // namespace goban::train::trainer
