// Arbitrary bytes as a month file of a store: rejected, or read, visited and appended to.
#include <algorithm>

#include "base/check.hpp"
#include "base/test_memory_file.hpp"
#include "site/series/codes.hpp"
#include "site/series/month_file.hpp"
#include "site/series/store_reader.hpp"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace goban::site::series;
  const goban::base::MemoryFile file;
  file.write(data, size);
  if (const auto store = StoreReader::open_file(file.path(), Metric::GpuUtilization)) {
    for (const Track& track : store->tracks()) {
      CodeCounts counts(kLargestCode);
      const std::vector<const Track*> one = {&track};
      const VisitResult visit = store->count(one, INT64_MIN / 2, INT64_MAX / 2, counts);
      GOBAN_CHECK(visit.damaged_blocks <= track.blocks.size());
    }
  }
  auto month = MonthFile::open(file.path(), info(Metric::GpuUtilization), 60'000);
  if (!month) return 0;
  GOBAN_CHECK(month->cut_bytes() + month->damaged_bytes() <= size);
  const std::vector<uint16_t> codes(10, 7);
  BlockHead head;
  head.start_ms = 1'600'000'000'000;
  head.step_ms = 60'000;
  head.slots = static_cast<uint32_t>(codes.size());
  const DeviceKey device{"n", "0", ""};
  GOBAN_CHECK(month->append(device, head, codes).has_value());
  GOBAN_CHECK(month->flush(false).has_value());
  const auto again = StoreReader::open_file(file.path(), Metric::GpuUtilization);
  GOBAN_CHECK(again && std::ranges::any_of(again->tracks(), [&device](const Track& track) {
                return track.device == device;
              }));
  return 0;
}
