// goban-train: mesh training runs. Parses the command line and starts the ranks; no other logic.
#include <ATen/Parallel.h>
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <csignal>
#include <cstdlib>
#include <fmt/format.h>
#include <limits>
#include <malloc.h>
#include <map>

#include "comm/mpi_world.hpp"
#include "comm/thread_world.hpp"
#include "data/fetch.hpp"
#include "train/trainer.hpp"

namespace {

using namespace goban;

struct Settings {
  train::TrainOptions train;
  comm::Options comm;
  int threads = 1;
  double memory_limit_mb = 0;
  std::string lr_scale = "none";
};

void on_signal(int) { train::stop_requested = true; }

const std::map<std::string, mesh::OptimizerOptions::Kind> kOptimizers = {
    {"sgd", mesh::OptimizerOptions::Kind::Sgd},
    {"momentum", mesh::OptimizerOptions::Kind::Momentum},
    {"adamw", mesh::OptimizerOptions::Kind::AdamW},
    {"adafactor", mesh::OptimizerOptions::Kind::Adafactor}};
const std::map<std::string, mesh::DType> kPrecisions = {{"fp32", mesh::DType::F32},
                                                        {"bf16", mesh::DType::BF16}};

void add_common(CLI::App& app, Settings& s) {
  train::TrainOptions& t = s.train;
  app.add_option("--mesh", t.mesh, "Mesh of devices, as in \"rows:2;cols:2\"");
  app.add_option("--layout", t.layout, "Layout, as in \"batch:rows;hidden1:cols\"");
  app.add_option("--threads", s.threads, "Ranks as threads of this process (without mpirun)")
      ->check(CLI::PositiveNumber);
  app.add_option("--batch-size", t.batch_size, "Samples a step, on all devices together")
      ->check(CLI::PositiveNumber);
  app.add_option("--micro-batches", t.micro_batches, "Parts of a batch, one after the other");
  app.add_option("--epochs", t.epochs, "Epochs in all");
  app.add_option("--optimizer", t.optimizer.kind, "sgd, momentum, adamw or adafactor")
      ->transform(CLI::CheckedTransformer(kOptimizers, CLI::ignore_case));
  app.add_option("--learning-rate", t.optimizer.learning_rate,
                 "Learning rate; 0 with adafactor: its schedule");
  app.add_option("--lr-scale", s.lr_scale, "Scale the rate with the batch over 200")
      ->check(CLI::IsMember({"none", "linear", "sqrt"}));
  app.add_option("--precision", t.precision, "Type of activations: fp32 or bf16")
      ->transform(CLI::CheckedTransformer(kPrecisions, CLI::ignore_case));
  app.add_option("--seed", t.seed, "Seed of weights, order and dropout");
  app.add_option("--train-limit", t.train_limit, "Training samples used; 0: all");
  app.add_option("--test-limit", t.test_limit, "Test samples used; 0: all");
  app.add_option("--checkpoint", t.checkpoint, "Folder to save to and resume from");
  app.add_option("--out", t.out, "Folder of metrics.csv, metrics.prom and profile.json");
  app.add_option("--memory-limit-mb", s.memory_limit_mb, "Refuse what needs more on a device");
  app.add_option("--timeout-s", s.comm.timeout_s, "Longest wait for another rank");
  app.add_flag("--fixed-order", s.comm.fixed_order, "Sums in rank order: equal bits anywhere");
  app.add_flag("--explain-layout", t.explain, "Print what each operation does, and stop");
}

void add_images(CLI::App& app, Settings& s) {
  add_common(app, s);
  app.add_option("--model", s.train.model, "conv (Mesh TensorFlow's example) or mlp")
      ->check(CLI::IsMember({"conv", "mlp"}));
  app.add_option("--hidden", s.train.hidden, "Size of the two hidden layers");
  app.add_option("--data", s.train.data_dir, "Folder of `goban-train data fetch`");
}

void add_text(CLI::App& app, Settings& s) {
  add_common(app, s);
  train::TransformerShape& t = s.train.transformer;
  app.add_option("--text", s.train.texts, "Files to learn; bytes are tokens");
  app.add_flag_callback("--masked", [&s] { s.train.model = "masked"; }, "Masked, not causal");
  app.add_option("--length", t.length, "Bytes a window");
  app.add_option("--d-model", t.d_model, "Width");
  app.add_option("--heads", t.heads, "Attention heads");
  app.add_option("--d-head", t.d_head, "Width of a head");
  app.add_option("--d-ff", t.d_ff, "Width of the inner layer");
  app.add_option("--blocks", t.blocks, "Transformer blocks");
  app.add_option("--dropout", t.dropout, "Share of activations dropped");
  app.add_flag("--recompute", t.recompute, "Compute blocks again for the gradient");
}

int exit_code(const base::Error& error) {
  fmt::print(stderr, "goban-train: {}\n", error.text());
  return static_cast<int>(error.code);
}

int run(Settings& s) {
  train::TrainOptions& t = s.train;
  const double ratio = static_cast<double>(t.batch_size) / 200.0;
  if (s.lr_scale != "none") t.optimizer.scale = s.lr_scale == "linear" ? ratio : std::sqrt(ratio);
  t.memory_limit_bytes = static_cast<int64_t>(s.memory_limit_mb * 1e6);
  using Kind = mesh::OptimizerOptions::Kind;
  if (t.optimizer.learning_rate == 0 && t.optimizer.kind != Kind::Adafactor) {
    t.optimizer.learning_rate = t.optimizer.kind == Kind::AdamW ? 1e-3 : 0.05;
  }
  std::signal(SIGINT, on_signal);
  std::signal(SIGTERM, on_signal);
  if (comm::launched_by_mpi()) {
    auto end = comm::start_mpi(s.comm);
    if (!end) return exit_code(end.error());
    const auto result = train::train(t, **end);
    if (result) return 0;
    const bool mine_to_say = result.error().code != base::ErrorCode::Usage || (*end)->rank() == 0;
    const int code =
        mine_to_say ? exit_code(result.error()) : static_cast<int>(result.error().code);
    // Equal on all ranks: leave in order. Anything else must end the others too.
    if (result.error().code == base::ErrorCode::Usage) return code;
    (*end)->abandon(result.error().message);
    return code;
  }
  const auto status =
      comm::run_threads(s.threads, s.comm, [&](comm::Communicator& end) -> base::Status {
        // The cores are shared by the ranks.
        if (s.threads > 1) at::set_num_threads(std::max(1, at::get_num_threads() / s.threads));
        const auto result = train::train(t, end);
        if (!result) return base::failure(result.error());
        return {};
      });
  return status ? 0 : exit_code(status.error());
}

/// Steps allocate the same sizes again and again: keep the memory instead of giving it back to the
/// system, whose page faults cost a fifth of a step.
void keep_memory() {
  mallopt(M_ARENA_MAX, 1);
  mallopt(M_MMAP_MAX, 0);
  mallopt(M_TRIM_THRESHOLD, std::numeric_limits<int>::max());
  mallopt(M_TOP_PAD, 64 << 20);
}

}  // namespace

