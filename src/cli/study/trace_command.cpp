// goban trace generate: synthetic job histories.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <map>
#include <optional>

#include "base/counted.hpp"
#include "base/output_file.hpp"
#include "cli/shell/progress.hpp"
#include "cli/study/commands.hpp"
#include "site/inputs/inputs.hpp"
#include "study/history/generate/abci.hpp"
#include "study/history/generate/gavel.hpp"
#include "study/history/generate/philly.hpp"
#include "study/history/generate/poisson.hpp"
#include "study/history/generate/series/abci_series.hpp"

namespace goban::cli {
namespace {

struct GenerateArguments {
  std::string like;
  std::string cluster;
  std::string out = "-";
  std::optional<int64_t> num_jobs;
  std::optional<int32_t> days;
  uint64_t seed = 1;
  std::string population = "dl";
  std::string series_folder;
  int32_t nodes = 1088;
  study::history::PoissonOptions poisson;
  /// Options that apply to some kinds only, and those kinds.
  std::vector<std::pair<const Option*, std::vector<std::string>>> special;
};

using Generator =
    std::function<base::Status(const GenerateArguments&, const study::history::TextSink&,
                               const study::history::WorkProgress&)>;

base::Status like_poisson(const GenerateArguments& arguments, const study::history::TextSink& sink,
                          const study::history::WorkProgress& progress) {
  study::history::PoissonOptions options = arguments.poisson;
  options.seed = arguments.seed;
  options.num_jobs = arguments.num_jobs.value_or(options.num_jobs);
  if (!arguments.cluster.empty()) {
    const auto cluster = site::inputs::resolve_cluster(arguments.cluster);
    if (!cluster) return base::failure(cluster.error());
    options.cluster_gpus = cluster->num_gpus();
  }
  return study::history::generate_poisson(options, sink, progress);
}

study::history::AbciOptions abci_options(const GenerateArguments& arguments) {
  study::history::AbciOptions options;
  options.seed = arguments.seed;
  options.num_jobs = arguments.num_jobs.value_or(0);
  options.days = arguments.days.value_or(0);
  if (arguments.population == "all") options.population = study::history::AbciPopulation::All;
  return options;
}

base::Status like_abci(const GenerateArguments& arguments, const study::history::TextSink& sink,
                       const study::history::WorkProgress& progress) {
  return study::history::generate_abci(abci_options(arguments), sink, progress);
}

base::Status like_philly(const GenerateArguments& arguments, const study::history::TextSink& sink,
                         const study::history::WorkProgress& progress) {
  study::history::PhillyOptions options;
  options.seed = arguments.seed;
  options.num_jobs = arguments.num_jobs.value_or(0);
  options.days = arguments.days.value_or(0);
  return study::history::generate_philly(options, sink, progress);
}

base::Status like_gavel(const GenerateArguments& arguments, const study::history::TextSink& sink,
                        const study::history::WorkProgress& progress) {
  study::history::GavelOptions options;
  options.seed = arguments.seed;
  options.num_jobs = arguments.num_jobs.value_or(options.num_jobs);
  options.load = arguments.poisson.load;
  options.cluster_gpus = arguments.poisson.cluster_gpus;
  if (!arguments.cluster.empty()) {
    const auto cluster = site::inputs::resolve_cluster(arguments.cluster);
    if (!cluster) return base::failure(cluster.error());
    options.cluster_gpus = cluster->num_gpus();
  }
  return study::history::generate_gavel(options, sink, progress);
}

const std::map<std::string, Generator, std::less<>>& generators() {
  static const std::map<std::string, Generator, std::less<>> known = {{"abci-2019", like_abci},
                                                                      {"gavel", like_gavel},
                                                                      {"philly", like_philly},
                                                                      {"poisson", like_poisson}};
  return known;
}

/// Errors: Usage if an option was given that does not apply to the kind.
base::Status check_options(const GenerateArguments& arguments) {
  for (const auto& [option, kinds] : arguments.special) {
    if (option->count() == 0 || std::ranges::find(kinds, arguments.like) != kinds.end()) continue;
    return base::usage_error(
        fmt::format("{} does not apply to --like {}", option->name(), arguments.like),
        fmt::format("it applies to --like {}", fmt::join(kinds, ", ")));
  }
  return {};
}

base::Status generate_to(const GenerateArguments& arguments, const Generator& generator) {
  ProgressBar bar("generating", 1);
  const auto progress = [&bar](int64_t done, int64_t total) { bar.update(done, total); };
  if (arguments.out == "-") {
    return generator(
        arguments, [](std::string_view text) { std::fwrite(text.data(), 1, text.size(), stdout); },
        progress);
  }
  auto file = base::OutputFile::create(arguments.out);
  if (!file) return base::failure(file.error());
  auto status = generator(
      arguments,
      [&file](std::string_view text) {
        file->buffer() += text;
        file->write_out();
      },
      progress);
  if (!status) return status;
  return file->commit();
}

/// --with-gpu-series: jobs placed on nodes, a series store, and the true utilisation.
int generate_series(const GenerateArguments& arguments) {
  if (arguments.out != "-") {
    return report_error(
        base::usage_error("--out and --with-gpu-series are mutually exclusive",
                          fmt::format("remove --out; the jobs are written to {}/jobs.csv",
                                      arguments.series_folder))
            .value());
  }
  ProgressBar bar("generating", 1);
  catch_interrupts();
  study::history::SeriesYearOptions options;
  options.abci = abci_options(arguments);
  options.folder = arguments.series_folder;
  options.nodes = arguments.nodes;
  options.interrupted = &interrupted();
  options.on_progress = [&bar](int64_t done, int64_t total) { bar.update(done, total); };
  const auto made = study::history::generate_series_year(options);
  if (!made) {
    if (interrupted()) {
      fmt::print(stderr, "goban: interrupted; {}/series is incomplete: remove it\n",
                 arguments.series_folder);
      return kExitInterrupted;
    }
    return report_error(made.error());
  }
  fmt::print("{} on {}, {} of jobs, {} in {}\n", base::counted(made->jobs, "job"),
             base::counted(arguments.nodes, "node"), base::counted(made->job_gpus, "GPU"),
             base::counted(made->samples, "sample"), arguments.series_folder);
  if (made->waited > 0) {
    fmt::print("{} waited for free nodes\n", base::counted(made->waited, "job"));
  }
  if (made->too_large > 0) {
    fmt::print(stderr, "goban: warning: {} excluded\n",
               base::counted(made->too_large, "job is larger than all nodes and was",
                             "jobs are larger than all nodes and were"));
  }
  return 0;
}

int generate(const GenerateArguments& arguments) {
  const auto generator = generators().find(arguments.like);
  if (generator == generators().end()) {
    std::vector<std::string_view> known;
    for (const auto& [name, function] : generators()) known.push_back(name);
    return report_error(base::usage_error(fmt::format("unknown kind '{}'", arguments.like),
                                          fmt::format("known: {}", fmt::join(known, ", ")))
                            .value());
  }
  if (const auto status = check_options(arguments); !status) return report_error(status.error());
  if (!arguments.series_folder.empty()) return generate_series(arguments);
  const auto status = generate_to(arguments, generator->second);
  return status ? 0 : report_error(status.error());
}

void add_poisson_options(Command* c, GenerateArguments& arguments) {
  study::history::PoissonOptions& poisson = arguments.poisson;
  std::vector<Option*> added;
  Option* gpus =
      c->add_option("--gpus", poisson.cluster_gpus, "Number of GPUs of the target cluster")
          ->range(int64_t{1}, int64_t{1} << 24)
          ->capture_default_str();
  Option* load = c->add_option("--load", poisson.load,
                               "Offered load: GPU-seconds submitted per GPU and second")
                     ->capture_default_str();
  Option* cluster = c->add_option("--cluster", arguments.cluster,
                                  "Target cluster, instead of --gpus: TOML file, preset or NxM")
                        ->excludes(gpus);
  for (Option* option : {gpus, load, cluster}) {
    option->group("Options of gavel and poisson");
    arguments.special.push_back({option, {"gavel", "poisson"}});
  }
  added.push_back(c->add_option("--horizon", poisson.horizon_s,
                                "Period in which all jobs are submitted, in seconds")
                      ->excludes(load));
  added.push_back(
      c->add_option("--mean-duration", poisson.duration_mean_s, "Mean duration in seconds")
          ->capture_default_str());
  added.push_back(
      c->add_option("--users", poisson.num_users, "Number of users")->capture_default_str());
  added.push_back(c->add_flag("--walltimes", poisson.walltimes,
                              "Give jobs walltime limits as users estimate them"));
  for (Option* option : added) {
    option->group("Options of poisson");
    arguments.special.push_back({option, {"poisson"}});
  }
}

void add_site_options(Command* c, GenerateArguments& arguments) {
  Option* days = c->add_option("--days", arguments.days, "Write only the first N days")
                     ->range(1, 366)
                     ->group("Options of abci-2019 and philly");
  arguments.special.push_back({days, {"abci-2019", "philly"}});
  Option* population =
      c->add_option("--population", arguments.population,
                    "dl: deep-learning jobs only; all: all jobs (the others are mostly assumed)")
          ->one_of({"dl", "all"})
          ->capture_default_str()
          ->group("Options of abci-2019");
  Option* series = c->add_option("--with-gpu-series", arguments.series_folder,
                                 "Place the jobs on nodes and write the utilisation of every GPU "
                                 "to this folder: jobs.csv, series/, truth.csv")
                       ->group("Options of abci-2019");
  Option* nodes = c->add_option("--nodes", arguments.nodes,
                                "Number of nodes with four GPUs, for --with-gpu-series")
                      ->range(1, 100'000)
                      ->capture_default_str()
                      ->needs(series)
                      ->group("Options of abci-2019");
  for (Option* option : {population, series, nodes}) {
    arguments.special.push_back({option, {"abci-2019"}});
  }
}

void add_generate(Command* command, Action& action) {
  auto arguments = std::make_shared<GenerateArguments>();
  Command* c = command->add_subcommand("generate", "Generate a synthetic history from a seed");
  c->add_option(
       "--like", arguments->like,
       "Kind of history: abci-2019 (a year of the supercomputer ABCI), gavel (training jobs with "
       "deadlines), philly (75 days of Microsoft's cluster), poisson (independent jobs)")
      ->required();
  c->add_option("--jobs", arguments->num_jobs,
                "Number of jobs in the whole period (default: 497730 for abci-2019 (2501437 with "
                "--population all), 1000 for gavel, 151816 for philly, 10000 for poisson)")
      ->range(int64_t{1}, int64_t{100'000'000});
  c->add_option("--seed", arguments->seed, "Random seed; the same seed gives identical output")
      ->capture_default_str();
  c->add_option("--out", arguments->out, "Output file (CSV); - for standard output")
      ->type_name("FILE")
      ->capture_default_str();
  add_poisson_options(c, *arguments);
  add_site_options(c, *arguments);
  c->footer(
      "Examples:\n"
      "  goban trace generate --like poisson --jobs 5000 --cluster sia-64 --load 0.9 --out j.csv\n"
      "  goban trace generate --like abci-2019 --days 30 --out month.csv\n"
      "  goban trace generate --like abci-2019 --population all --seed 7 --out year.csv\n"
      "  goban trace generate --like abci-2019 --days 30 --with-gpu-series month\n"
      "  goban trace generate --like gavel --jobs 3000 --cluster 64x8 --load 0.6 --out jobs.csv\n"
      "  goban trace generate --like philly --jobs 20000 | goban simulate --jobs - --cluster 64x8\n"
      "Walltime limits of abci-2019 are those of the cluster preset abci. docs/traces.md lists\n"
      "what each kind is calibrated on and what is assumed.");
  c->callback([arguments, &action] { action = [arguments] { return generate(*arguments); }; });
}

}  // namespace

void add_trace(Command& app, Action& action) {
  Command* command = app.add_subcommand("trace", "Inspect, convert or generate job histories");
  command->require_subcommand(1);
  command->footer(
      "Examples:\n"
      "  goban trace inspect jobs.csv\n"
      "  goban trace convert log.swf.gz --procs-per-gpu 4 --out jobs.csv\n"
      "  goban trace generate --like poisson --jobs 1000 --gpus 64 --out jobs.csv");
  add_trace_inspect(*command, action);
  add_trace_convert(*command, action);
  add_generate(command, action);
}

}  // namespace goban::cli
