// Common to the commands of goban-train: the options of a run, and the start of its ranks.
#pragma once

#include <cstdint>
#include <functional>

#include "base/command_line/options.hpp"
#include "train/trainer/options.hpp"
#include "train/trainer/ranks.hpp"

namespace goban::train::trainer {

/// Run by main after parsing; returns the exit code.
using Action = std::function<int()>;

/// Precision of activations. Tf32: like fp32, but GPUs may multiply matrices with 10 bits of
/// mantissa.
enum class Precision : uint8_t { Fp32, Tf32, Bf16 };

struct RunSettings {
  RunSettings();  ///< the program's defaults: device auto, data in the user's cache

  TrainOptions train;
  RankOptions start;
  Precision precision = Precision::Fp32;
};

/// Options common to runs and sweeps.
void add_run_options(base::command_line::Command& command, RunSettings& settings);
/// Options of image models.
void add_image_options(base::command_line::Command& command, RunSettings& settings);

/// Requires a finite number >= 0: CLI11 accepts "nan" and "inf".
base::command_line::Option* from_zero(base::command_line::Option* option);

/// Sets device, precision and signal handlers of the process, before anything runs. Returns 0 or
/// the exit code.
[[nodiscard]] int prepare(RunSettings& settings);

/// Runs `body` on each rank: an MPI rank if mpirun started this process, otherwise threads. Returns
/// the exit code.
[[nodiscard]] int on_ranks(const RunSettings& settings, const RankBody& body);

}  // namespace goban::train::trainer
