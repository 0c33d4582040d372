// Reads any bytes as a job script: an error with a line, or a job with valid numbers.
#include <cstdint>

#include "base/check.hpp"
#include "live/job/submit_directives.hpp"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  auto read = goban::live::job::read_directives(text, "job.sh");
  if (!read) {
    GOBAN_CHECK(!read.error().message.empty() && read.error().place.line > 0);
    return 0;
  }
  int line = 1;
  for (const auto& each : read->unread) {
    GOBAN_CHECK(each.line >= line && !each.why.empty());
    line = each.line;
  }
  GOBAN_CHECK(read->notes.empty());
  const auto made = goban::live::job::finish(std::move(*read));
  if (!made) {
    GOBAN_CHECK(!made.error().message.empty());
    return 0;
  }
  const goban::live::job::JobSpec& spec = made->spec;
  GOBAN_CHECK(spec.num_gpus >= 0 && spec.instances >= 1 && spec.cores >= 0 && spec.mem_bytes >= 0);
  GOBAN_CHECK(spec.walltime_limit_ns >= 0 && spec.array_limit >= 0 && !spec.stdout_path.empty());
  for (size_t i = 1; i < made->array_tasks.size(); ++i) {
    GOBAN_CHECK(made->array_tasks[i - 1] < made->array_tasks[i]);
  }
  for (const auto& each : spec.dependencies) {
    const bool alone = each.kind == goban::live::job::DependencyKind::Singleton;
    GOBAN_CHECK(each.job.valid() != alone);
  }
  return 0;
}
