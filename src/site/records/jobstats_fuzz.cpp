// Arbitrary bytes as the comment of a Jobstats site, both directly and as the JSON inside it.
#include "site/records/jobstats.hpp"

#include "base/check.hpp"
#include "base/gzip.hpp"

namespace {

void check(std::string_view comment) {
  goban::site::records::Jobstats stats;
  const auto outcome = stats.parse(comment);
  if (outcome != goban::site::records::Jobstats::Outcome::Read) return;
  GOBAN_CHECK(stats.mem_bytes_max() >= -1);
  for (const auto& gpu : stats.gpus()) {
    GOBAN_CHECK(gpu.mem_used_bytes >= -1 && gpu.mem_total_bytes >= -1);
    GOBAN_CHECK(gpu.node.size() + gpu.gpu.size() <= comment.size() * 2000);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  check(text);
  check("JS1:" + goban::base::base64(goban::base::gzip(text)));
  return 0;
}
