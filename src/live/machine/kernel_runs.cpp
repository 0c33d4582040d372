#include "live/machine/kernel_runs.hpp"

#include <algorithm>
#include <fmt/format.h>

#include "base/number.hpp"

namespace goban::live::machine {

using core::knowledge::Kernel;

std::string to_text(const KernelRuns& runs) {
  std::string out;
  for (const Kernel kernel : core::knowledge::kKernels) {
    out += core::knowledge::kernel_name(kernel);
    for (const double run_s : runs[static_cast<size_t>(kernel)]) out += fmt::format(" {}", run_s);
    out += '\n';
  }
  return out;
}

base::Result<KernelRuns> parse_runs(std::string_view text) {
  const auto wrong = [](std::string_view line) {
    return base::failed(fmt::format("'{}' is not a line of kernel times", line.substr(0, 80)),
                        "report this as a bug of goban's measuring process");
  };
  KernelRuns out;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    size_t blank = line.find(' ');
    const auto kernel = core::knowledge::parse_kernel(line.substr(0, blank));
    if (!kernel) return wrong(line);
    while (blank < line.size()) {
      const size_t end = std::min(line.find(' ', blank + 1), line.size());
      const auto run_s = base::parse_double(line.substr(blank + 1, end - blank - 1));
      if (!run_s || !(*run_s > 0 && *run_s < 1e6)) return wrong(line);
      out[static_cast<size_t>(*kernel)].push_back(*run_s);
      blank = end;
    }
  }
  for (const auto& runs : out) {
    if (runs.empty()) return wrong("");
  }
  return out;
}

}  // namespace goban::live::machine
