// goban policies: lists and describes presets and parts.
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/study/commands.hpp"
#include "core/policy/compose.hpp"

namespace goban::cli {
namespace {

const char* preemption_name(core::policy::Preemption preemption) {
  switch (preemption) {
    case core::policy::Preemption::None:
      return "non-preemptive";
    case core::policy::Preemption::Sticky:
      return "sticky";
    case core::policy::Preemption::NonSticky:
      return "non-sticky";
    case core::policy::Preemption::ByPriority:
      return "by-priority";
  }
  return "";
}

std::string parts_of(const core::policy::Composition& c) {
  std::string parts =
      fmt::format("{}+{}+{}+{}", c.order, c.select, c.placement, preemption_name(c.preemption));
  if (c.sharing != "exclusive") parts += "+" + c.sharing;
  if (c.power != "on") parts += "+" + c.power;
  if (c.migration != "stay") parts += "+" + c.migration;
  return parts;
}

int print_json() {
  nlohmann::ordered_json document{{"presets", nlohmann::json::array()},
                                  {"parts", nlohmann::json::array()}};
  for (const core::policy::Preset& preset : core::policy::presets()) {
    const core::policy::Composition& c = preset.composition;
    document["presets"].push_back({{"name", c.name},
                                   {"description", preset.description},
                                   {"parts", parts_of(c)},
                                   {"locality_penalty", c.settings.locality_penalty},
                                   {"restart_cost_s", c.settings.restart_cost_s},
                                   {"round_s", c.settings.round_s}});
  }
  for (const core::policy::Part& part : core::policy::parts()) {
    document["parts"].push_back(
        {{"kind", part.kind}, {"name", part.name}, {"description", part.description}});
  }
  fmt::print("{}\n", document.dump(2));
  return 0;
}

int print_text() {
  fmt::print(
      "A policy is a preset, or parts joined by '+', at most one of a kind. What is left\n"
      "out: fifo, prefix, packed, exclusive, on; las and srtf are sticky, others are\n"
      "non-preemptive. Example: easy-backfill+pal, las+pal, srtf+skip+spread.\n\nPresets\n");
  for (const core::policy::Preset& preset : core::policy::presets()) {
    const core::policy::Composition& c = preset.composition;
    fmt::print("  {:26} {}\n  {:26} = {}, L {}, restart {} s{}\n", c.name, preset.description, "",
               parts_of(c), c.settings.locality_penalty, c.settings.restart_cost_s,
               c.settings.round_s > 0 ? fmt::format(", rounds of {} s", c.settings.round_s) : "");
  }
  std::string_view kind;
  for (const core::policy::Part& part : core::policy::parts()) {
    if (part.kind != kind) fmt::print("\n{}\n", part.kind);
    kind = part.kind;
    fmt::print("  {:26} {}\n", part.name, part.description);
  }
  return 0;
}

}  // namespace

void add_policies(Command& app, Action& action) {
  Command* command = app.add_subcommand("policies", "List and describe the scheduling policies");
  auto json = std::make_shared<bool>(false);
  command->add_flag("--json", *json, "Print JSON");
  command->callback(
      [json, &action] { action = [json] { return *json ? print_json() : print_text(); }; });
}

}  // namespace goban::cli
