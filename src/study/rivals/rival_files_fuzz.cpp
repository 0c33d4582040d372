// Any bytes are accepted as each file of the rivals: either rejected with a reason and a place, or
// values in their ranges.
#include "study/rivals/rival_files.hpp"

#include <cstdint>

#include "base/check.hpp"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace goban::study::rivals;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const std::string file = "fuzz";
  const auto check_error = [](const goban::base::Error& error) {
    GOBAN_CHECK(!error.message.empty() && !error.place.file.empty());
  };
  if (const auto rates = parse_rates(text, file); !rates) check_error(rates.error());
  if (const auto phases = parse_batch_sizes(text, file); !phases) check_error(phases.error());
  if (const auto jobs = parse_shockwave_trace(text, file)) {
    double submit_s = 0;
    for (const ShockwaveJob& job : *jobs) {
      GOBAN_CHECK(job.batch > 0 && job.gpus > 0 && job.steps > 0 && job.submit_s >= submit_s);
      submit_s = job.submit_s;
    }
  } else {
    check_error(jobs.error());
  }
  if (const auto jobs = parse_elasticflow_trace(text, file)) {
    for (const ElasticJob& job : *jobs) {
      GOBAN_CHECK(job.batch > 0 && job.gpus > 0 && job.iterations > 0 && job.duration_s > 0);
    }
  } else {
    check_error(jobs.error());
  }
  if (const auto record = parse_shares(text, file)) {
    for (const ShareSet& set : record->sets) GOBAN_CHECK(set.jobs.size() == set.shares.size());
  } else {
    check_error(record.error());
  }
  return 0;
}
