// Any comment of a job is refused with a reason, or names paths that stay where they are.
#include <cstdint>

#include "base/check.hpp"
#include "live/job/stage_paths.hpp"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace goban::live::job;
  JobSpec spec;
  const std::string wrong = read_stage_words({reinterpret_cast<const char*>(data), size}, spec);
  if (!wrong.empty()) {
    GOBAN_CHECK(spec == JobSpec{});
    return 0;
  }
  for (const std::string& path : spec.stage_in) {
    GOBAN_CHECK(path.starts_with('/') && stage_path_problem(path).empty());
  }
  for (const StageOut& out : spec.stage_out) {
    GOBAN_CHECK(out.to.starts_with('/') && stage_path_problem(out.to).empty());
    GOBAN_CHECK(stage_path_problem(out.from).empty());
  }
  return 0;
}
