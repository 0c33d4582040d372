// Fuzz target: bodies of submissions, request targets and token files as untrusted input.
#include "serve/api/submission.hpp"

#include <cstdint>
#include <string_view>

#include "base/check.hpp"
#include "base/http/http_uri.hpp"
#include "serve/api/token_file.hpp"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace goban;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (const auto request = goban::serve::api::parse_submit_request(text)) {
    GOBAN_CHECK(!request->jobs.empty());
    GOBAN_CHECK(goban::serve::api::check_json(request->payload).has_value());
    for (const goban::live::job::JobSpec& job : request->jobs) {
      GOBAN_CHECK(job.owner == goban::live::job::Owner{} && job.payload.empty());
      GOBAN_CHECK(goban::base::http::is_plain_text(job.name) &&
                  goban::base::http::is_plain_text(job.stdout_path));
    }
  }
  if (const auto target = goban::base::http::parse_target(text)) {
    for (const auto& [name, value] : target->query) {
      GOBAN_CHECK(goban::base::http::is_plain_text(name) &&
                  goban::base::http::is_plain_text(value));
    }
    if (const auto segments = goban::base::http::path_segments(target->path)) {
      for (const auto& each : *segments)
        GOBAN_CHECK(each != ".." && each.find('/') == std::string::npos);
    }
  }
  (void)goban::serve::api::parse_tokens(text, "tokens");
  return 0;
}
