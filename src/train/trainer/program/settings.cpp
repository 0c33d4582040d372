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
        return std::isfinite(value) && value >= 0 ? "" : text + " is no finite number from 0 on";
      },
      "FINITE");
}

void add_run_options(Command& command, RunSettings& s) {
  TrainOptions& t = s.train;
  using Kind = mesh::OptimizerOptions::Kind;
  command.add_option("--mesh", t.mesh, "Mesh of devices, as in \"rows:2;cols:2\"");
  command
      .add_option("--threads", s.start.threads, "Ranks as threads of this process (without mpirun)")
      ->positive();
  command.add_option("--micro-batches", t.micro_batches, "Parts of a batch, one after the other");
  command
      .add_choice("--last-batch", t.last_batch,
                  {{"drop", LastBatch::Drop}, {"keep", LastBatch::Keep}},
                  "The samples of an epoch that fill no batch (keep)")
      ->type_name("ENUM");
  command.add_option("--epochs", t.epochs, "Epochs in all")->positive();
  command
      .add_choice("--optimizer", t.optimizer.kind,
                  {{"adafactor", Kind::Adafactor},
                   {"adamw", Kind::AdamW},
                   {"momentum", Kind::Momentum},
                   {"sgd", Kind::Sgd}},
                  "Optimiser (adafactor; lm: adamw)")
      ->type_name("ENUM");
  command
      .add_choice("--lr-scale", t.lr_scale,
                  {{"linear", LrScale::Linear}, {"none", LrScale::None}, {"sqrt", LrScale::Sqrt}},
                  "How the learning rate follows the batch over 200 (none)")
      ->type_name("ENUM");
  command.add_option(
      "--device", t.device,
      "cpu, cuda (the GPU of the rank's number on its machine), cuda:N, or auto (auto)");
  command.add_choice(
      "--precision", s.precision,
      {{"fp32", Precision::Fp32}, {"tf32", Precision::Tf32}, {"bf16", Precision::Bf16}},
      "Activations: fp32, bf16, or tf32 (GPUs only)");
  command.add_option("--seed", t.seed, "Seed of weights, order and dropout; of a sweep, the first");
  command.add_option("--train-limit", t.train_limit, "Training samples used; 0: all");
  command.add_option("--test-limit", t.test_limit, "Test samples used; 0: all");
  command
      .add_option("--collectives", s.start.collectives,
                  "host (threads or MPI), nccl (a GPU for each rank), or auto: nccl between GPUs "
                  "(auto)")
      ->one_of({"auto", "host", "nccl"});
  from_zero(
      command.add_option("--timeout-s", s.start.comm.timeout_s, "Longest wait for another rank"));
  command.add_flag("--fixed-order", s.start.comm.fixed_order,
                   "Sums in rank order: equal bits anywhere");
}

void add_image_options(Command& command, RunSettings& s) {
  command.add_option("--model", s.train.model, "conv (Mesh TensorFlow's example) or mlp")
      ->one_of({"conv", "mlp"});
  command.add_option("--data", s.train.data_dir, "Folder of `goban-train data fetch`");
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
               "note: tf32 is how NVIDIA GPUs from Ampere on multiply fp32 matrices; there is no "
               "GPU in use here, so this run computes in fp32\n");
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
