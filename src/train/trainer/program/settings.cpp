#include "train/trainer/program/settings.hpp"

#include <cmath>
#include <csignal>
#include <cstdlib>
#include <fmt/format.h>

#include "train/comm/call_watch.hpp"
#include "train/comm/launcher.hpp"
#include "train/mesh/device.hpp"
#include "train/trainer/environment.hpp"
#include "train/trainer/stopping.hpp"

namespace goban::train::trainer {

using base::command_line::Command;
using base::command_line::Option;

namespace {

void on_signal(int signal) {
  stop_requested = true;
  if (signal == SIGTERM) comm::note_termination();
}

}  // namespace

RunSettings::RunSettings() {
  const char* home = std::getenv("HOME");
  train.device = "auto";
  train.data_dir = std::string(home == nullptr ? "." : home) + "/.cache/goban/data";
}

Option* from_zero(Option* option) {
  return option->check(
      [](const std::string& text) -> std::string {
        const double value = std::strtod(text.c_str(), nullptr);
        return std::isfinite(value) && value >= 0 ? ""
                                                  : "must be a finite number >= 0, not " + text;
      },
      "FINITE");
}

void add_run_options(Command& command, RunSettings& s) {
  TrainOptions& t = s.train;
  using Kind = mesh::OptimizerOptions::Kind;
  command.add_option(
      "--mesh", t.mesh,
      "Mesh of devices, such as \"rows:2;cols:2\" (default: one device, or chosen by "
      "--layout auto)");
  command
      .add_option("--threads", s.start.threads,
                  "Number of ranks as threads of this process, without mpirun (default 1)")
      ->positive();
  command.add_option("--micro-batches", t.micro_batches,
                     "Number of micro-batches per batch; gradients accumulate (default 1)");
  command
      .add_choice(
          "--last-batch", t.last_batch, {{"drop", LastBatch::Drop}, {"keep", LastBatch::Keep}},
          "Samples of an epoch that do not fill a batch: keep as a smaller batch, or drop (default "
          "keep)")
      ->type_name("ENUM");
  command.add_option("--epochs", t.epochs, "Total number of epochs (default 1)")->positive();
  command
      .add_choice("--optimizer", t.optimizer.kind,
                  {{"adafactor", Kind::Adafactor},
                   {"adamw", Kind::AdamW},
                   {"momentum", Kind::Momentum},
                   {"sgd", Kind::Sgd}},
                  "Optimiser (default adafactor; lm: adamw)")
      ->type_name("ENUM");
  command
      .add_choice(
          "--lr-scale", t.lr_scale,
          {{"linear", LrScale::Linear}, {"none", LrScale::None}, {"sqrt", LrScale::Sqrt}},
          "Scale the learning rate with batch size / 200: linear, sqrt or none (default none)")
      ->type_name("ENUM");
  command.add_option(
      "--device", t.device,
      "cpu, cuda (the GPU with the local rank's number), cuda:N, or auto: cuda if there is a GPU "
      "(default auto)");
  command.add_choice(
      "--precision", s.precision,
      {{"fp32", Precision::Fp32}, {"tf32", Precision::Tf32}, {"bf16", Precision::Bf16}},
      "Precision of activations: fp32, bf16, or tf32 (GPUs only; default fp32)");
  command.add_option(
      "--seed", t.seed,
      "Seed of weights, sample order and dropout; in a sweep, the first seed (default 1)");
  command.add_option("--train-limit", t.train_limit, "Maximum number of training samples; 0: all");
  command.add_option("--test-limit", t.test_limit, "Maximum number of test samples; 0: all");
  command
      .add_option("--collectives", s.start.collectives,
                  "host (threads or MPI), nccl (one GPU per rank), or auto: nccl between GPUs "
                  "(default auto)")
      ->one_of({"auto", "host", "nccl"});
  from_zero(command.add_option("--timeout-s", s.start.comm.timeout_s,
                               "Maximum wait for another rank, in seconds (default 300)"));
  command.add_flag("--fixed-order", s.start.comm.fixed_order,
                   "Form sums in rank order: identical bits on every transport");
}

void add_image_options(Command& command, RunSettings& s) {
  command
      .add_option("--model", s.train.model,
                  "conv (Mesh TensorFlow's example) or mlp (default conv)")
      ->one_of({"conv", "mlp"});
  command.add_option("--data", s.train.data_dir,
                     "Folder of the data sets (default ~/.cache/goban/data)");
}

int prepare(RunSettings& s) {
  if (!comm::launched_by_mpi()) {
    if (const auto fine = comm::check_srun(1); !fine) return exit_code(fine.error());
  }
  s.train.precision = s.precision == Precision::Bf16 ? mesh::DType::BF16 : mesh::DType::F32;
  const auto device = mesh::resolve_device(s.train.device, comm::launcher_local_rank());
  if (!device) return exit_code(device.error());
  const bool tf32 = s.precision == Precision::Tf32;
  mesh::allow_tf32(tf32);
  if (tf32 && !device->is_cuda()) {
    fmt::print(stderr,
               "note: tf32 requires an NVIDIA GPU (Ampere or later); no GPU is in use, so this run "
               "computes in fp32\n");
  }
  const std::string slow = slow_blas_warning();
  if (!slow.empty() && comm::launcher_local_rank() == 0) {
    fmt::print(stderr, "warning: {}\n", slow);
  }
  std::signal(SIGINT, on_signal);
  std::signal(SIGTERM, on_signal);
  std::signal(SIGUSR1, on_signal);  // mpirun forwards it; Slurm can send it before the time limit
  return 0;
}

int on_ranks(const RunSettings& s, const RankBody& body) {
  if (comm::launched_by_mpi()) return on_mpi(s.start, s.train.device, body);
  const base::Status status = on_each_thread(s.start, s.train.device, body);
  return status ? 0 : exit_code(status.error());
}

}  // namespace goban::train::trainer
