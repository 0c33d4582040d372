#include "cli/site/cluster_import.hpp"

#include <algorithm>
#include <cstdio>
#include <fmt/format.h>
#include <iterator>

#include "base/output_file.hpp"
#include "base/text_file.hpp"
#include "core/model/cluster_file.hpp"
#include "core/model/import/kubernetes_nodes.hpp"
#include "core/model/import/slurm_nodes.hpp"

namespace goban::cli {
namespace {

using base::Result;
using base::Status;

constexpr size_t kFileBytesMax = size_t{1} << 30;

struct ImportArguments {
  std::string from;
  std::vector<std::string> files;
  std::vector<std::string> topologies;
  core::model::ImportOptions options;
  std::string out = "-";
};

Result<core::model::SiteNodes> read_nodes(const ImportArguments& arguments) {
  core::model::SiteNodes site;
  for (const std::string& path : arguments.files) {
    const auto text = base::read_text_file(path, kFileBytesMax);
    if (!text) return base::failure(text.error());
    const std::string name = base::input_name(path);
    auto more = arguments.from == "slurm" ? core::model::parse_slurm_nodes(*text, name)
                                          : core::model::parse_kubernetes_nodes(*text, name);
    if (!more) return more;
    std::ranges::move(more->nodes, std::back_inserter(site.nodes));
    std::ranges::move(more->notes, std::back_inserter(site.notes));
  }
  for (const std::string& path : arguments.topologies) {
    const auto text = base::read_text_file(path, kFileBytesMax);
    if (!text) return base::failure(text.error());
    Status status = core::model::add_slurm_topology(*text, base::input_name(path), site);
    if (!status) return base::failure(status.error());
  }
  return site;
}

std::string toml_of(const ImportArguments& arguments,
                    const core::model::ImportedCluster& imported) {
  std::string out = fmt::format("# Made by goban cluster import {} {}\n", arguments.from,
                                fmt::join(arguments.files, " "));
  for (const std::string& note : imported.notes) out += "# Note: " + note + "\n";
  for (char& c : out) {
    if (c != '\n' && static_cast<unsigned char>(c) < 0x20) c = ' ';
  }
  return out + core::model::to_toml(imported.cluster);
}

int import_cluster(const ImportArguments& arguments) {
  if (!arguments.topologies.empty() && arguments.from != "slurm") {
    return report_error(
        base::usage_error("--topology is a file of Slurm",
                          "Kubernetes says it in labels: see docs/cluster-import.md")
            .value());
  }
  auto site = read_nodes(arguments);
  if (!site) return report_error(site.error());
  const auto imported = core::model::build_site_cluster(std::move(*site), arguments.options);
  if (!imported) return report_error(imported.error());
  const std::string toml = toml_of(arguments, *imported);
  // The reader of cluster files has the last word on what is written.
  if (const auto read = core::model::parse_cluster(toml, "the result"); !read) {
    return report_error(read.error());
  }
  for (const std::string& note : imported->notes) fmt::print(stderr, "goban: note: {}\n", note);
  if (arguments.out == "-") {
    fmt::print("{}", toml);
    return 0;
  }
  auto file = base::OutputFile::create(arguments.out);
  if (!file) return report_error(file.error());
  file->buffer() = toml;
  if (const Status written = file->commit(); !written) return report_error(written.error());
  fmt::print("{}: {} nodes, {} GPUs\n", arguments.out, imported->cluster.nodes().size(),
             imported->cluster.num_gpus());
  return 0;
}

}  // namespace

void add_cluster_import(Command& cluster, Action& action) {
  auto arguments = std::make_shared<ImportArguments>();
  Command* c = cluster.add_subcommand("import", "Make a cluster file from Slurm or Kubernetes");
  c->add_option("FROM", arguments->from, "slurm or kubernetes")
      ->required()
      ->one_of({"slurm", "kubernetes"});
  c->add_option(
       "FILE", arguments->files,
       "Output of scontrol show node [--json], sinfo --json, or kubectl get nodes -o json; "
       "- reads stdin")
      ->required();
  c->add_option("--topology", arguments->topologies,
                "Output of scontrol show topology, or topology.conf: gives racks and zones");
  c->add_option("--name", arguments->options.name, "Name of the cluster")->capture_default_str();
  c->add_flag("--only-usable", arguments->options.only_usable,
              "Leave out nodes that are down, drained or cordoned");
  c->add_flag("--socket-islands", arguments->options.socket_islands,
              "The GPUs of each socket, Gres=...(S:0-1), are an island");
  c->add_option("--out", arguments->out, "Where to write the TOML file")->capture_default_str();
  c->footer(
      "Examples:\n"
      "  scontrol show node | goban cluster import slurm - --out mine.toml\n"
      "  goban cluster import slurm nodes.json --topology /etc/slurm/topology.conf\n"
      "  kubectl get nodes -o json | goban cluster import kubernetes - --only-usable");
  c->callback(
      [arguments, &action] { action = [arguments] { return import_cluster(*arguments); }; });
}

}  // namespace goban::cli
