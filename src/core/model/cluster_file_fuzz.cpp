// Any bytes are rejected with a place, or give a cluster that can be written and read back.
#include "core/model/cluster_file.hpp"

#include <cstdint>

#include "base/check.hpp"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto cluster = goban::core::model::parse_cluster(text, "fuzz.toml");
  if (!cluster) {
    GOBAN_CHECK(!cluster.error().message.empty() && cluster.error().place.file == "fuzz.toml");
    return 0;
  }
  const std::string written = goban::core::model::to_toml(*cluster);
  const auto again = goban::core::model::parse_cluster(written, "again.toml");
  GOBAN_CHECK(again.has_value(), again ? "" : again.error().text());
  GOBAN_CHECK(again->num_gpus() == cluster->num_gpus());
  GOBAN_CHECK(again->levels().size() == cluster->levels().size());
  for (size_t i = 0; i < cluster->levels().size(); ++i) {
    GOBAN_CHECK(again->levels()[i].first_gpu == cluster->levels()[i].first_gpu);
  }
  GOBAN_CHECK(goban::core::model::to_toml(*again) == written);
  return 0;
}
