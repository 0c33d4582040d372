#include "core/model/cluster_presets.hpp"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <optional>
#include <span>

#include "base/check.hpp"
#include "base/number.hpp"
#include "base/time.hpp"
#include "base/units.hpp"
#include "core/model/cluster_file.hpp"
#include "core/model/import/gpu_specs.hpp"

namespace goban::core::model {
namespace {

using base::kGib;

using base::Result;
using base::usage_error;

constexpr double kGigabit = 1e9 / 8;  // bytes/s

// Bandwidths are per direction: per GPU up to level `node`, per node above it. Latencies are round
// values of the technology (NVLink, one switch hop, three or five hops); the sources of the presets
// do not state them.
constexpr double kLatencyNvlink_s = 1e-6;
constexpr double kLatencyRack_s = 2e-6;
constexpr double kLatencySpine_s = 4e-6;

LinkSpec link(double bandwidth_bytes_per_s, double latency_s) {
  return {bandwidth_bytes_per_s, latency_s, std::nullopt};
}

std::string node_name(std::string_view prefix, int number) {
  return fmt::format("{}{:04}", prefix, number);
}

/// Identical nodes: part of a cluster without racks.
struct NodeGroup {
  int64_t nodes = 0;
  int64_t gpus = 0;
  std::string_view gpu_model = "gpu";
};

// A GPU model without a variant denotes the smallest server variant, so that a job is never assumed
// to fit where it may not. Source: NVIDIA's data sheets; a K80 board has two GPUs.
constexpr std::array kBareModels = {
    GpuSpec{"K80", 12 * kGib, 150},  GpuSpec{"P100", 16 * kGib, 250},
    GpuSpec{"V100", 16 * kGib, 300}, GpuSpec{"A100", 40 * kGib, 400},
    GpuSpec{"H100", 80 * kGib, 700}, GpuSpec{"H200", 141'000'000'000, 700},
};

GpuModel gpu_model(std::string_view name) {
  GpuModel model{.name = std::string(name)};
  const auto* const bare = std::ranges::find(kBareModels, name, &GpuSpec::key);
  const GpuSpec* const spec = bare != kBareModels.end() ? bare : find_gpu_spec(name);
  if (spec == nullptr) return model;
  model.mem_bytes = spec->mem_bytes;
  model.power_max_w = spec->power_max_w;
  return model;
}

Result<Cluster> flat(std::string name, std::span<const NodeGroup> groups) {
  ClusterBuilder builder(std::move(name));
  int number = 0;
  std::vector<std::string_view> models;  // by index of the GPU model
  for (const NodeGroup& group : groups) {
    const auto known = std::ranges::find(models, group.gpu_model);
    auto gpu = static_cast<uint32_t>(known - models.begin());
    if (known == models.end()) {
      gpu = builder.add_gpu_model(gpu_model(group.gpu_model));
      models.push_back(group.gpu_model);
    }
    for (int64_t i = 0; i < group.nodes; ++i) {
      ClusterBuilder::Placed placed;
      placed.node.name = node_name("node", number++);
      placed.node.num_gpus = static_cast<uint32_t>(group.gpus);
      placed.node.gpu_model = gpu;
      builder.add_node(std::move(placed));
    }
  }
  return builder.build();
}

Result<Cluster> make_sia64() { return flat("sia-64", std::array{NodeGroup{16, 4}}); }

// Takizawa et al., section 1 and Table 1. Two EDR ports per node; 34 nodes per rack with full
// bisection bandwidth, a third of it between racks.
Result<Cluster> make_abci() {
  ClusterBuilder builder("abci");
  const uint32_t v100 = builder.add_gpu_model(
      {.name = "V100-SXM2-16GB", .mem_bytes = 16 * kGib, .power_max_w = 300, .power_idle_w = 30});
  constexpr int kNodes = 1088;
  constexpr int kNodesPerRack = 34;
  for (int i = 0; i < kNodes; ++i) {
    ClusterBuilder::Placed placed;
    placed.node.name = node_name("g", i + 1);
    placed.node.num_gpus = 4;
    placed.node.gpu_model = v100;
    placed.node.host = {.cores = 40, .mem_bytes = 384 * kGib, .ssd_bytes = 1'600'000'000'000};
    placed.rack = fmt::format("rack{:02}", i / kNodesPerRack + 1);
    builder.add_node(std::move(placed));
  }
  const auto sell = [&builder](const char* name, int gpus, int cores, int mem_gib, int ssd_gib,
                               int instances_max, int walltime_max_h) {
    builder.add_resource_type(
        {.name = name,
         .gpus = gpus,
         .host = {.cores = cores, .mem_bytes = mem_gib * kGib, .ssd_bytes = ssd_gib * kGib},
         .max_instances = instances_max,
         .walltime_max_ns = walltime_max_h * base::kHour,
         .walltime_default_ns = base::kHour});
  };
  sell("Full", 4, 40, 360, 1440, 512, 72);
  sell("G.large", 4, 20, 240, 720, 1, 72);
  sell("G.small", 1, 5, 60, 180, 1, 168);
  sell("C.large", 0, 20, 120, 720, 1, 72);
  sell("C.small", 0, 5, 30, 180, 1, 168);

  constexpr double kNode = 2 * 100 * kGigabit;
  builder.set_link("node", link(150e9, kLatencyNvlink_s));
  builder.set_link("rack", link(kNode, kLatencyRack_s));
  builder.set_link("cluster", link(kNode / 3, kLatencySpine_s));
  return builder.build();
}

// Kitano (NEC): 116 servers of 8 A100 SXM4, NVSwitch 600 GB/s (sum of both directions), 4 PCIe
// switches (the islands: a pair of GPUs shares one), 200 GbE. The talk does not state the number of
// NICs: we assume one per PCIe switch, and a fabric without over-subscription. Host sizes are not
// published.
Result<Cluster> make_nec928() {
  ClusterBuilder builder("nec-928");
  const uint32_t a100 = builder.add_gpu_model(
      {.name = "A100-SXM4-80GB", .mem_bytes = 80 * kGib, .power_max_w = 400, .power_idle_w = 50});
  for (int i = 0; i < 116; ++i) {
    ClusterBuilder::Placed placed;
    placed.node.name = node_name("node", i);
    placed.node.num_gpus = 8;
    placed.node.gpu_model = a100;
    placed.islands = 4;
    builder.add_node(std::move(placed));
  }
  constexpr double kNvswitch = 600e9 / 2;
  builder.set_link("island", link(kNvswitch, kLatencyNvlink_s));
  builder.set_link("node", link(kNvswitch, kLatencyNvlink_s));
  builder.set_link("cluster", link(4 * 200 * kGigabit, kLatencySpine_s));
  return builder.build();
}

// NVIDIA, DGX SuperPOD reference architecture RA-09950-001 (2020): 140 systems in 7 scalable units
// of 20 (here: zones); per system 8 A100, 128 cores, 1 TB, 15 TB NVMe and eight 200 Gb/s HDR ports;
// full fat tree. Four systems per rack.
Result<Cluster> make_dgx_a100() {
  ClusterBuilder builder("dgx-a100");
  const uint32_t a100 = builder.add_gpu_model(
      {.name = "A100-SXM4-40GB", .mem_bytes = 40 * kGib, .power_max_w = 400, .power_idle_w = 50});
  for (int i = 0; i < 140; ++i) {
    ClusterBuilder::Placed placed;
    placed.node.name = node_name("node", i);
    placed.node.num_gpus = 8;
    placed.node.gpu_model = a100;
    placed.node.host = {
        .cores = 128, .mem_bytes = 1'000'000'000'000, .ssd_bytes = 15'000'000'000'000};
    placed.rack = fmt::format("rack{:02}", i / 4);
    placed.zone = fmt::format("su{}", i / 20 + 1);
    builder.add_node(std::move(placed));
  }
  constexpr double kNode = 8 * 200 * kGigabit;
  builder.set_link("node", link(300e9, kLatencyNvlink_s));
  builder.set_link("rack", link(kNode, kLatencyRack_s));
  builder.set_link("zone", link(kNode, kLatencyRack_s));
  builder.set_link("cluster", link(kNode, kLatencySpine_s));
  return builder.build();
}

struct Preset {
  PresetInfo info;
  Result<Cluster> (*make)() = nullptr;
};

constexpr std::array kPresets = {
    Preset{{"abci", "1088 nodes x 4 V100 16 GB in 32 racks, five resource types (ABCI, 2019)"},
           make_abci},
    Preset{{"dgx-a100", "140 nodes x 8 A100 40 GB, 4 per rack, 7 scalable units (DGX SuperPOD)"},
           make_dgx_a100},
    Preset{{"nec-928", "116 nodes x 8 A100 80 GB, NVSwitch, 4 PCIe switches per node (NEC)"},
           make_nec928},
    Preset{{"sia-64", "16 nodes x 4 GPUs without racks (the set-up of Sia and PAL)"}, make_sia64},
};

/// "NxM" or "NxM:MODEL"; nullopt if the text has another form.
std::optional<NodeGroup> parse_group(std::string_view text) {
  NodeGroup group;
  if (const size_t colon = text.find(':'); colon != std::string_view::npos) {
    group.gpu_model = text.substr(colon + 1);
    text = text.substr(0, colon);
    const auto in_names = [](char c) {
      return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
             c == '-' || c == '_' || c == '.';
    };
    if (group.gpu_model.empty() || !std::ranges::all_of(group.gpu_model, in_names)) return {};
  }
  const size_t cross = text.find('x');
  if (cross == std::string_view::npos) return {};
  const auto nodes = base::parse_int(text.substr(0, cross));
  const auto gpus = base::parse_int(text.substr(cross + 1));
  if (!nodes || !gpus) return {};
  group.nodes = *nodes;
  group.gpus = *gpus;
  return group;
}

/// Groups joined by '+'; empty if the text has another form.
std::vector<NodeGroup> parse_groups(std::string_view text) {
  std::vector<NodeGroup> groups;
  while (true) {
    const size_t end = text.find('+');
    const auto group = parse_group(text.substr(0, end));
    if (!group) return {};
    groups.push_back(*group);
    if (end == std::string_view::npos) return groups;
    text.remove_prefix(end + 1);
  }
}

bool in_range(std::span<const NodeGroup> groups) {
  int64_t nodes = 0;
  int64_t gpus = 0;
  for (const NodeGroup& group : groups) {
    if (group.nodes < 1 || group.nodes > kNodesMax || group.gpus < 1 || group.gpus > kNodeGpusMax) {
      return false;
    }
    nodes += group.nodes;
    gpus += group.nodes * group.gpus;
    if (nodes > kNodesMax || gpus > kGpusMax) return false;
  }
  return true;
}

}  // namespace

std::vector<PresetInfo> preset_names() {
  std::vector<PresetInfo> names;
  for (const Preset& preset : kPresets) names.push_back(preset.info);
  return names;
}

Result<Cluster> make_preset(std::string_view name) {
  for (const Preset& preset : kPresets) {
    if (name != preset.info.name) continue;
    auto cluster = preset.make();
    GOBAN_CHECK(cluster.has_value(), std::string(name));
    return cluster;
  }
  if (const auto groups = parse_groups(name); !groups.empty()) {
    if (!in_range(groups)) {
      return usage_error(fmt::format("cluster {} is out of range", name),
                         fmt::format("1 to {} nodes, 1 to 255 GPUs per node, {} GPUs in total",
                                     kNodesMax, 1 << 24));
    }
    return flat(std::string(name), groups);
  }
  std::string known;
  for (const Preset& preset : kPresets) known += fmt::format("{}, ", preset.info.name);
  return usage_error(
      fmt::format("no cluster preset is named {}", name),
      fmt::format("known: {}NxM such as 16x4 or 8x8:V100+8x8:P100, or a .toml file", known));
}

}  // namespace goban::core::model
