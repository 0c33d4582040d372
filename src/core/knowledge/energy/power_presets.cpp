#include "core/knowledge/energy/power_presets.hpp"

#include <array>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace goban::core::knowledge {
namespace {

using base::Result;

// Low-power states. No source measures them for GPU servers. Assumed: sleep is suspend to RAM, off
// leaves the management controller on standby power, waking draws idle power for its duration. A
// site should measure its own (docs/energy.md).
constexpr double kSleepEnter_s = 10;
constexpr double kSleepWake_s = 30;
constexpr double kOffEnter_s = 30;
constexpr double kOffWake_s = 300;

void add_rest_states(PowerModel& node, double sleep_w, double off_w) {
  const double idle_w = node.node_idle_w(static_cast<uint32_t>(node.num_gpus));
  node.sleep = {sleep_w, kSleepEnter_s, kSleepEnter_s * idle_w, kSleepWake_s,
                kSleepWake_s * idle_w};
  node.off = {off_w, kOffEnter_s, kOffEnter_s * idle_w, kOffWake_s, kOffWake_s * idle_w};
}

// gpu_share_base_w above idle / gpu_dynamic_w of the fitted V100 node.
constexpr double kShareBase = (73.0 - 30.0) / 201.25;
constexpr double kExponent = 0.48;

// 8 V100, 2 x Xeon Gold 6240. Our fit to EaCO's Tables 1 to 4: P = 360 + 1610 (U/100)^0.48 W per
// node, from the ten measured rows; B = 704 W per node. 8 x 30 W of the 360 W are the GPUs': the
// host has 120 W. Context and maximum: docs/energy.md, power. Caps: median of 68 configurations
// against 250 W, GPU energy only (You et al., Zeus, NSDI 2023).
PowerModel make_v100() {
  PowerModel node;
  node.name = "v100-8";
  node.host_idle_w = 120;
  node.gpu_idle_w = 30;
  node.gpu_context_w = 36;
  node.gpu_max_w = 300;
  node.gpu_dynamic_w = 1610.0 / 8;
  node.exponent = kExponent;
  node.gpu_share_base_w = (704.0 - 120.0) / 8;
  node.caps = {{200, 0.90, 1.037},
               {175, 0.845, 1.063},
               {150, 0.81, 1.11},
               {125, 0.80, 1.17},
               {100, 0.84, 1.38}};
  add_rest_states(node, 25, 12);
  return node;
}

/// A node of 8 GPUs that draws `node_max_w` when all are busy; exponent and relative base as for
/// V100.
PowerModel scaled(std::string_view name, double host_idle_w, double node_max_w, double gpu_idle_w,
                  double gpu_context_w, double gpu_max_w) {
  PowerModel node;
  node.name = name;
  node.host_idle_w = host_idle_w;
  node.gpu_idle_w = gpu_idle_w;
  node.gpu_context_w = gpu_context_w;
  node.gpu_max_w = gpu_max_w;
  node.gpu_dynamic_w = (node_max_w - host_idle_w) / 8 - gpu_idle_w;
  node.exponent = kExponent;
  node.gpu_share_base_w = gpu_idle_w + kShareBase * node.gpu_dynamic_w;
  add_rest_states(node, 50, 20);
  return node;
}

// Highest observed power / rated power of an 8 x H100 node in training: 8.4 of 10.2 kW (Latif et
// al., Single-Node Power Demand During AI Training, IEEE Access 13, 2025).
constexpr double kSeenOfRated = 8400.0 / 10200.0;

// DGX A100 data sheet: 6.5 kW, 8 A100 SXM of 400 W. GPU idle 54 W and context 80 W: measured (arXiv
// 2605.23918). Assumed: the observed share of the rated power, 500 W for the idle host.
PowerModel make_a100() { return scaled("a100-8", 500, 6500 * kSeenOfRated, 54, 80, 400); }

// DGX H100 data sheet: 10.2 kW, 8 H100 SXM of 700 W; observed maximum 8.4 kW, as above. GPU idle
// 72 W and context 122 W: measured (arXiv 2605.23918). Assumed: 800 W for the idle host.
PowerModel make_h100() { return scaled("h100-8", 800, 8400, 72, 122, 700); }

// DGX H200 data sheet: 10.2 kW, 8 H200 SXM of 700 W. GPU idle 74 to 80 W: vendor pages, low
// confidence (docs/energy.md, power). Assumed: context 50 W above idle, everything else as H100.
PowerModel make_h200() { return scaled("h200-8", 800, 8400, 77, 127, 700); }

/// A node of another GPU generation: the host of the fitted V100 node, with dynamic power and base
/// scaled by the power of a GPU above idle.
PowerModel of_generation(std::string_view name, double gpu_idle_w, double gpu_context_w,
                         double gpu_max_w) {
  const PowerModel v100 = make_v100();
  const double share = (gpu_max_w - gpu_idle_w) / (v100.gpu_max_w - v100.gpu_idle_w);
  PowerModel node;
  node.name = name;
  node.host_idle_w = v100.host_idle_w;
  node.gpu_idle_w = gpu_idle_w;
  node.gpu_context_w = gpu_context_w;
  node.gpu_max_w = gpu_max_w;
  node.gpu_dynamic_w = v100.gpu_dynamic_w * share;
  node.exponent = kExponent;
  node.gpu_share_base_w = gpu_idle_w + kShareBase * node.gpu_dynamic_w;
  add_rest_states(node, 25, 12);
  return node;
}

// P100 PCIe: 250 W (data sheet), idle 25 W (constants of the PWR plug-in of Kubernetes). Caps: the
// median of 45 configurations against 250 W, GPU energy only (trace of Zeus, NSDI 2023). Assumed:
// context 6 W above idle and the host as V100, dynamic power by the board's limit.
PowerModel make_p100() {
  PowerModel node = of_generation("p100-8", 25, 31, 250);
  node.caps = {{200, 0.986, 1.005}, {175, 0.95, 1.017}, {150, 0.927, 1.036}, {125, 0.88, 1.06}};
  return node;
}

// K80: a board of 300 W has two GPUs (BD-07317-001), so one has 150 W. Assumed: idle and context as
// P100, host as V100, dynamic power by the board's limit.
PowerModel make_k80() { return of_generation("k80-8", 25, 31, 150); }

struct Preset {
  PowerPresetInfo info;
  PowerModel (*make)() = nullptr;
};
constexpr std::array kPresets = {
    Preset{{"a100", "8 x A100 SXM: GPU idle measured; node maximum and curve scaled; host assumed"},
           make_a100},
    Preset{{"h100", "8 x H100 SXM: GPU idle and node maximum measured; curve scaled; host assumed"},
           make_h100},
    Preset{{"h200", "8 x H200 SXM: as h100, GPU idle from vendor pages"}, make_h200},
    Preset{{"k80", "8 x K80 GPUs (4 boards): limit from the data sheet; everything else assumed"},
           make_k80},
    Preset{{"p100", "8 x P100 PCIe: limit and idle from data sheets, caps measured; rest as v100"},
           make_p100},
    Preset{{"v100", "8 x V100: curve and composition fitted to EaCO's measured tables"}, make_v100},
};

std::string known_presets() {
  std::vector<std::string_view> names;
  for (const Preset& preset : kPresets) names.push_back(preset.info.name);
  return fmt::format("known: {}", fmt::join(names, ", "));
}

const Preset* find_preset(std::string_view name) {
  for (const Preset& preset : kPresets) {
    if (preset.info.name == name) return &preset;
  }
  return nullptr;
}

}  // namespace

