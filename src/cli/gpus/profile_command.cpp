// goban profile: PM scores from measured runs, their bins, and application classes.
#include <fmt/format.h>
#include <map>
#include <nlohmann/json.hpp>

#include "base/csv.hpp"
#include "base/number.hpp"
#include "base/output_file.hpp"
#include "base/reports/job_profile.hpp"
#include "base/text_file.hpp"
#include "cli/gpus/commands.hpp"
#include "core/knowledge/app_class.hpp"
#include "core/knowledge/app_classifier.hpp"
#include "core/knowledge/binning.hpp"
#include "core/knowledge/profile_runs.hpp"
#include "core/knowledge/score_draw.hpp"
#include "core/knowledge/scores_file.hpp"
#include "core/knowledge/synthetic_scores.hpp"
#include "site/inputs/inputs.hpp"

namespace goban::cli {
namespace {

using base::Result;
using base::usage_error;

struct BinArguments {
  std::string k1 = "silhouette";
  std::optional<uint32_t> bins;

  [[nodiscard]] Result<core::knowledge::BinningOptions> options() const {
    const auto rule = core::knowledge::parse_k1_rule(k1);
    if (!rule) return base::failure(rule.error());
    return core::knowledge::BinningOptions{*rule, bins};
  }
  void add_to(Command* command) {
    command->add_option("--k1", k1, "Number of bins before outliers: silhouette, or artifact (2)")
        ->capture_default_str();
    command->add_option("--bins", bins, "Exact number of bins")->range(1, 255);
  }
};

struct ScoreArguments {
  std::string cluster;
  std::vector<std::string> profiles;
  std::string mode = "robust";
  uint64_t seed = 1;
  std::string out = "-";
  BinArguments binning;
};

int write_text(const std::string& path, const std::string& text) {
  if (path == "-") {
    fmt::print("{}", text);
    return 0;
  }
  auto file = base::OutputFile::create(path);
  if (!file) return report_error(file.error());
  file->buffer() = text;
  const auto status = file->commit();
  return status ? 0 : report_error(status.error());
}

/// Reads `A=FILE` for each class from A on; several classes may use the same file.
Result<std::vector<core::knowledge::ProfileRuns>> read_profiles(
    const std::vector<std::string>& arguments) {
  std::map<uint8_t, std::string> paths;
  for (const std::string& argument : arguments) {
    const size_t equals = argument.find('=');
    const auto app_class =
        core::knowledge::parse_app_class(std::string_view(argument).substr(0, equals));
    if (equals == std::string::npos || !app_class) {
      return usage_error(fmt::format("--profile {} is not CLASS=FILE", argument),
                         "write --profile A=resnet.csv --profile B=bert.csv");
    }
    if (!paths.emplace(app_class->value, argument.substr(equals + 1)).second) {
      return usage_error(fmt::format("duplicate class {}", app_class->letter()),
                         "give one file per class");
    }
  }
  std::vector<core::knowledge::ProfileRuns> profiles;
  for (const auto& [app_class, path] : paths) {
    if (app_class != profiles.size()) {
      return usage_error(fmt::format("no profile for class {}",
                                     static_cast<char>('A' + static_cast<int>(profiles.size()))),
                         "classes must be consecutive, starting with A");
    }
    auto runs = site::inputs::read_profile_runs(path);
    if (!runs) return base::failure(runs.error());
    profiles.push_back(std::move(*runs));
  }
  return profiles;
}

int write_scores(const ScoreArguments& arguments) {
  const auto cluster = site::inputs::resolve_cluster(arguments.cluster);
  if (!cluster) return report_error(cluster.error());
  const auto mode = core::knowledge::parse_score_mode(arguments.mode);
  if (!mode) return report_error(mode.error());
  const auto binning = arguments.binning.options();
  if (!binning) return report_error(binning.error());
  const auto profiles = read_profiles(arguments.profiles);
  if (!profiles) return report_error(profiles.error());
  std::vector<const core::knowledge::ProfileRuns*> by_class;
  for (const core::knowledge::ProfileRuns& runs : *profiles) by_class.push_back(&runs);
  core::knowledge::ScoreDraw draw =
      core::knowledge::draw_scores(cluster->num_gpus(), by_class, *mode, arguments.seed);
  if (draw.repeated) {
    fmt::print(stderr,
               "goban: note: a profile has fewer GPUs than the cluster's {}; some measurements "
               "were drawn more than once\n",
               cluster->num_gpus());
  }
  const core::knowledge::PmScores scores =
      core::knowledge::bin_classes(std::move(draw.raw_by_class), *binning);
  return write_text(arguments.out, core::knowledge::to_csv(scores));
}

struct GenerateArguments {
  std::string cluster;
  std::string out = "-";
  core::knowledge::SyntheticScores scores;
  BinArguments binning;
};

int generate(GenerateArguments arguments) {
  const auto cluster = site::inputs::resolve_cluster(arguments.cluster);
  if (!cluster) return report_error(cluster.error());
  const auto binning = arguments.binning.options();
  if (!binning) return report_error(binning.error());
  arguments.scores.num_gpus = cluster->num_gpus();
  const core::knowledge::PmScores scores =
      core::knowledge::bin_classes(core::knowledge::synthetic_scores(arguments.scores), *binning);
  return write_text(arguments.out, core::knowledge::to_csv(scores));
}

/// Members by bin.
std::map<uint8_t, int> bin_sizes(const core::knowledge::Binning& bins) {
  std::map<uint8_t, int> members;
  for (const uint8_t bin : bins.scores.bin) ++members[bin];
  return members;
}

nlohmann::json bins_json(const core::knowledge::Binning& bins, char letter) {
  nlohmann::json outliers = nlohmann::json::array();
  for (const core::model::GpuId gpu : bins.outliers) {
    outliers.push_back({{"gpu", gpu.value}, {"score", bins.scores.raw[gpu.index()]}});
  }
  nlohmann::json sizes = nlohmann::json::array();
  for (const auto& [bin, count] : bin_sizes(bins)) {
    sizes.push_back({{"score", bins.scores.bin_values[bin]}, {"gpus", count}});
  }
  return {{"class", std::string(1, letter)}, {"k1", bins.k1},
          {"silhouette", bins.silhouette},   {"inertia", bins.inertia},
          {"outliers", std::move(outliers)}, {"bins", std::move(sizes)}};
}

void print_bins(const core::knowledge::Binning& bins, char letter) {
  fmt::print("class {}: {} bins (K1 {}, silhouette {:.3f}, inertia {:.4g}), {} outliers:", letter,
             bins.scores.bin_values.size(), bins.k1, bins.silhouette, bins.inertia,
             bins.outliers.size());
  for (const core::model::GpuId gpu : bins.outliers) {
    fmt::print(" GPU {} ({:.3f})", gpu.value, bins.scores.raw[gpu.index()]);
  }
  fmt::print("\n  ");
  for (const auto& [bin, count] : bin_sizes(bins)) {
    fmt::print(" {:.3f} x{}", bins.scores.bin_values[bin], count);
  }
  fmt::print("\n");
}

int show_bins(const std::string& path, const BinArguments& arguments, bool as_json) {
  const auto binning = arguments.options();
  if (!binning) return report_error(binning.error());
  const auto scores = site::inputs::read_scores(path, std::nullopt);
  if (!scores) return report_error(scores.error());
  nlohmann::json list = nlohmann::json::array();
  for (size_t c = 0; c < scores->num_classes(); ++c) {
    const core::model::AppClass app_class{static_cast<uint8_t>(c)};
    const core::knowledge::Binning bins =
        core::knowledge::bin_scores(scores->of(app_class).raw, *binning);
    if (as_json) {
      list.push_back(bins_json(bins, app_class.letter()));
    } else {
      print_bins(bins, app_class.letter());
    }
  }
  if (as_json) fmt::print("{}\n", list.dump(2));
  return 0;
}

/// Applications and their GPU utilisation.
struct Applications {
  std::vector<std::string> names;
  std::vector<core::knowledge::AppFeatures> features;
};

base::Status read_csv(const std::string& text, const std::string& path, Applications& out) {
  base::CsvReader csv(text, path);
  const auto model = csv.require("model");
  const auto dram = csv.require("dram_pct");
  const auto fu = csv.require("fu_pct");
  for (const auto* column : {&model, &dram, &fu}) {
    if (!*column) return base::failure(column->error());
  }
  while (csv.next()) {
    const auto dram_pct = base::parse_double(csv.field(*dram));
    const auto fu_pct = base::parse_double(csv.field(*fu));
    if (!dram_pct || !fu_pct) {
      return base::bad_data(csv.place(dram_pct ? *fu : *dram), "is not a number",
                            "give the utilisation in percent of the peak");
    }
    out.names.emplace_back(csv.field(*model));
    out.features.push_back({*dram_pct, *fu_pct});
  }
  return csv.status();
}

base::Status read_job_profile(const std::string& text, const std::string& path, Applications& out) {
  const auto job = base::reports::parse_job_profile(text, path);
  if (!job) return base::failure(job.error());
  const auto features = core::knowledge::features_of(*job);
  if (!features) {
    return base::bad_data({path, 0, 0, {}}, "contains no GPU utilisation",
                          "add dram_utilisation_pct and fu_utilisation_pct, or omit the file");
  }
  out.names.push_back(job->model);
  out.features.push_back(*features);
  return {};
}

int classify(const std::vector<std::string>& paths, size_t classes, bool as_json) {
  Applications apps;
  for (const std::string& path : paths) {
    const auto text = base::read_text_file(path);
    if (!text) return report_error(text.error());
    const base::Status read =
        path.ends_with(".json") ? read_job_profile(*text, path, apps) : read_csv(*text, path, apps);
    if (!read) return report_error(read.error());
  }
  core::knowledge::ClassifierOptions options;
  options.num_classes = classes;
  const auto classifier = core::knowledge::AppClassifier::fit(apps.features, options);
  if (!classifier) return report_error(classifier.error());
  nlohmann::json list = nlohmann::json::array();
  for (size_t i = 0; i < apps.names.size(); ++i) {
    const char letter = classifier->classify(apps.names[i], apps.features[i]).letter();
    if (as_json) {
      list.push_back({{"model", apps.names[i]}, {"class", std::string(1, letter)}});
    } else {
      fmt::print("{},{}\n", apps.names[i], letter);
    }
  }
  if (as_json) fmt::print("{}\n", list.dump(2));
  return 0;
}

}  // namespace

void add_profile(Command& app, Action& action) {
  Command* command = app.add_subcommand(
      "profile", "Measure this machine's GPUs; compute PM scores, bins and application classes");
  command->require_subcommand(0, 1);
  add_profile_measure(*command, action);
  add_profile_cluster(*command, action);

  auto scores = std::make_shared<ScoreArguments>();
  Command* scores_command = command->add_subcommand(
      "scores", "Draw a cluster's PM scores from measured runs and bin them");
  scores_command->add_option("--cluster", scores->cluster, "Cluster: TOML file, preset or NxM")
      ->required();
  scores_command
      ->add_option("--profile", scores->profiles,
                   "CLASS=FILE: measured runs with the columns uuid and perf; lower is better")
      ->required();
  scores_command
      ->add_option("--mode", scores->mode,
                   "Score of a GPU: robust, median (of its runs) or run (one of its runs)")
      ->capture_default_str();
  scores_command->add_option("--seed", scores->seed, "Random seed")->capture_default_str();
  scores_command->add_option("--out", scores->out, "Output file (CSV); - for standard output")
      ->type_name("FILE")
      ->capture_default_str();
  scores->binning.add_to(scores_command);
  scores_command->footer(
      "Example:\n  goban profile scores --cluster sia-64 --profile A=resnet.csv --profile "
      "B=bert.csv --out scores.csv");
  scores_command->callback(
      [scores, &action] { action = [scores] { return write_scores(*scores); }; });

  auto made = std::make_shared<GenerateArguments>();
  Command* generate_command = command->add_subcommand("generate", "Generate synthetic PM scores");
  generate_command->add_option("--cluster", made->cluster, "Cluster: TOML file, preset or NxM")
      ->required();
  generate_command
      ->add_option("--straggler-share", made->scores.straggler_share,
                   "Share of GPUs that are stragglers")
      ->range(0.0, 1.0)
      ->capture_default_str();
  generate_command
      ->add_option("--straggler-slowdown", made->scores.straggler_slowdown,
                   "Slowdown of stragglers for class A")
      ->range(1.0, 100.0)
      ->capture_default_str();
  generate_command->add_option("--seed", made->scores.seed, "Random seed")->capture_default_str();
  generate_command->add_option("--out", made->out, "Output file (CSV); - for standard output")
      ->type_name("FILE")
      ->capture_default_str();
  made->binning.add_to(generate_command);
  generate_command->footer(
      "Example:\n  goban profile generate --cluster 16x4 --seed 7 --out scores.csv");
  generate_command->callback([made, &action] { action = [made] { return generate(*made); }; });

  auto table = std::make_shared<std::string>();
  auto binning = std::make_shared<BinArguments>();
  Command* bins_command = command->add_subcommand("bins", "Show the bins of a score table");
  bins_command->add_option("SCORES", *table, "Score table (CSV)")->required();
  binning->add_to(bins_command);
  auto as_json = std::make_shared<bool>(false);
  bins_command->add_flag("--json", *as_json, "Print JSON only");
  bins_command->footer("Example:\n  goban profile bins scores.csv");
  bins_command->callback(
      [=, &action] { action = [=] { return show_bins(*table, *binning, *as_json); }; });

  auto apps = std::make_shared<std::vector<std::string>>();
  auto classes = std::make_shared<size_t>(3);
  Command* classify_command = command->add_subcommand(
      "classify", "Cluster applications into classes by their GPU utilisation");
  classify_command
      ->add_option("FILE", *apps, "CSV with model,dram_pct,fu_pct, or job profiles (.json)")
      ->required();
  classify_command->add_option("--classes", *classes, "Number of classes")
      ->range(1, 26)
      ->capture_default_str();
  auto classes_as_json = std::make_shared<bool>(false);
  classify_command->add_flag("--json", *classes_as_json, "Print JSON only");
  classify_command->footer(
      "Examples:\n"
      "  goban profile classify applications.csv\n"
      "  goban profile classify --classes 2 resnet50.json bert.json gnmt.json");
  classify_command->callback(
      [=, &action] { action = [=] { return classify(*apps, *classes, *classes_as_json); }; });
}

}  // namespace goban::cli
