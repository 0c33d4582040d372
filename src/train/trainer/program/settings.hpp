// What the commands of goban-train have in common: the options of a run, and how its ranks start.
#pragma once

#include <cstdint>
#include <functional>

#include "base/command_line/options.hpp"
#include "train/trainer/options.hpp"
#include "train/trainer/ranks.hpp"

namespace goban::train::trainer {

/// What main runs once the arguments are parsed: returns the exit code.
using Action = std::function<int()>;

/// How activations are computed. Tf32: as fp32, but GPUs may multiply matrices with 10 bits of
/// mantissa.
enum class Precision : uint8_t { Fp32, Tf32, Bf16 };

struct RunSettings {
  RunSettings();  ///< the program's defaults: device auto, data in the user's cache

  TrainOptions train;
  RankOptions start;
  Precision precision = Precision::Fp32;
};

/// Options of every run and of a sweep.
void add_run_options(base::command_line::Command& command, RunSettings& settings);
/// Options of models that learn images.
void add_image_options(base::command_line::Command& command, RunSettings& settings);

/// For numbers: CLI11 reads "nan" and "inf" as numbers too.
base::command_line::Option* from_zero(base::command_line::Option* option);

/// Device, precision and signal handlers of the process, before anything runs. 0, or the exit code.
[[nodiscard]] int prepare(RunSettings& settings);

/// Runs `body` on each rank: a rank of MPI when mpirun started this process, else threads. The exit
/// code.
[[nodiscard]] int on_ranks(const RunSettings& settings, const RankBody& body);

}  // namespace goban::train::trainer
