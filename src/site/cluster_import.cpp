#include "site/cluster_import.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <iterator>

#include "base/text_file.hpp"
#include "core/model/cluster_file.hpp"
#include "core/model/import/alibaba_nodes.hpp"
#include "core/model/import/kubernetes_nodes.hpp"
#include "core/model/import/slurm_nodes.hpp"

namespace goban::site {
namespace {

using base::Result;
using base::Status;

constexpr size_t kFileBytesMax = size_t{1} << 30;

Result<core::model::SiteNodes> read_nodes(const NodeSources& sources) {
  core::model::SiteNodes site;
  for (const std::string& path : sources.files) {
    const auto text = base::read_text_file(path, kFileBytesMax);
    if (!text) return base::failure(text.error());
    const std::string name = base::input_name(path);
    auto more = sources.from == "slurm"          ? core::model::parse_slurm_nodes(*text, name)
                : sources.from == "alibaba-spot" ? core::model::parse_alibaba_nodes(*text, name)
                                                 : core::model::parse_kubernetes_nodes(*text, name);
    if (!more) return more;
    std::ranges::move(more->nodes, std::back_inserter(site.nodes));
    std::ranges::move(more->notes, std::back_inserter(site.notes));
  }
  for (const std::string& path : sources.topologies) {
    const auto text = base::read_text_file(path, kFileBytesMax);
    if (!text) return base::failure(text.error());
    Status status = core::model::add_slurm_topology(*text, base::input_name(path), site);
    if (!status) return base::failure(status.error());
  }
  return site;
}

std::string toml_of(const NodeSources& sources, const core::model::ImportedCluster& imported) {
  std::string out = fmt::format("# Made by goban cluster import {} {}\n", sources.from,
                                fmt::join(sources.files, " "));
  for (const std::string& note : imported.notes) out += "# Note: " + note + "\n";
  for (char& c : out) {
    if (c != '\n' && static_cast<unsigned char>(c) < 0x20) c = ' ';
  }
  return out + core::model::to_toml(imported.cluster);
}

}  // namespace

Result<ImportedClusterFile> import_cluster(const NodeSources& sources) {
  if (!sources.topologies.empty() && sources.from != "slurm") {
    return base::usage_error(
        "--topology applies to Slurm only",
        "Kubernetes has the topology in node labels: see docs/cluster-import.md");
  }
  auto site = read_nodes(sources);
  if (!site) return base::failure(site.error());
  core::model::ClusterImportOptions options = sources.options;
  options.model_types = sources.from == "alibaba-spot";
  auto imported = core::model::build_site_cluster(std::move(*site), options);
  if (!imported) return base::failure(imported.error());
  std::string toml = toml_of(sources, *imported);
  // Check that the cluster file reader accepts the result.
  if (const auto read = core::model::parse_cluster(toml, "the result"); !read) {
    return base::failure(read.error());
  }
  return ImportedClusterFile{.toml = std::move(toml),
                             .cluster = std::move(imported->cluster),
                             .notes = std::move(imported->notes)};
}

}  // namespace goban::site
