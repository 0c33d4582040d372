// Common to the commands of goban-train: the options of a run, and the start of its ranks.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
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

/// Of options that have no natural limit.
inline constexpr double kMostNumber = 1e30;
/// Ranks as threads.
inline constexpr int kMostThreads = 1024;
/// Of options in MB, and in seconds.
inline constexpr double kMostMegabytes = 1e9, kMostSeconds = 1e9;

struct RunSettings {
  RunSettings();  ///< the program's defaults: device auto, data in the user's cache

  TrainOptions train;
  RankOptions start;
  Precision precision = Precision::Fp32;
  std::vector<std::string> precision_of;  ///< REGEX=TYPE
  bool tries_half = false;                ///< trials of several precisions, fp16 among them
  double bucket_mb = 1, delay_ms_per_mb = 0;
};

/// Options for starting ranks: threads, device, collectives, time-out.
void add_rank_options(base::command_line::Command& command, RunSettings& settings);
/// Options common to runs and sweeps, those of ranks included.
void add_run_options(base::command_line::Command& command, RunSettings& settings);
/// Options of image models.
void add_image_options(base::command_line::Command& command, RunSettings& settings);

/// Options of language models on texts, and the size of their model.
void add_text_options(base::command_line::Command& command, RunSettings& settings);
/// Model, batch size and optimiser of a language model, where no option says otherwise.
void set_text_defaults(TrainOptions& train);

/// Options of the loader and of shards.
void add_feeding_options(base::command_line::Command& command, RunSettings& settings);

/// Requires a number >= 0 and at most `most`: CLI11 accepts "nan" and "inf".
base::command_line::Option* from_zero(base::command_line::Option* option,
                                      double most = kMostNumber);
/// The same, but for 0.
base::command_line::Option* above_zero(base::command_line::Option* option,
                                       double most = kMostNumber);

/// Requires a whole number from `least` to `most`: CLI11 accepts -1 for a number without sign, and
/// numbers that the variable cannot hold.
base::command_line::Option* whole_from(base::command_line::Option* option, uint64_t least,
                                       uint64_t most = std::numeric_limits<int64_t>::max());

/// Sets device, precision and signal handlers of the process, before anything runs. Returns 0 or
/// the exit code.
[[nodiscard]] int prepare(RunSettings& settings);

/// Says on stderr that fp16 is emulated, if `device` is the processor.
void note_emulated_half(const std::string& device);
/// Says on stderr that tf32 is fp32, if `device` is the processor.
void note_tf32(const std::string& device);

/// Runs `body` on each rank: an MPI rank if mpirun started this process, otherwise threads. Returns
/// the exit code.
[[nodiscard]] int on_ranks(const RunSettings& settings, const RankBody& body);

}  // namespace goban::train::trainer
