// As a node list or a topology of Slurm, any bytes are rejected with a place, or give a cluster
// that can be written as a cluster file.
#include "core/model/import/slurm_nodes.hpp"

#include <cstdint>

#include "base/check.hpp"
#include "core/model/cluster_file.hpp"
#include "core/model/import/host_list.hpp"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (const auto names = goban::core::model::expand_host_list(text)) {
    GOBAN_CHECK(static_cast<int64_t>(names->size()) <= goban::core::model::kNodesMax);
  }
  goban::core::model::SiteNodes few;
  few.nodes.emplace_back().name = "g1";
  if (const auto status = goban::core::model::add_slurm_topology(text, "fuzz.conf", few); !status) {
    GOBAN_CHECK(status.error().place.file == "fuzz.conf");
  }
  auto site = goban::core::model::parse_slurm_nodes(text, "fuzz.txt");
  if (!site) {
    GOBAN_CHECK(!site.error().message.empty() && site.error().place.file == "fuzz.txt");
    return 0;
  }
  const auto built = goban::core::model::build_site_cluster(
      std::move(*site), {.name = "fuzz", .socket_islands = true});
  if (!built) return 0;
  const auto again =
      goban::core::model::parse_cluster(goban::core::model::to_toml(built->cluster), "again.toml");
  GOBAN_CHECK(again.has_value(), again ? "" : again.error().text());
  GOBAN_CHECK(again->num_gpus() == built->cluster.num_gpus());
  return 0;
}
