// goban energy: power models, and their comparison with EaCO's measured tables.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "base/counted.hpp"
#include "base/number.hpp"
#include "base/text_file.hpp"
#include "base/units.hpp"
#include "cli/gpus/commands.hpp"
#include "core/knowledge/colocation/eaco_tables.hpp"
#include "core/knowledge/energy/power_file.hpp"
#include "core/knowledge/energy/power_presets.hpp"
#include "site/inputs/inputs.hpp"

namespace goban::cli {
namespace {

using core::knowledge::PowerModel;
using core::knowledge::RestState;

void print_state(const char* name, double watts) {
  fmt::print("  {:<22}{:>9.1f} W\n", name, watts);
}

void print_rest(const char* name, const RestState& rest, double idle_w) {
  if (rest.power_w >= idle_w) {
    fmt::print("  {:<22}{:>11}\n", name, "not used");
    return;
  }
  fmt::print(
      "  {:<22}{:>9.1f} W   down {:g} s, {:.0f} J; wake {:g} s, {:.0f} J; breaks even after {:.1f} "
      "s\n",
      name, rest.power_w, rest.enter_s, rest.enter_j, rest.wake_s, rest.wake_j,
      core::knowledge::break_even_s(rest, idle_w));
}

void print_node(const PowerModel& node) {
  const auto gpus = static_cast<uint32_t>(node.num_gpus);
  const double idle_w = node.node_idle_w(gpus);
  fmt::print("{}: {} of {}\n", node.name, base::counted(gpus, "GPU"),
             node.gpu_model.empty() ? "any model" : node.gpu_model + "...");
  fmt::print("node\n");
  print_rest("off", node.off, idle_w);
  print_rest("sleep", node.sleep, idle_w);
  print_state("idle", idle_w);
  print_state("context on every GPU", idle_w + gpus * (node.gpu_context_w - node.gpu_idle_w));
  for (const double util_pct : {5.0, 25.0, 50.0, 75.0, 100.0}) {
    print_state(fmt::format("busy, GPUs at {:g} %", util_pct).c_str(),
                node.host_idle_w + gpus * node.gpu_busy_w(util_pct));
  }
  fmt::print("GPU\n");
  print_state("idle", node.gpu_idle_w);
  print_state("context", node.gpu_context_w);
  print_state("board limit", node.gpu_max_w);
  fmt::print(
      "  busy at U %: {:g} + {:g} (U / 100)^{:g} W, including its share of the host's power\n",
      node.gpu_idle_w, node.gpu_dynamic_w, node.exponent);
  fmt::print("  shared: {:.4g} + sum (alone - {:.4g}) x speed W\n", node.gpu_share_base_w,
             node.gpu_share_base_w);
  for (const core::knowledge::PowerCap& cap : node.caps) {
    fmt::print("  capped at {:g} W: {:+.1f} % energy, {:+.1f} % time\n", cap.cap_w,
               100 * (cap.energy_factor - 1), 100 * (cap.time_factor - 1));
  }
}

nlohmann::json rest_json(const RestState& rest, double idle_w) {
  if (rest.power_w >= idle_w) return nullptr;
  return {{"power_w", rest.power_w}, {"enter_s", rest.enter_s},
          {"enter_j", rest.enter_j}, {"wake_s", rest.wake_s},
          {"wake_j", rest.wake_j},   {"break_even_s", core::knowledge::break_even_s(rest, idle_w)}};
}

nlohmann::json node_json(const PowerModel& node) {
  const double idle_w = node.node_idle_w(static_cast<uint32_t>(node.num_gpus));
  nlohmann::json caps = nlohmann::json::array();
  for (const core::knowledge::PowerCap& cap : node.caps) {
    caps.push_back({{"cap_w", cap.cap_w},
                    {"energy_factor", cap.energy_factor},
                    {"time_factor", cap.time_factor}});
  }
  return {{"name", node.name},
          {"gpu_model", node.gpu_model},
          {"num_gpus", node.num_gpus},
          {"idle_w", idle_w},
          {"host_idle_w", node.host_idle_w},
          {"off", rest_json(node.off, idle_w)},
          {"sleep", rest_json(node.sleep, idle_w)},
          {"gpu",
           {{"idle_w", node.gpu_idle_w},
            {"context_w", node.gpu_context_w},
            {"max_w", node.gpu_max_w},
            {"dynamic_w", node.gpu_dynamic_w},
            {"exponent", node.exponent},
            {"share_base_w", node.gpu_share_base_w}}},
          {"caps", std::move(caps)}};
}

int show_json(const std::string& spec) {
  nlohmann::json list = nlohmann::json::array();
  if (spec.empty()) {
    for (const core::knowledge::PowerPresetInfo& info : core::knowledge::power_preset_names()) {
      list.push_back({{"name", info.name}, {"basis", info.basis}});
    }
  } else {
    const auto catalog = site::inputs::resolve_power(spec);
    if (!catalog) return report_error(catalog.error());
    for (const PowerModel& node : catalog->models) list.push_back(node_json(node));
  }
  fmt::print("{}\n", list.dump(2));
  return 0;
}

int show(const std::string& spec, bool toml) {
  if (spec.empty()) {
    for (const core::knowledge::PowerPresetInfo& info : core::knowledge::power_preset_names()) {
      fmt::print("{:<6}{}\n", info.name, info.basis);
    }
    return 0;
  }
  const auto catalog = site::inputs::resolve_power(spec);
  if (!catalog) return report_error(catalog.error());
  if (toml) {
    fmt::print("{}", core::knowledge::to_toml(*catalog));
    return 0;
  }
  for (const PowerModel& node : catalog->models) print_node(node);
  return 0;
}

base::Result<std::vector<core::knowledge::EacoRow>> read_rows(
    const std::vector<std::string>& files) {
  if (files.empty()) return core::knowledge::eaco_rows();
  std::vector<core::knowledge::EacoRow> rows;
  for (const std::string& file : files) {
    const auto text = base::read_text_file(file, size_t{1} << 20);
    if (!text) return base::failure(text.error());
    auto table = core::knowledge::parse_eaco_table(*text, base::input_name(file));
    if (!table) return base::failure(table.error());
    rows.insert(rows.end(), table->begin(), table->end());
  }
  return rows;
}

std::string percent(double part) { return fmt::format("{:+.1f} %", 100 * part); }

void print_fit(const char* what, const core::knowledge::FitError& fit) {
  fmt::print("  {:<58}mean {:>5.2f} %, maximum {:>5.2f} %\n", what, 100 * fit.mean, 100 * fit.max);
}

void print_watts(const core::knowledge::EacoReplayResult& result) {
  fmt::print("Watts of the node\n  {:<14}{:>9}{:>10}{:>18}{:>18}{:>18}\n", "set", "measured",
             "look-up", "curve of util", "composed", "alone only");
  for (const core::knowledge::EacoReplay& r : result.rows) {
    const auto beside = [&r](double watts) {
      return fmt::format("{:.0f} {:>8}", watts, percent(watts / r.row.node_w - 1));
    };
    fmt::print("  {:<14}{:>9.0f}{:>10.0f}{:>18}{:>18}{:>18}\n", r.row.set, r.row.node_w, r.lookup_w,
               beside(r.curve_w), beside(r.composed_w), beside(r.blind_w));
  }
}

void print_times(const core::knowledge::EacoReplayResult& result) {
  fmt::print("Mean JCT, h\n  {:<14}{:>9}{:>10}{:>18}  {}\n", "set", "measured", "look-up",
             "alone only", "predicted by");
  for (const core::knowledge::EacoReplay& r : result.rows) {
    fmt::print("  {:<14}{:>9.2f}{:>10.2f}{:>18}  {}\n", r.row.set, r.row.jct_h, r.lookup_jct_h,
               fmt::format("{:.2f} {:>8}", r.blind_jct_h, percent(r.blind_jct_h / r.row.jct_h - 1)),
               r.blind_level);
  }
}

void print_energy(const core::knowledge::EacoReplayResult& result) {
  fmt::print("Energy, kWh: published; watts x JCT; run one after the other; saved by sharing\n");
  for (const core::knowledge::EacoReplay& r : result.rows) {
    const double product = r.lookup_w * r.lookup_jct_h / 1000;
    fmt::print("  {:<14}{:>9.2f}{:>10.2f} {:>8}", r.row.set, r.row.energy_kwh, product,
               percent(product / r.row.energy_kwh - 1));
    if (r.row.members().size() > 1) {
      fmt::print("{:>10.2f}{:>9.1f} %", r.alone_kwh, 100 * (1 - r.row.energy_kwh / r.alone_kwh));
    }
    fmt::print("\n");
  }
}

nlohmann::json fit_json(const core::knowledge::FitError& fit) {
  return {{"mean", fit.mean}, {"max", fit.max}};
}

nlohmann::json tables_json(const PowerModel& model,
                           const core::knowledge::EacoReplayResult& result) {
  nlohmann::json sets = nlohmann::json::array();
  for (const core::knowledge::EacoReplay& r : result.rows) {
    sets.push_back(
        {{"set", r.row.set},
         {"measured",
          {{"node_w", r.row.node_w},
           {"jct_h", r.row.jct_h},
           {"energy_kwh", r.row.energy_kwh},
           {"util_pct", r.row.util_pct}}},
         {"lookup", {{"node_w", r.lookup_w}, {"jct_h", r.lookup_jct_h}}},
         {"curve", {{"node_w", r.curve_w}}},
         {"composed", {{"node_w", r.composed_w}}},
         {"alone_only",
          {{"node_w", r.blind_w}, {"jct_h", r.blind_jct_h}, {"predicted_by", r.blind_level}}},
         {"one_after_the_other_kwh", r.alone_kwh}});
  }
  return {{"model", model.name},
          {"sets", std::move(sets)},
          {"relative_errors",
           {{"lookup", fit_json(result.lookup)},
            {"curve_w", fit_json(result.curve)},
            {"composed_w", fit_json(result.composition)},
            {"alone_only_w", fit_json(result.blind_w)},
            {"alone_only_jct", fit_json(result.blind_jct)}}}};
}

int replay_tables(const std::vector<std::string>& files, const std::string& energy, bool as_json) {
  const auto rows = read_rows(files);
  if (!rows) return report_error(rows.error());
  const auto catalog = site::inputs::resolve_power(energy);
  if (!catalog) return report_error(catalog.error());
  const PowerModel* model = catalog->find("V100");
  if (model == nullptr || model->num_gpus != 8) {
    return report_error(
        base::usage_error("the tables were measured on a node with 8 V100",
                          "give the model of such a node, for example --energy v100")
            .value());
  }
  const auto result = core::knowledge::replay_eaco(*rows, *model);
  if (!result) return report_error(result.error());
  if (as_json) {
    fmt::print("{}\n", tables_json(*model, *result).dump(2));
    return 0;
  }
  fmt::print("EaCO tables 1-4 (arXiv 2412.08294v1) against the model {}: one node with 8 V100\n",
             model->name);
  print_watts(*result);
  print_times(*result);
  print_energy(*result);
  fmt::print("Errors\n");
  print_fit("look-up of measured sets, JCT and watts", result->lookup);
  print_fit("watts from the measured utilisation, all rows", result->curve);
  print_fit("watts composed of members at the measured speed, sets", result->composition);
  print_fit("watts composed at the predicted speed, sets (held out)", result->blind_w);
  print_fit("JCT predicted from members alone, sets (held out)", result->blind_jct);
  return 0;
}

}  // namespace

void add_energy(Command& app, Action& action) {
  Command* command =
      app.add_subcommand("energy", "Show power models and compare them with measurements");
  command->require_subcommand(1);
  command->footer("Examples:\n  goban energy show v100\n  goban energy replay-tables");

  auto spec = std::make_shared<std::string>();
  auto toml = std::make_shared<bool>(false);
  Command* show_command =
      command->add_subcommand("show", "Show a power model; without a name, list the presets");
  show_command->add_option("MODEL", *spec, "Preset or TOML file");
  auto* const toml_flag = show_command->add_flag(
      "--toml", *toml, "Print the model as TOML, as a template for your own");
  auto as_json = std::make_shared<bool>(false);
  auto* const json_flag = show_command->add_flag("--json", *as_json, "Print JSON only");
  toml_flag->excludes(json_flag);
  show_command->footer(
      "Examples:\n"
      "  goban energy show\n"
      "  goban energy show v100\n"
      "  goban energy show h100 --toml > site.toml");
  show_command->callback(
      [=, &action] { action = [=] { return *as_json ? show_json(*spec) : show(*spec, *toml); }; });

  auto files = std::make_shared<std::vector<std::string>>();
  auto energy = std::make_shared<std::string>("v100");
  Command* replay =
      command->add_subcommand("replay-tables", "Compare a power model with EaCO's measured tables");
  replay->add_option("FILE", *files, "Tables (CSV; default: the published numbers)");
  replay->add_option("--energy", *energy, "Power model: preset or TOML file")
      ->capture_default_str();
  auto replay_json = std::make_shared<bool>(false);
  replay->add_flag("--json", *replay_json, "Print JSON only");
  replay->footer(
      "Example:\n"
      "  goban energy replay-tables\n"
      "Column 'alone only': predicted as if no set had been measured. docs/energy.md explains all\n"
      "columns.");
  replay->callback(
      [=, &action] { action = [=] { return replay_tables(*files, *energy, *replay_json); }; });
}

}  // namespace goban::cli
