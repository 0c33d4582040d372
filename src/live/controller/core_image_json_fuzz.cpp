// Reads any JSON as a core image; a valid image is identical after writing and reading.
#include "live/controller/core_image_json.hpp"

#include <cstdint>
#include <nlohmann/json.hpp>

#include "base/check.hpp"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  const auto json = nlohmann::json::parse(text, nullptr, false);
  if (json.is_discarded()) return 0;
  const auto image = goban::live::controller::parse_core_image(json);
  if (!image) return 0;
  const auto written = goban::live::controller::to_json(*image);
  // As read from a file: non-negative integers are unsigned then.
  const auto again =
      goban::live::controller::parse_core_image(nlohmann::json::parse(written.dump()));
  GOBAN_CHECK(again && goban::live::controller::to_json(*again) == written);
  return 0;
}
