// Arbitrary bytes as the report of an agent: rejected, or within its bounds, and unchanged when it
// is written and read again.
#include "site/telemetry/agent_report.hpp"

#include "base/check.hpp"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace goban::site::telemetry;
  const auto report = parse_agent_report({reinterpret_cast<const char*>(data), size});
  if (!report) return 0;
  GOBAN_CHECK(report->samples.size() <= kAgentSamplesMax && report->jobs.size() <= kAgentJobsMax);
  for (const AgentJob& job : report->jobs) GOBAN_CHECK(job.software.size() <= kAgentSoftwareMax);
  const auto again = parse_agent_report(to_json(*report));
  GOBAN_CHECK(again && again->gpus == report->gpus && again->jobs.size() == report->jobs.size() &&
              again->samples.size() == report->samples.size());
  return 0;
}