int main(int argc, char** argv) {
  keep_memory();
  CLI::App app("Trains models on a mesh of devices; the layout is one line of text.");
  app.require_subcommand(1);
  Settings s;
  const char* home = std::getenv("HOME");
  s.train.data_dir = std::string(home == nullptr ? "." : home) + "/.cache/goban/data";
  s.train.texts = {"/usr/share/common-licenses/GPL-3", "/usr/share/common-licenses/GFDL-1.3",
                   "/usr/share/common-licenses/MPL-2.0", "/usr/share/common-licenses/Apache-2.0"};
  CLI::App* mnist = app.add_subcommand("mnist", "Handwritten digits");
  CLI::App* fashion = app.add_subcommand("fashion", "Fashion-MNIST: clothes");
  CLI::App* lm = app.add_subcommand("lm", "Transformer language model on bytes of text");
  add_images(*mnist, s);
  add_images(*fashion, s);
  add_text(*lm, s);
  CLI::App* data = app.add_subcommand("data", "Data sets");
  data->require_subcommand(1);
  CLI::App* fetch = data->add_subcommand("fetch", "Fetch mnist or fashion and check every file");
  std::string name;
  fetch->add_option("name", name, "mnist or fashion")->required();
  fetch->add_option("--to", s.train.data_dir, "Folder");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  }
  if (fetch->parsed()) {
    const auto status = data::fetch(name, s.train.data_dir);
    if (!status) return exit_code(status.error());
    fmt::print("{} is in {}/{}\n", name, s.train.data_dir, name);
    return 0;
  }
  s.train.task = mnist->parsed() ? "mnist" : fashion->parsed() ? "fashion" : "lm";
  if (lm->parsed()) {
    if (s.train.model != "masked") s.train.model = "causal";
    if (lm->count("--batch-size") == 0) s.train.batch_size = 16;
    if (lm->count("--optimizer") == 0) s.train.optimizer.kind = mesh::OptimizerOptions::Kind::AdamW;
  }
  return run(s);
}
