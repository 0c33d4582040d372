// Fuzz target: bodies of submissions, request targets and token files from outside.
#include "service/submission.hpp"

#include <cstdint>
#include <string_view>

#include "base/check.hpp"
#include "service/http_uri.hpp"
#include "service/token_file.hpp"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace goban;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (const auto wish = service::parse_submission(text)) {
    GOBAN_CHECK(!wish->jobs.empty());
    GOBAN_CHECK(service::check_json(wish->payload).has_value());
    for (const live::JobSpec& job : wish->jobs) {
      GOBAN_CHECK(job.owner == live::Owner{} && job.payload.empty());
      GOBAN_CHECK(service::is_plain_text(job.name) && service::is_plain_text(job.stdout_path));
    }
  }
  if (const auto target = service::parse_target(text)) {
    for (const auto& [name, value] : target->query) {
      GOBAN_CHECK(service::is_plain_text(name) && service::is_plain_text(value));
    }
    if (const auto segments = service::path_segments(target->path)) {
      for (const auto& each : *segments)
        GOBAN_CHECK(each != ".." && each.find('/') == std::string::npos);
    }
  }
  (void)service::parse_tokens(text, "tokens");
  return 0;
}
