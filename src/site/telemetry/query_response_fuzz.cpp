// Arbitrary bytes as a response of Prometheus: read or rejected; samples only after their series.
#include "site/telemetry/query_response.hpp"

#include "base/check.hpp"

namespace {

class CheckingSink final : public goban::site::telemetry::MatrixSink {
 public:
  bool series(const goban::site::series::Labels&) override {
    seen = true;
    return true;
  }
  bool sample(int64_t, double) override {
    GOBAN_CHECK(seen);
    ++samples;
    return true;
  }
  bool seen = false;
  uint64_t samples = 0;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  CheckingSink sink;
  const auto response = goban::site::telemetry::read_matrix(text, sink);
  GOBAN_CHECK(response.samples == sink.samples);
  GOBAN_CHECK(response.success || !response.problem.empty());
  std::vector<std::string> texts;
  (void)goban::site::telemetry::read_texts(text, texts);
  return 0;
}
