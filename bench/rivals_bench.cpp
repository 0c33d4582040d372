// CPU time of a replay of the published schedulers, without reading and process start.
//
// usage: rivals_bench FOLDER
// FOLDER/shockwave: trace.csv, rates_v100.csv, gns_batch_sizes.csv; FOLDER/elasticflow: trace.csv,
// rates_a100.csv (docs/studies/rivals.md says where they are published).
#include <algorithm>
#include <ctime>
#include <fmt/format.h>
#include <string>
#include <vector>

#include "study/rivals/replay.hpp"

namespace {

using namespace goban;

constexpr int kReplays = 15;

double cpu_ms() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e3 + static_cast<double>(now.tv_nsec) / 1e6;
}

int measure(const study::rivals::RivalOptions& options) {
  const auto inputs = study::rivals::RivalInputs::read(options);
  if (!inputs) {
    fmt::print(stderr, "rivals_bench: {}\n", inputs.error().text());
    return 1;
  }
  for (const study::rivals::RivalPreset& preset : study::rivals::rival_presets()) {
    if (preset.format != study::rivals::rival_format_of(options)) continue;
    std::vector<double> took_ms;
    size_t placements = 0;
    for (int i = 0; i <= kReplays; ++i) {
      const double before_ms = cpu_ms();
      const auto replay = inputs->replay(preset);
      const double after_ms = cpu_ms();
      if (!replay) {
        fmt::print(stderr, "rivals_bench: {}\n", replay.error().text());
        return 1;
      }
      placements = replay->summary.placements;
      if (i > 0) took_ms.push_back(after_ms - before_ms);  // the first one warms up
    }
    std::ranges::sort(took_ms);
    fmt::print("{:28} {:6} placements, CPU ms: median {:6.2f}, worst {:6.2f}\n", preset.name,
               placements, took_ms[took_ms.size() / 2], took_ms.back());
  }
  return 0;
}

}  // namespace

int main(int count, char** words) {
  if (count != 2) {
    fmt::print(
        "rivals_bench FOLDER: nothing is measured without the published files "
        "(docs/studies/rivals.md)\n");
    return count == 1 ? 0 : 2;
  }
  const std::string folder = words[1];
  const std::string shockwave = folder + "/shockwave/";
  const std::string elasticflow = folder + "/elasticflow/";
  const int first = measure({.cluster = "32x1",
                             .format = "shockwave",
                             .jobs = shockwave + "trace.csv",
                             .rates = shockwave + "rates_v100.csv",
                             .batch_sizes = shockwave + "gns_batch_sizes.csv"});
  const int second = measure({.cluster = "16x8",
                              .format = "elasticflow",
                              .jobs = elasticflow + "trace.csv",
                              .rates = elasticflow + "rates_a100.csv"});
  return std::max(first, second);
}
