// Arbitrary bytes as nvidia-smi's rows: rejected, or GPUs whose metrics page has only complete
// lines.
#include "base/check.hpp"
#include "site/series/input/exposition.hpp"
#include "site/telemetry/gpu_sampler.hpp"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace goban;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  goban::site::telemetry::Sampling sampling;
  if (auto gpus = goban::site::telemetry::parse_gpu_rows(text)) sampling.gpus = std::move(*gpus);
  (void)goban::site::telemetry::count_processes(text, sampling.gpus);
  const std::string page = goban::site::telemetry::metrics_page(sampling);
  for (size_t at = 0; at < page.size();) {
    const size_t end = page.find('\n', at);
    GOBAN_CHECK(end != std::string::npos);
    const std::string_view line = std::string_view(page).substr(at, end - at);
    GOBAN_CHECK(goban::site::series::is_comment(line) ||
                goban::site::series::parse_exposition_line(line));
    at = end + 1;
  }
  return 0;
}
