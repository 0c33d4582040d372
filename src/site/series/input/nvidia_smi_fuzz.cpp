// Arbitrary bytes as nvidia-smi's CSV: read or rejected, nothing counted twice.
#include "site/series/input/nvidia_smi.hpp"

#include "base/check.hpp"
#include "site/series/input/import_file.hpp"

namespace {

class NoSink final : public goban::site::series::SampleSink {
 public:
  goban::base::Status add(const goban::site::series::DeviceKey& device, goban::site::series::Metric,
                          int64_t, goban::site::series::Reading reading) override {
    GOBAN_CHECK(!device.node.empty());
    GOBAN_CHECK(reading.state == goban::site::series::State::Value || reading.value == 0);
    return {};
  }
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace goban::site::series;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  (void)detect_format(text);
  for (const char* columns : {"", "timestamp,index,utilization.gpu"}) {
    NoSink sink;
    Intake intake(sink);
    goban::base::MemorySource source(text);
    const NvidiaSmiOptions options{.node = "n", .columns = columns};
    (void)read_nvidia_smi(source, "fuzz", options, intake);
    GOBAN_CHECK(intake.counts.lines <= size + 1);
  }
  return 0;
}
