// Parses arbitrary bytes as a job profile; what is accepted must read back as written.
#include "base/reports/job_profile.hpp"

#include <cstdint>

#include "base/check.hpp"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto profile = goban::base::reports::parse_job_profile(text, "fuzz.json");
  if (!profile) {
    GOBAN_CHECK(!profile.error().text().empty());
    return 0;
  }
  const std::string written = goban::base::reports::to_json(*profile);
  const auto again = goban::base::reports::parse_job_profile(written, "again.json");
  GOBAN_CHECK(again.has_value(), written);
  GOBAN_CHECK(goban::base::reports::to_json(*again) == written, written);
  return 0;
}
