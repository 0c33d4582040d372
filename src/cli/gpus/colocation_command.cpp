// goban colocation: imports, exports and queries measured slowdowns of jobs that shared a GPU.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "base/nearest.hpp"
#include "base/output_file.hpp"
#include "base/text_file.hpp"
#include "cli/gpus/commands.hpp"
#include "cli/jobs/live_client.hpp"
#include "core/knowledge/colocation/colocation_file.hpp"
#include "core/knowledge/colocation/colocation_predictor.hpp"
#include "core/knowledge/colocation/eaco_tables.hpp"
#include "core/knowledge/colocation/gavel_throughputs.hpp"
#include "site/inputs/inputs.hpp"

namespace goban::cli {
namespace {

using base::Result;
using base::Status;
using core::knowledge::ColocationHistory;

Status write_history(const ColocationHistory& history, const std::string& out) {
  const std::string text = core::knowledge::to_csv(history);
  if (out == "-") {
    fmt::print("{}", text);
    return {};
  }
  auto file = base::OutputFile::create(out);
  if (!file) return base::failure(file.error());
  file->buffer() += text;
  return file->commit();
}

Result<ColocationHistory> import_gavel(const std::vector<std::string>& files) {
  if (files.size() != 1) {
    return base::usage_error(fmt::format("{} throughput files are given", files.size()),
                             "give one file; several files measure the same pairs");
  }
  const auto text = base::read_text_file(files[0], size_t{256} << 20);
  if (!text) return base::failure(text.error());
  auto import = core::knowledge::parse_gavel_throughputs(*text, base::input_name(files[0]));
  if (!import) return base::failure(import.error());
  fmt::print(stderr,
             "goban: {} applications alone, {} pairs measured, {} pairs that must not share a GPU "
             "(rate 0)\n",
             import->alone, import->pairs, import->never);
  fmt::print(stderr,
             "goban: excluded: {} entries of jobs on several GPUs (such pairs are not measured), "
             "{} of jobs without a rate alone, {} GPU types of spread jobs\n",
             import->multi_gpu, import->no_rate, import->unconsolidated);
  return std::move(import->history);
}

Result<ColocationHistory> import_eaco(const std::vector<std::string>& files) {
  std::vector<core::knowledge::EacoRow> rows;
  for (const std::string& file : files) {
    const auto text = base::read_text_file(file, size_t{1} << 20);
    if (!text) return base::failure(text.error());
    const auto table = core::knowledge::parse_eaco_table(*text, base::input_name(file));
    if (!table) return base::failure(table.error());
    rows.insert(rows.end(), table->begin(), table->end());
  }
  auto history = core::knowledge::eaco_history(rows);
  if (history) {
    fmt::print(stderr, "goban: {} applications, {} sets of one or more\n", history->num_apps(),
               history->sets().size());
  }
  return history;
}

struct ImportArguments {
  std::string kind;
  std::vector<std::string> files;
  std::string out = "-";
};

int import(const ImportArguments& arguments) {
  const auto history =
      arguments.kind == "gavel" ? import_gavel(arguments.files) : import_eaco(arguments.files);
  if (!history) return report_error(history.error());
  const auto status = write_history(*history, arguments.out);
  return status ? 0 : report_error(status.error());
}

struct PredictArguments {
  std::string history;
  std::string gpu_type = "V100";
  std::string set;
  std::string energy = "v100";
  bool json_out = false;
};

/// Prints which members and GPU types are unknown, with the nearest known name.
void note_unknown(const ColocationHistory& history, const PredictArguments& arguments,
                  std::span<const core::knowledge::AppId> apps,
                  core::knowledge::GpuTypeId gpu_type) {
  if (!gpu_type.valid()) {
    fmt::print(stderr, "goban: note: no measurements on {}\n", arguments.gpu_type);
  }
  std::vector<std::string_view> known;
  for (size_t i = 0; i < history.num_apps(); ++i) {
    known.push_back(history.app_name(core::knowledge::AppId(i)));
  }
  std::string_view rest = arguments.set;
  for (const core::knowledge::AppId app : apps) {
    const size_t end = rest.find('+');
    std::string_view name = rest.substr(0, end);
    rest = end == std::string_view::npos ? std::string_view() : rest.substr(end + 1);
    if (app.valid()) continue;
    name.remove_prefix(std::min(name.find_first_not_of(' '), name.size()));
    name = name.substr(0, name.find_last_not_of(' ') + 1);
    const std::string_view near = base::nearest_name(name, known);
    fmt::print(stderr, "goban: note: {} was never measured{}\n", name,
               near.empty() ? "" : fmt::format("; did you mean {}?", near));
  }
}

int predict(const PredictArguments& arguments) {
  const auto history = site::inputs::read_colocation(arguments.history);
  if (!history) return report_error(history.error());
  const auto apps = core::knowledge::parse_members(arguments.set, *history);
  if (!apps) return report_error(apps.error());
  const auto power = site::inputs::resolve_power(arguments.energy);
  if (!power) return report_error(power.error());
  const auto* model = power->find(arguments.gpu_type);
  if (model == nullptr) {
    return report_error(base::usage_error(fmt::format("no power model for {}", arguments.gpu_type),
                                          "give another model with --energy")
                            .value());
  }
  const core::knowledge::GpuTypeId gpu_type = history->find_gpu_type(arguments.gpu_type);
  note_unknown(*history, arguments, *apps, gpu_type);
  const auto prediction = core::knowledge::ColocationPredictor(*history).predict(gpu_type, *apps);
  const auto watts = core::knowledge::set_power(*model, *history, gpu_type, *apps, prediction);
  const auto name_of = [&](size_t i) -> std::string {
    return (*apps)[i].valid() ? std::string(history->app_name((*apps)[i])) : "(unknown)";
  };
  if (arguments.json_out) {
    nlohmann::json out = {{"predicted_by", level_name(prediction.level)},
                          {"packable", prediction.packable()}};
    if (prediction.packable()) {
      for (size_t i = 0; i < apps->size(); ++i) {
        out["jobs"].push_back({{"name", name_of(i)},
                               {"slowdown", prediction.mean[i]},
                               {"slowdown_upper", prediction.upper[i]}});
      }
      out["sum_of_rates"] = prediction.sum_of_rates();
      out["gpu_w"] = watts.gpu_w;
      out["power_by"] = level_name(watts.level);
      out["joules_per_work_s"] = joules_per_work(*model, watts, prediction);
    }
    fmt::print("{}\n", out.dump(2));
    return 0;
  }
  fmt::print("predicted by: {}\n", level_name(prediction.level));
  if (!prediction.packable()) {
    fmt::print("must not share a GPU: the set does not fit, or could not be measured\n");
    return 0;
  }
  for (size_t i = 0; i < apps->size(); ++i) {
    fmt::print("  {:<40} slowdown {:.3f}, upper {:.3f}\n", name_of(i), prediction.mean[i],
               prediction.upper[i]);
  }
  fmt::print(
      "sum of rates {:.3f}; {:.1f} W per GPU ({}); {:.1f} J for the work that one job alone does "
      "in a second\n",
      prediction.sum_of_rates(), watts.gpu_w, level_name(watts.level),
      joules_per_work(*model, watts, prediction));
  return 0;
}

struct ExportArguments {
  std::string out = "-";
  std::string server;
};

int export_learned(const ExportArguments& arguments) {
  auto client = connect(arguments.server);
  if (!client) return report_error(client.error());
  const auto text = client->get("/v1/colocation");
  if (!text) return report_error(text.error());
  const auto history = core::knowledge::parse_colocation(*text, client->server_name());
  if (!history) return report_error(history.error());
  const auto status = write_history(*history, arguments.out);
  return status ? 0 : report_error(status.error());
}

}  // namespace

void add_colocation(Command& app, Action& action) {
  Command* command = app.add_subcommand(
      "colocation", "Import, export and query measured slowdowns of jobs that shared a GPU");
  command->require_subcommand(1);
  command->footer(
      "Examples:\n"
      "  goban colocation import gavel simulation_throughputs.json --out gavel.csv\n"
      "  goban colocation predict gavel.csv \"ResNet-18@batch 16 + ResNet-50@batch 64\"");

  auto imported = std::make_shared<ImportArguments>();
  Command* import_command =
      command->add_subcommand("import", "Import a co-location history from published measurements");
  import_command->add_option("KIND", imported->kind, "Source: gavel or eaco")
      ->required()
      ->one_of({"gavel", "eaco"});
  import_command
      ->add_option("FILE", imported->files,
                   "gavel: one throughput file (JSON); eaco: both tables (CSV)")
      ->required();
  import_command->add_option("--out", imported->out, "Output file (CSV); - for standard output")
      ->type_name("FILE")
      ->capture_default_str();
  import_command->footer(
      "Examples:\n"
      "  goban colocation import gavel simulation_throughputs.json --out gavel.csv\n"
      "  goban colocation import eaco eaco_table1_2_isolated.csv eaco_table3_4_colocated.csv");
  import_command->callback(
      [imported, &action] { action = [imported] { return import(*imported); }; });

  auto asked = std::make_shared<PredictArguments>();
  Command* predict_command =
      command->add_subcommand("predict", "Predict the slowdowns of jobs that share a GPU");
  predict_command->add_option("HISTORY", asked->history, "Co-location history (CSV)")->required();
  predict_command
      ->add_option("SET", asked->set, "Applications, such as \"ResNet-50@batch 64 + AlexNet\"")
      ->required();
  predict_command->add_option("--gpu", asked->gpu_type, "GPU type")->capture_default_str();
  predict_command->add_option("--energy", asked->energy, "Power model: preset or TOML file")
      ->capture_default_str();
  predict_command->add_flag("--json", asked->json_out, "Print JSON only");
  predict_command->footer(
      "Example:\n"
      "  goban colocation predict gavel.csv \"ResNet-18@batch 16 + ResNet-50@batch 64\" --gpu "
      "P100");
  predict_command->callback([asked, &action] { action = [asked] { return predict(*asked); }; });

  auto exported = std::make_shared<ExportArguments>();
  Command* export_command = command->add_subcommand(
      "export",
      "Export the daemon's co-location history: the configured one and what was learned since");
  export_command->add_option("--out", exported->out, "Output file (CSV); - for standard output")
      ->type_name("FILE")
      ->capture_default_str();
  add_server_option(*export_command, exported->server);
  export_command->footer(
      "Requires the role operator. Use the file as `colocation` in the daemon's configuration, or\n"
      "with goban simulate --colocation.\n"
      "Example:\n"
      "  goban colocation export --out learned.csv");
  export_command->callback(
      [exported, &action] { action = [exported] { return export_learned(*exported); }; });
}

}  // namespace goban::cli
