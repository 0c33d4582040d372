// Arbitrary lines: rejected, or a metric that can be written and read back. The same bytes as an
// entire input do not crash, and every line is counted once.
#include "site/series/input/exposition.hpp"

#include "base/check.hpp"
#include "site/series/input/open_metrics.hpp"

namespace {

class NoSink final : public goban::site::series::SampleSink {
 public:
  goban::base::Status add(const goban::site::series::DeviceKey& device, goban::site::series::Metric,
                          int64_t, goban::site::series::Reading) override {
    GOBAN_CHECK(!device.node.empty());
    return {};
  }
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace goban::site::series;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (const auto line = parse_exposition_line(text.substr(0, text.find('\n')))) {
    GOBAN_CHECK(!line->name.empty());
    std::string again = "a{b=";
    append_label_value(again, line->name);
    const auto back = parse_exposition_line(again + "} 1");
    GOBAN_CHECK(back && back->labels[0].second == line->name);
  }
  static const AdapterTable adapters = AdapterTable::builtin();
  NoSink sink;
  Intake intake(sink);
  const OpenBytes open = [&]() -> goban::base::Result<std::unique_ptr<goban::base::ByteSource>> {
    return std::make_unique<goban::base::MemorySource>(text);
  };
  (void)read_open_metrics(open, "fuzz", adapters, 1000, intake);
  const InputCounts& counts = intake.counts;
  GOBAN_CHECK(counts.samples + counts.no_number + counts.other_metrics + counts.rejected_lines() <=
              counts.lines);
  return 0;
}
