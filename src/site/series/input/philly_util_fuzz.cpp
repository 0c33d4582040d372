// Arbitrary bytes as Philly's utilisation: read or rejected, every value a percentage.
#include "site/series/input/philly_util.hpp"

#include "base/check.hpp"

namespace {

class NoSink final : public goban::site::series::SampleSink {
 public:
  goban::base::Status add(const goban::site::series::DeviceKey& device, goban::site::series::Metric,
                          int64_t, goban::site::series::Reading reading) override {
    GOBAN_CHECK(!device.node.empty() && !device.device.empty());
    GOBAN_CHECK(reading.value >= 0 && reading.value <= 100);
    return {};
  }
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace goban::site::series;
  NoSink sink;
  Intake intake(sink);
  goban::base::MemorySource source(std::string_view(reinterpret_cast<const char*>(data), size));
  (void)read_philly_util(source, "fuzz", {}, intake);
  GOBAN_CHECK(intake.counts.lines <= size + 1);
  return 0;
}
