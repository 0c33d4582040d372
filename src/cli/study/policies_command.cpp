// goban policies: lists and describes presets and parts.
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <optional>

#include "cli/shell/text_table.hpp"
#include "cli/study/commands.hpp"
#include "core/policy/compose.hpp"
#include "study/rivals/presets.hpp"

namespace goban::cli {
namespace {

using core::policy::compose;
using core::policy::Composition;
using core::policy::Part;
using core::policy::PartKind;

/// The parts by kind; sharing, power, migration and size only if they are not the default.
std::string parts_of(const Composition& c) {
  std::string parts;
  for (const Part* part : c.parts) {
    if (part->kind > PartKind::Preemption && c.is_standard(part->kind)) continue;
    parts += parts.empty() ? "" : "+";
    parts += part->name;
  }
  return parts;
}

int print_json() {
  nlohmann::ordered_json document{{"presets", nlohmann::json::array()},
                                  {"parts", nlohmann::json::array()},
                                  {"rivals", nlohmann::json::array()}};
  for (const core::policy::Preset& preset : core::policy::presets()) {
    document["presets"].push_back({{"name", preset.name},
                                   {"description", preset.description},
                                   {"parts", parts_of(compose(preset.name).value())},
                                   {"locality_penalty", preset.settings.locality_penalty},
                                   {"restart_cost_s", preset.settings.restart_cost_s},
                                   {"round_s", preset.settings.round_s}});
  }
  for (const Part* part : core::policy::parts()) {
    document["parts"].push_back({{"kind", core::policy::kind_name(part->kind)},
                                 {"name", part->name},
                                 {"description", part->description}});
  }
  for (const study::rivals::RivalPreset& rival : study::rivals::rival_presets()) {
    document["rivals"].push_back({{"name", rival.name},
                                  {"format", study::rivals::rival_format_name(rival.format)},
                                  {"description", rival.description},
                                  {"quirks", rival.quirks}});
  }
  fmt::print("{}\n", document.dump(2));
  return 0;
}

std::string text_of_policies() {
  std::string out =
      "A policy is a preset, or parts joined by '+', at most one of each kind. Defaults: fifo,\n"
      "prefix, packed, exclusive, on; las and srtf are sticky, other orders are non-preemptive.\n"
      "Examples: easy-backfill+pal, las+pal, srtf+skip+spread.\n\nPresets\n";
  for (const core::policy::Preset& preset : core::policy::presets()) {
    const core::policy::RunSettings& settings = preset.settings;
    out += fmt::format(
        "  {:26} {}\n  {:26} = {}, L {}, restart {} s{}\n", preset.name, preset.description, "",
        parts_of(compose(preset.name).value()), settings.locality_penalty, settings.restart_cost_s,
        settings.round_s > 0 ? fmt::format(", rounds of {} s", settings.round_s) : "");
  }
  std::optional<PartKind> kind;
  for (const Part* part : core::policy::parts()) {
    if (part->kind != kind) out += fmt::format("\n{}\n", core::policy::kind_name(part->kind));
    kind = part->kind;
    out += fmt::format("  {:26} {}\n", part->name, part->description);
  }
  out +=
      "\nPublished rivals, with their quirks (goban simulate --format, docs/studies/rivals.md)\n";
  for (const study::rivals::RivalPreset& rival : study::rivals::rival_presets()) {
    out += fmt::format("  {:26} {}\n  {:26} format {}; quirks: {}\n", rival.name, rival.description,
                       "", study::rivals::rival_format_name(rival.format), rival.quirks);
  }
  return out;
}

}  // namespace

void add_policies(Command& app, Action& action) {
  Command* command = app.add_subcommand("policies", "List and describe the scheduling policies");
  auto json = std::make_shared<bool>(false);
  command->add_flag("--json", *json, "Print JSON only");
  command->footer("Examples:\n  goban policies\n  goban policies --json");
  command->callback([json, &action] {
    action = [json] {
      if (*json) return print_json();
      fmt::print("{}", wrapped(text_of_policies(), output_style().width));
      return 0;
    };
  });
}

}  // namespace goban::cli
