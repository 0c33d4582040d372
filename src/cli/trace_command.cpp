// goban trace: synthetic job histories.
#include <fmt/format.h>

#include "base/output_file.hpp"
#include "cli/command.hpp"
#include "cli/progress.hpp"
#include "history/generate.hpp"
#include "model/cluster_presets.hpp"

namespace goban::cli {
namespace {

struct GenerateArguments {
  std::string like;
  std::string cluster;
  std::string out = "-";
  history::PoissonOptions poisson;
};

int generate(GenerateArguments arguments) {
  if (arguments.like != "poisson") {
    return report_error(
        base::usage_error(fmt::format("unknown kind '{}'", arguments.like), "known: poisson")
            .value());
  }
  if (!arguments.cluster.empty()) {
    const auto cluster = model::resolve_cluster(arguments.cluster);
    if (!cluster) return report_error(cluster.error());
    arguments.poisson.cluster_gpus = cluster->num_gpus();
  }
  if (arguments.out == "-") {
    const auto status = history::generate_poisson(arguments.poisson, [](std::string_view text) {
      std::fwrite(text.data(), 1, text.size(), stdout);
    });
    return status ? 0 : report_error(status.error());
  }
  auto file = base::OutputFile::create(arguments.out);
  if (!file) return report_error(file.error());
  const auto status = history::generate_poisson(arguments.poisson, [&file](std::string_view text) {
    file->buffer() += text;
    file->write_out();
  });
  if (!status) return report_error(status.error());
  const auto written = file->commit();
  return written ? 0 : report_error(written.error());
}

}  // namespace

void add_trace(CLI::App& app, Action& action) {
  CLI::App* command = app.add_subcommand("trace", "Make job histories");
  command->require_subcommand(1);
  auto arguments = std::make_shared<GenerateArguments>();
  history::PoissonOptions& poisson = arguments->poisson;
  CLI::App* c = command->add_subcommand("generate", "Make a synthetic history from a seed");
  c->add_option("--like", arguments->like, "Kind of history: poisson")->required();
  c->add_option("--jobs", poisson.num_jobs, "How many jobs")
      ->check(CLI::Range(int64_t{1}, int64_t{100'000'000}))
      ->capture_default_str();
  CLI::Option* gpus = c->add_option("--gpus", poisson.cluster_gpus, "GPUs of the cluster it is for")
                          ->check(CLI::Range(int64_t{1}, int64_t{1} << 24))
                          ->capture_default_str();
  c->add_option("--cluster", arguments->cluster, "The same, as a cluster: TOML file, preset, NxM")
      ->excludes(gpus);
  CLI::Option* load =
      c->add_option("--load", poisson.load, "Offered load: GPU-seconds of work a GPU and second")
          ->capture_default_str();
  c->add_option("--horizon", poisson.horizon_s, "Let all jobs arrive within so many seconds")
      ->excludes(load);
  c->add_option("--mean-duration", poisson.duration_mean_s, "Mean duration in seconds")
      ->capture_default_str();
  c->add_option("--users", poisson.num_users, "Number of users")->capture_default_str();
  c->add_flag("--walltimes", poisson.walltimes, "Give jobs walltime limits, as users guess them");
  c->add_option("--seed", poisson.seed, "Seed; the same seed gives the same bytes")
      ->capture_default_str();
  c->add_option("--out", arguments->out, "Where to write the CSV")->capture_default_str();
  c->footer(
      "Example:\n  goban trace generate --like poisson --jobs 5000 --cluster sia-64 --load 0.9 "
      "--out jobs.csv");
  c->callback([arguments, &action] { action = [arguments] { return generate(*arguments); }; });
}

}  // namespace goban::cli