std::vector<PowerPresetInfo> power_preset_names() {
  std::vector<PowerPresetInfo> names;
  for (const Preset& preset : kPresets) names.push_back(preset.info);
  return names;
}

Result<PowerCatalog> make_power_preset(std::string_view name) {
  const Preset* preset = find_preset(name);
  if (preset == nullptr) {
    return base::usage_error(fmt::format("unknown power model '{}'", name), known_presets());
  }
  return PowerCatalog{{preset->make()}};
}

namespace {

/// "v100,p100": each preset is for the GPU models whose names begin with its own.
Result<PowerCatalog> presets_by_model(std::string_view list) {
  PowerCatalog catalog;
  while (true) {
    const size_t end = list.find(',');
    const std::string_view name = list.substr(0, end);
    auto preset = make_power_preset(name);
    if (!preset) return preset;
    PowerModel& model = preset->models.front();
    for (const char c : name) {
      model.gpu_model += c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
    }
    for (const PowerModel& other : catalog.models) {
      if (other.gpu_model == model.gpu_model) {
        return base::usage_error(fmt::format("power model {} is listed twice", name),
                                 "list each once");
      }
    }
    catalog.models.push_back(std::move(model));
    if (end == std::string_view::npos) return catalog;
    list.remove_prefix(end + 1);
  }
}

}  // namespace

Result<PowerCatalog> make_power_presets(std::string_view names) {
  return names.find(',') == std::string_view::npos ? make_power_preset(names)
                                                   : presets_by_model(names);
}

}  // namespace goban::core::knowledge
