// Any bytes are rejected with a place, or give a cluster that can be written as a cluster file.
#include "core/model/import/alibaba_nodes.hpp"

#include <cstdint>

#include "base/check.hpp"
#include "core/model/cluster_file.hpp"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  auto site = goban::core::model::parse_alibaba_nodes(text, "fuzz.csv");
  if (!site) {
    GOBAN_CHECK(!site.error().message.empty() && site.error().place.file == "fuzz.csv");
    return 0;
  }
  const auto built =
      goban::core::model::build_site_cluster(std::move(*site), {.model_types = true});
  if (!built) return 0;
  const auto again =
      goban::core::model::parse_cluster(goban::core::model::to_toml(built->cluster), "again.toml");
  GOBAN_CHECK(again.has_value(), again ? "" : again.error().text());
  GOBAN_CHECK(again->num_gpus() == built->cluster.num_gpus());
  return 0;
}
