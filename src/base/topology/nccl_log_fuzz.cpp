// Reads arbitrary bytes as NCCL's log.
#include "base/topology/nccl_log.hpp"

#include <cstdint>

#include "base/check.hpp"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace goban::base::topology;
  const auto log = parse_nccl_log({reinterpret_cast<const char*>(data), size}, "fuzz.log");
  if (!log) return 0;
  const auto findings = findings_of(*log, {});
  GOBAN_CHECK(findings.size() == 3 && !to_text(findings).empty() && !to_json(findings).empty());
  return 0;
}
