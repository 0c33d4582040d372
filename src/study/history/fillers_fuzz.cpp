// Any bytes are accepted as a list of inter-arrival times: either rejected, or fillers in submit
// order until the list ends.
#include "study/history/fillers.hpp"

#include <cstdint>

#include "base/check.hpp"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto source = goban::study::history::FillerSource::parse(text, "fuzz.csv");
  if (!source) {
    GOBAN_CHECK(!source.error().message.empty());
    return 0;
  }
  goban::core::model::JobHistory history;
  history.jobs.resize(2);
  goban::core::model::Job last;
  last.request.submit_ns = 5;
  history.jobs.push_back(last);
  goban::base::TimeNs last_ns = 5;
  for (size_t k = 0; k < source->size(); ++k) {
    const auto job = source->job(k, history);
    GOBAN_CHECK(job.has_value() && job->request.submit_ns >= last_ns);
    last_ns = job->request.submit_ns;
  }
  GOBAN_CHECK(!source->job(source->size(), history).has_value());
  return 0;
}
