// Any bytes are accepted as measured speeds: either rejected, or rows with valid numbers, from
// which the levels of a cluster are made in ascending order.
#include "study/history/rates.hpp"

#include <cstdint>

#include "base/check.hpp"
#include "core/model/cluster_presets.hpp"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using goban::core::model::ModelId;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto rows = goban::study::history::parse_rates(text, "fuzz.csv");
  if (!rows) {
    GOBAN_CHECK(!rows.error().message.empty());
    return 0;
  }
  static const auto cluster = goban::core::model::make_preset("2x8:V100").value();
  for (const bool interpolate : {false, true}) {
    const auto speeds = goban::study::history::make_speeds(
        *rows, "fuzz.csv", cluster, [](const std::string&) { return ModelId(0u); }, interpolate);
    if (!speeds) continue;
    for (const auto& row : *rows) {
      GOBAN_CHECK(row.gpus > 0 && row.steps_per_s >= 0 && row.batch_size >= 0);
      int32_t last = 0;
      for (const auto& level : speeds->levels(ModelId(0u), row.batch_size, 0)) {
        GOBAN_CHECK(level.gpus > last && level.gpus <= 16 && level.steps_per_s > 0);
        GOBAN_CHECK(interpolate || !level.interpolated);
        last = level.gpus;
      }
    }
  }
  return 0;
}
