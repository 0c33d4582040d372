// Reads any bytes, in any pieces, as progress lines: numbers stay in range, memory is bounded.
#include "live/engine/local/progress_lines.hpp"

#include <cmath>

#include "base/check.hpp"
#include "live/engine/local/run_status.hpp"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using goban::live::engine::local::LineCutter;
  using goban::live::engine::local::ProgressSum;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  ProgressSum whole;
  LineCutter().feed(text, whole);
  ProgressSum pieces;
  LineCutter cutter;
  for (const char& c : text) cutter.feed({&c, 1}, pieces);
  GOBAN_CHECK(whole.lines == pieces.lines && whole.refused == pieces.refused);
  const auto& latest = whole.progress.latest;
  for (const double value : {latest.epoch, latest.epochs, latest.samples_per_s}) {
    GOBAN_CHECK(std::isfinite(value) && value >= -1 && value <= 1e15);
  }
  GOBAN_CHECK(std::isfinite(latest.loss) && latest.step >= -1 && latest.steps >= -1);
  // The stored result can be read back.
  const auto again = goban::live::engine::local::parse_progress(
      goban::live::engine::local::to_text(whole.progress), "kept");
  GOBAN_CHECK(again && *again == whole.progress);
  return 0;
}
