// Any bytes are accepted as a list of deadlines: either rejected with the history unchanged, or
// valid deadlines of its jobs.
#include "study/history/deadlines.hpp"

#include <cstdint>

#include "base/check.hpp"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  goban::core::model::JobHistory history;
  for (const char* name : {"a", "b", "1"}) {
    history.jobs.push_back({.request = {}, .work_s = 10});
    history.job_names.add(name);
  }
  const auto counts = goban::study::history::parse_deadlines(text, "fuzz.csv", history);
  if (!counts) {
    GOBAN_CHECK(!counts.error().message.empty() && history.training.empty());
    return 0;
  }
  int64_t jobs = 0;
  int64_t impossible = 0;
  for (const auto& facts : history.training) {
    GOBAN_CHECK(facts.deadline_ns >= -1);
    jobs += facts.deadline_ns >= 0 ? 1 : 0;
    impossible += facts.deadline_ns >= 0 && facts.deadline_ns < 10 * goban::base::kSecond ? 1 : 0;
  }
  GOBAN_CHECK(jobs == counts->jobs && impossible == counts->impossible);
  return 0;
}
