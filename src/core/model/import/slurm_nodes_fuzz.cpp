// Any bytes are a node list or a topology of Slurm: refused with a place, or a cluster that its own
// file format holds.
#include "model/import/slurm_nodes.hpp"

#include <cstdint>

#include "base/check.hpp"
#include "model/cluster_file.hpp"
#include "model/import/host_list.hpp"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  namespace model = goban::model;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (const auto names = model::expand_host_list(text)) {
    GOBAN_CHECK(static_cast<int64_t>(names->size()) <= model::kNodesMax);
  }
  model::SiteNodes few;
  few.nodes.emplace_back().name = "g1";
  if (const auto status = model::add_slurm_topology(text, "fuzz.conf", few); !status) {
    GOBAN_CHECK(status.error().place.file == "fuzz.conf");
  }
  auto site = model::parse_slurm_nodes(text, "fuzz.txt");
  if (!site) {
    GOBAN_CHECK(!site.error().message.empty() && site.error().place.file == "fuzz.txt");
    return 0;
  }
  const auto built =
      model::build_site_cluster(std::move(*site), {.name = "fuzz", .socket_islands = true});
  if (!built) return 0;
  const auto again = model::parse_cluster(model::to_toml(built->cluster), "again.toml");
  GOBAN_CHECK(again.has_value(), again ? "" : again.error().text());
  GOBAN_CHECK(again->num_gpus() == built->cluster.num_gpus());
  return 0;
}
