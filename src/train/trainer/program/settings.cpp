#include "train/trainer/program/settings.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <csignal>
#include <cstdlib>
#include <fmt/format.h>

#include "base/number.hpp"
#include "base/printable.hpp"
#include "train/comm/launcher.hpp"
#include "train/mesh/device.hpp"
#include "train/mesh/graph.hpp"
#include "train/mesh/name_pattern.hpp"
#include "train/trainer/environment.hpp"
#include "train/trainer/stopping.hpp"

namespace goban::train::trainer {

using base::command_line::Command;
using base::command_line::Option;

namespace {

constexpr double kMostDelay = 1e6;  // ms per MB
constexpr int64_t kMostEpochs = 1'000'000'000;

/// "REGEX=TYPE" for each text.
base::Result<std::vector<mesh::TypeRule>> type_rules(const std::vector<std::string>& texts) {
  std::vector<mesh::TypeRule> out;
  for (const std::string& text : texts) {
    const size_t equals = text.rfind('=');
    const std::string type = equals == std::string::npos ? "" : text.substr(equals + 1);
    constexpr std::array kTypes = {std::pair("fp32", mesh::DType::F32),
                                   std::pair("bf16", mesh::DType::BF16),
                                   std::pair("fp16", mesh::DType::F16)};
    const auto found =
        std::ranges::find_if(kTypes, [&](const auto& each) { return type == each.first; });
    if (equals == 0 || found == kTypes.end()) {
      return base::usage_error(fmt::format("--precision-of '{}' must be REGEX=fp32, =bf16 or =fp16",
                                           base::printable(text)),
                               "such as --precision-of 'logits=fp32'");
    }
    try {
      const mesh::NamePattern valid(text.substr(0, equals));
    } catch (const mesh::GraphError& error) {
      return base::usage_error(fmt::format("--precision-of: {}", error.what()),
                               "such as --precision-of 'logits=fp32'");
    }
    out.push_back({text.substr(0, equals), found->second});
  }
  return out;
}

}  // namespace

RunSettings::RunSettings() {
  const char* home = std::getenv("HOME");
  train.device = "auto";
  train.data_dir = std::string(home == nullptr ? "." : home) + "/.cache/goban/data";
}

Option* from_zero(Option* option, double most) {
  return option->check(
      [most](const std::string& text) -> std::string {
        const double value = std::strtod(text.c_str(), nullptr);
        if (!std::isfinite(value) || value < 0) return "must be a finite number >= 0, not " + text;
        return value <= most ? "" : fmt::format("must be at most {:g}, not {}", most, text);
      },
      "at least 0");
}

Option* above_zero(Option* option, double most) {
  return option->check(
      [most](const std::string& text) -> std::string {
        const double value = std::strtod(text.c_str(), nullptr);
        if (!std::isfinite(value) || value <= 0) return "must be a finite number > 0, not " + text;
        return value <= most ? "" : fmt::format("must be at most {:g}, not {}", most, text);
      },
      "more than 0");
}

Option* whole_from(Option* option, uint64_t least, uint64_t most) {
  return option->check(
      [least, most](const std::string& text) -> std::string {
        uint64_t value = 0;
        const char* end = text.data() + text.size();
        const auto [rest, error] = std::from_chars(text.data(), end, value);
        if (rest != end || error != std::errc() || value < least) {
          return fmt::format("must be an integer of at least {}, not {}", least, text);
        }
        return value <= most ? "" : fmt::format("must be at most {}, not {}", most, text);
      },
      fmt::format("at least {}", least));
}

void add_rank_options(Command& command, RunSettings& s) {
  command
      .add_option("--threads", s.start.threads,
                  "Number of ranks as threads of this process, without mpirun")
      ->range(1, kMostThreads);
  command.add_option(
      "--device", s.train.device,
      "cpu, cuda (the GPU with the local rank's number), cuda:N, or auto: cuda if there is a GPU");
  command
      .add_option("--collectives", s.start.collectives,
                  "host (threads or MPI), nccl (one GPU per rank), or auto: nccl between GPUs")
      ->one_of({"auto", "host", "nccl"});
  above_zero(command.add_option("--timeout-s", s.start.comm.timeout_s,
                                "Maximum wait for another rank, in seconds"),
             kMostSeconds);
  command.add_flag("--fixed-order", s.start.comm.fixed_order,
                   "Form sums in rank order: identical bits on every transport");
}

void add_run_options(Command& command, RunSettings& s) {
  TrainOptions& t = s.train;
  using Kind = mesh::OptimizerOptions::Kind;
  command.add_option("--mesh", t.mesh,
                     "Mesh of devices, such as \"rows:2;cols:2\"; without it: one axis over all "
                     "ranks, which splits "
                     "the batch, or chosen by --layout auto");
  whole_from(command.add_option("--micro-batches", t.micro_batches,
                                "Number of micro-batches per batch; gradients accumulate"),
             1);
  command
      .add_choice("--last-batch", t.last_batch,
                  {{"drop", LastBatch::Drop}, {"keep", LastBatch::Keep}},
                  "Samples of an epoch that do not fill a batch: keep as a smaller batch, or drop")
      ->type_name("ENUM");
  command.add_option("--epochs", t.epochs, "Total number of epochs")
      ->range(int64_t{1}, kMostEpochs);
  command
      .add_choice("--optimizer", t.optimizer.kind,
                  {{"adafactor", Kind::Adafactor},
                   {"adamw", Kind::AdamW},
                   {"momentum", Kind::Momentum},
                   {"sgd", Kind::Sgd}},
                  "Optimiser")
      ->type_name("ENUM");
  command
      .add_choice("--lr-scale", t.lr_scale,
                  {{"linear", LrScale::Linear}, {"none", LrScale::None}, {"sqrt", LrScale::Sqrt}},
                  "Scale the learning rate with batch size / 200: linear, sqrt or none")
      ->type_name("ENUM");
  command.add_option("--lr-factor", t.optimizer.scale, "Factor on the learning rate")->positive();
  whole_from(command.add_option("--warmup-steps", t.optimizer.warmup_steps,
                                "Steps over which the learning rate grows linearly from 0"),
             0);
  command.add_choice(
      "--precision", s.precision,
      {{"fp32", Precision::Fp32},
       {"tf32", Precision::Tf32},
       {"bf16", Precision::Bf16},
       {"fp16", Precision::Fp16}},
      "Precision of activations: fp32, bf16, fp16 with loss scaling, or tf32 (GPUs only)");
  command
      .add_option("--precision-of", s.precision_of,
                  "REGEX=fp32, bf16 or fp16: another precision for layers whose names match; the "
                  "first match applies; repeat the option")
      ->one_word();
  from_zero(command.add_option("--loss-scale", t.loss_scale,
                               "Factor on the loss for fp16; 0: found while training"));
  command
      .add_choice("--overlap", t.overlap,
                  {{"buckets", mesh::Overlap::Buckets},
                   {"delayed", mesh::Overlap::Delayed},
                   {"off", mesh::Overlap::Off}},
                  "Sum gradients while the backward pass computes, in buckets; delayed: the update "
                  "uses those of the step before")
      ->type_name("ENUM");
  above_zero(command.add_option("--bucket-mb", s.bucket_mb, "Maximum size of a bucket in MB"),
             kMostMegabytes);
  command
      .add_choice("--bucket-compression", t.bf16_buckets, {{"bf16", true}, {"none", false}},
                  "Send fp32 gradients in buckets as bf16: half the bytes, rounded")
      ->type_name("ENUM");
  from_zero(command.add_option("--delay-ms-per-mb", s.delay_ms_per_mb,
                               "Slow all-reduces down on purpose, to measure what overlap hides"),
            kMostDelay);
  whole_from(
      command.add_option("--seed", t.seed,
                         "Seed of weights, sample order and dropout; in a sweep, the first seed"),
      0, std::numeric_limits<uint64_t>::max());
  whole_from(command.add_option("--train-limit", t.train_limit,
                                "Maximum number of training samples; 0: all"),
             0);
  whole_from(
      command.add_option("--test-limit", t.test_limit, "Maximum number of test samples; 0: all"),
      0);
  add_rank_options(command, s);
}

void add_image_options(Command& command, RunSettings& s) {
  command.add_option("--model", s.train.model, "conv (Mesh TensorFlow's example) or mlp")
      ->one_of({"conv", "mlp"});
  command.add_option(
      "--data", s.train.data_dir,
      "Folder of the data sets, or shards: paths with braces and ::, or a wids index "
      "(docs/feeding.md)");
}

void set_text_defaults(TrainOptions& train) {
  train.model = "causal";
  train.batch_size = 16;
  train.optimizer.kind = mesh::OptimizerOptions::Kind::AdamW;
}

void add_text_options(Command& command, RunSettings& s) {
  s.train.texts = {"/usr/share/common-licenses/GPL-3", "/usr/share/common-licenses/GFDL-1.3",
                   "/usr/share/common-licenses/MPL-2.0", "/usr/share/common-licenses/Apache-2.0"};
  command.add_option("--text", s.train.texts, "Text files to train on; bytes are tokens")
      ->type_name("FILE");
  command
      .add_option("--token-bytes", s.train.feeding.token_bytes,
                  "Bytes of a token of token files: 2 or 4")
      ->check(
          [](const std::string& text) -> std::string {
            return text == "2" || text == "4" ? "" : "must be 2 or 4, not " + text;
          },
          "2 or 4");
  TransformerShape& t = s.train.transformer;
  const auto size = [&](const char* name, int64_t& value, const char* help) {
    whole_from(command.add_option(name, value, help), 1);
  };
  size("--vocab", t.vocab, "Size of the vocabulary of token files; texts have 256");
  size("--length", t.length, "Length of a window, in bytes");
  size("--d-model", t.d_model, "Width of the model");
  size("--heads", t.heads, "Number of attention heads");
  size("--d-head", t.d_head, "Width of an attention head");
  size("--d-ff", t.d_ff, "Width of the feed-forward layer");
  size("--blocks", t.blocks, "Number of Transformer blocks");
  command.add_option("--dropout", t.dropout, "Dropout probability, less than 1")
      ->check(
          [](const std::string& text) -> std::string {
            const auto value = base::parse_double(text);
            return value && *value >= 0 && *value < 1
                       ? ""
                       : "must be a number >= 0 and < 1, not " + text;
          },
          "at least 0, below 1");
  command.add_flag("--recompute", t.recompute,
                   "Compute blocks again in the backward pass instead of storing them");
}

void add_feeding_options(Command& command, RunSettings& s) {
  Feeding& f = s.train.feeding;
  command.add_option("--test-data", f.test_data, "Shards or token files of the test set");
  command
      .add_option_function(
          "--loader-threads",
          [&f](const std::vector<std::string>& words) {
            f.threads = static_cast<int>(base::parse_int(words.front()).value_or(kAutoThreads));
          },
          "Threads that prepare batches ahead; 0: none; auto: as many as shorten "
          "the waiting (without shards or a GPU none)")
      ->check(
          [](const std::string& text) -> std::string {
            const auto value = base::parse_int(text);
            return text == "auto" || (value && *value >= 0 && *value <= 1024)
                       ? ""
                       : "must be auto or 0 to 1024, not " + text;
          },
          "auto, or 0 to 1024");
  whole_from(command.add_option("--shuffle-buffer", f.shuffle_buffer,
                                "Samples of shards that wait to be chosen from; 0: in order"),
             0);
  command.add_flag("--resample", f.resample,
                   "Draw shards with replacement, on each part of the batch; --train-limit is then "
                   "the size of an epoch");
  command
      .add_choice("--corrupt", f.skip_corrupt, {{"fail", false}, {"skip-and-count", true}},
                  "Images that do not decode: end the run, or take another sample in their place")
      ->type_name("ENUM");
}

namespace {

/// The device to tell the user about; none on the other ranks of a machine.
std::optional<c10::Device> device_to_note(const std::string& device) {
  const int rank = comm::launcher_local_rank();
  const auto used = mesh::resolve_device(device, rank);
  return used && rank == 0 ? std::optional(*used) : std::nullopt;
}

base::Status check_loss_scale(double scale) {
  constexpr double kMost = 65536.0 * 65536.0;  // as far as the scale that is found grows
  if (scale == 0 || (scale >= 1 && scale <= kMost)) return {};
  return base::usage_error(fmt::format("--loss-scale must be 0, or from 1 to {:.0f}", kMost),
                           "0 finds it while training");
}

/// Options that change nothing as they are combined.
void note_unused(const RunSettings& s, bool half) {
  if (comm::launcher_local_rank() != 0) return;
  if (s.train.bf16_buckets && s.train.overlap == mesh::Overlap::Off) {
    fmt::print(stderr,
               "note: --bucket-compression has no effect with --overlap off, which sends fp32\n");
  }
  if (s.train.loss_scale > 0 && !half) {
    fmt::print(stderr, "note: --loss-scale has no effect without fp16\n");
  }
}

}  // namespace

void note_emulated_half(const std::string& device) {
  const auto used = device_to_note(device);
  if (!used || !used->is_cpu()) return;
  fmt::print(stderr,
             "note: processors lack kernels for fp16; this run computes in fp32 and rounds each "
             "result to fp16\n");
}

void note_tf32(const std::string& device) {
  const auto used = device_to_note(device);
  if (!used || used->is_cuda()) return;
  fmt::print(stderr,
             "note: tf32 requires an NVIDIA GPU (Ampere or later); no GPU is in use, so this run "
             "computes in fp32\n");
}

int prepare(RunSettings& s) {
  // mpirun forwards SIGUSR1; Slurm can send it before the time limit. SIGALRM: --stop-after-s.
  stop_on({SIGINT, SIGTERM, SIGUSR1, SIGALRM});
  if (const auto status = check_loss_scale(s.train.loss_scale); !status) {
    return exit_code(status.error());
  }
  if (const auto rules = type_rules(s.precision_of); rules) {
    s.train.layer_precision = *rules;
  } else {
    return exit_code(rules.error());
  }
  if (!comm::launched_by_mpi()) {
    if (const auto fine = comm::check_srun(1); !fine) return exit_code(fine.error());
  }
  s.train.precision = s.precision == Precision::Bf16   ? mesh::DType::BF16
                      : s.precision == Precision::Fp16 ? mesh::DType::F16
                                                       : mesh::DType::F32;
  const auto device = mesh::resolve_device(s.train.device, comm::launcher_local_rank());
  if (!device) return exit_code(device.error());
  constexpr double kMegabyte = 1e6;
  s.train.bucket_bytes = std::max<int64_t>(1, static_cast<int64_t>(s.bucket_mb * kMegabyte));
  s.start.comm.delay_s_per_byte = s.delay_ms_per_mb / 1e3 / kMegabyte;
  s.start.comm.companions = s.train.overlap != mesh::Overlap::Off;
  const bool tf32 = s.precision == Precision::Tf32;
  mesh::allow_tf32(tf32);
  s.train.tf32 = tf32;
  if (tf32) note_tf32(s.train.device);
  const bool half = s.precision == Precision::Fp16 ||
                    std::ranges::any_of(s.train.layer_precision, [](const mesh::TypeRule& rule) {
                      return rule.activation == mesh::DType::F16;
                    });
  if (half) note_emulated_half(s.train.device);
  note_unused(s, half || s.tries_half);
  const std::string slow = slow_blas_warning();
  if (!slow.empty() && comm::launcher_local_rank() == 0) {
    fmt::print(stderr, "warning: {}\n", slow);
  }
  return 0;
}

int on_ranks(const RunSettings& s, const RankBody& body) {
  if (comm::launched_by_mpi()) return on_mpi(s.start, s.train.device, body);
  const base::Status status = on_each_thread(s.start, s.train.device, body);
  return status ? 0 : exit_code(status.error());
}

}  // namespace goban::train::trainer
