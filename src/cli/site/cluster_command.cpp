// goban cluster: presets, and checking, printing and importing cluster descriptions.
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/counted.hpp"
#include "base/output_file.hpp"
#include "cli/shell/text_table.hpp"
#include "cli/site/commands.hpp"
#include "core/model/cluster_file.hpp"
#include "core/model/cluster_presets.hpp"
#include "site/cluster_import.hpp"
#include "site/inputs/inputs.hpp"

namespace goban::cli {
namespace {

using nlohmann::json;

int list_presets(bool as_json) {
  if (as_json) {
    json list = json::array();
    for (const core::model::PresetInfo& preset : core::model::preset_names()) {
      list.push_back({{"name", preset.name}, {"description", preset.description}});
    }
    fmt::print("{}\n", list.dump(2));
    return 0;
  }
  std::string text;
  for (const core::model::PresetInfo& preset : core::model::preset_names()) {
    text += fmt::format("{:13} {}\n", preset.name, preset.description);
  }
  text += fmt::format("{:13} {}\n", "NxM",
                      "N nodes with M GPUs each, no racks; 8x8:V100+8x8:P100 gives GPU models");
  fmt::print("{}", wrapped(text, output_style().width));
  return 0;
}

json cluster_json(const core::model::Cluster& cluster) {
  json levels = json::array();
  for (const core::model::TopologyLevel& level : cluster.levels()) {
    json each = {{"name", level.name}, {"domains", level.num_domains()}};
    if (level.bandwidth_bytes_per_s > 0) {
      each["bandwidth_bytes_per_s"] = level.bandwidth_bytes_per_s;
    }
    if (level.latency_s > 0) each["latency_s"] = level.latency_s;
    if (level.locality_penalty) each["locality_penalty"] = *level.locality_penalty;
    levels.push_back(std::move(each));
  }
  json types = json::array();
  for (const core::model::ResourceType& type : cluster.resource_types()) {
    types.push_back({{"name", type.name},
                     {"gpus", type.gpus},
                     {"cores", type.host.cores},
                     {"mem_bytes", type.host.mem_bytes},
                     {"ssd_bytes", type.host.ssd_bytes},
                     {"max_instances", type.max_instances},
                     {"walltime_max_s", base::to_seconds(type.walltime_max_ns)}});
  }
  return {{"name", cluster.name()},
          {"nodes", cluster.nodes().size()},
          {"gpus", cluster.num_gpus()},
          {"levels", std::move(levels)},
          {"resource_types", std::move(types)}};
}

int show(const std::string& spec, bool as_json) {
  const auto cluster = site::inputs::resolve_cluster(spec);
  if (!cluster) return report_error(cluster.error());
  if (as_json) {
    fmt::print("{}\n", cluster_json(*cluster).dump(2));
    return 0;
  }
  fmt::print("{}: {}, {}\n\nlevel      domains  bandwidth    latency  penalty\n", cluster->name(),
             base::counted(cluster->nodes().size(), "node"),
             base::counted(cluster->num_gpus(), "GPU"));
  for (const core::model::TopologyLevel& level : cluster->levels()) {
    fmt::print("{:9} {:8}  {:>9}  {:>9}  {:>7}\n", level.name, level.num_domains(),
               level.bandwidth_bytes_per_s > 0
                   ? fmt::format("{:.1f} GB/s", level.bandwidth_bytes_per_s / 1e9)
                   : "-",
               level.latency_s > 0 ? fmt::format("{:.2g} us", level.latency_s * 1e6) : "-",
               level.locality_penalty ? fmt::format("{}", *level.locality_penalty) : "-");
  }
  if (cluster->resource_types().empty()) return 0;
  fmt::print("\ntype       GPUs  cores     memory        SSD  instances  walltime\n");
  for (const core::model::ResourceType& type : cluster->resource_types()) {
    fmt::print("{:9} {:5}  {:5}  {:5} GiB  {:5} GiB  {:9}  {:6} h\n", type.name, type.gpus,
               type.host.cores, type.host.mem_bytes >> 30, type.host.ssd_bytes >> 30,
               type.max_instances, base::to_seconds(type.walltime_max_ns) / 3600);
  }
  return 0;
}

int print_toml(const std::string& spec) {
  const auto cluster = site::inputs::resolve_cluster(spec);
  if (!cluster) return report_error(cluster.error());
  fmt::print("{}", core::model::to_toml(*cluster));
  return 0;
}

struct ImportArguments {
  site::NodeSources sources;
  std::string alibaba_nodes;
  std::string out = "-";
};

int import_cluster(ImportArguments arguments) {
  site::NodeSources& sources = arguments.sources;
  const bool alibaba = !arguments.alibaba_nodes.empty();
  if (alibaba ? !sources.from.empty() : sources.files.empty()) {
    return report_error(base::usage_error(alibaba
                                              ? "--alibaba-spot-nodes takes the place of FROM FILE"
                                              : "FROM and FILE are missing",
                                          "see goban cluster import --help")
                            .value());
  }
  if (alibaba) {
    sources.from = "alibaba-spot";
    sources.files = {arguments.alibaba_nodes};
  }
  const auto imported = site::import_cluster(sources);
  if (!imported) return report_error(imported.error());
  for (const std::string& note : imported->notes) fmt::print(stderr, "goban: note: {}\n", note);
  if (arguments.out == "-") {
    fmt::print("{}", imported->toml);
    return 0;
  }
  if (const auto written = base::write_file(arguments.out, imported->toml); !written) {
    return report_error(written.error());
  }
  fmt::print("{}: {}, {}\n", arguments.out, base::counted(imported->cluster.nodes().size(), "node"),
             base::counted(imported->cluster.num_gpus(), "GPU"));
  return 0;
}

void add_cluster_import(Command& cluster, Action& action) {
  auto arguments = std::make_shared<ImportArguments>();
  Command* c = cluster.add_subcommand(
      "import", "Import a cluster file from Slurm, Kubernetes or Alibaba's trace");
  c->add_option("FROM", arguments->sources.from, "Source: slurm or kubernetes")
      ->one_of({"slurm", "kubernetes"});
  c->add_option("FILE", arguments->sources.files,
                "Output of scontrol show node [--json], sinfo --json, or kubectl get nodes -o "
                "json; - for standard input");
  c->add_option(
       "--alibaba-spot-nodes", arguments->alibaba_nodes,
       "Instead: the table node_info_df.csv of Alibaba's trace of spot GPUs; adds resource "
       "types MODELxN, which the format alibaba-spot requests")
      ->type_name("FILE");
  c->add_option("--topology", arguments->sources.topologies,
                "Output of scontrol show topology, or topology.conf; defines racks and zones");
  c->add_option("--name", arguments->sources.options.name, "Name of the cluster")
      ->capture_default_str();
  c->add_flag("--only-usable", arguments->sources.options.only_usable,
              "Exclude nodes that are down, drained or cordoned");
  c->add_flag("--socket-islands", arguments->sources.options.socket_islands,
              "Treat the GPUs of each socket, Gres=...(S:0-1), as an island");
  c->add_option("--out", arguments->out, "Output file (TOML); - for standard output")
      ->type_name("FILE")
      ->capture_default_str();
  c->footer(
      "Examples:\n"
      "  scontrol show node | goban cluster import slurm - --out mine.toml\n"
      "  goban cluster import slurm nodes.json --topology /etc/slurm/topology.conf\n"
      "  kubectl get nodes -o json | goban cluster import kubernetes - --only-usable\n"
      "  goban cluster import --alibaba-spot-nodes node_info_df.csv --out alibaba.toml");
  c->callback(
      [arguments, &action] { action = [arguments] { return import_cluster(*arguments); }; });
}

}  // namespace

void add_cluster(Command& app, Action& action) {
  Command* command = app.add_subcommand("cluster", "List, check and import cluster descriptions");
  command->require_subcommand(1);
  command->footer(
      "Examples:\n  goban cluster list\n  goban cluster show abci\n"
      "  goban cluster toml abci > mine.toml   # a template for your own\n"
      "  goban cluster show mine.toml          # checks the file\n"
      "  scontrol show node | goban cluster import slurm - > mine.toml");
  add_cluster_import(*command, action);
  Command* list = command->add_subcommand("list", "List the cluster presets");
  auto as_json = std::make_shared<bool>(false);
  list->add_flag("--json", *as_json, "Print JSON only");
  list->callback([as_json, &action] { action = [as_json] { return list_presets(*as_json); }; });
  auto spec = std::make_shared<std::string>();
  Command* show_command =
      command->add_subcommand("show", "Check and summarise a cluster description");
  show_command->add_option("CLUSTER", *spec, "TOML file, preset or NxM")->required();
  show_command->add_flag("--json", *as_json, "Print JSON only");
  show_command->callback([=, &action] { action = [=] { return show(*spec, *as_json); }; });
  Command* toml = command->add_subcommand("toml", "Print a cluster description as TOML");
  toml->add_option("CLUSTER", *spec, "TOML file, preset or NxM")->required();
  toml->callback([spec, &action] { action = [spec] { return print_toml(*spec); }; });
}

}  // namespace goban::cli
