#include "cli/read_notes.hpp"

#include <algorithm>
#include <cstdio>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace goban::cli {

void print_read_notes(const history::ReadResult& read, const std::string& path,
                      const std::string& rejects) {
  const auto note = [&path](const std::string& text) {
    fmt::print(stderr, "goban: note: {}: {}\n", path, text);
  };
  if (read.unsorted) note("was not in submit order");
  if (read.ignored_columns.size() == 1) {
    note(fmt::format("column {} is not used", read.ignored_columns[0]));
  } else if (!read.ignored_columns.empty()) {
    note(fmt::format("columns {} are not used", fmt::join(read.ignored_columns, ", ")));
  }
  for (const std::string& text : read.notes) note(text);
  if (read.counts.cpu_jobs_left_out > 0) {
    note(
        fmt::format("{} jobs without GPUs are left out (the cluster has no resource type for them)",
                    read.counts.cpu_jobs_left_out));
  }
  if (read.counts.gpu_shares > 0) {
    note(fmt::format("{} jobs asked for a share of a GPU and get a whole one",
                     read.counts.gpu_shares));
  }
  if (read.rejected == 0) return;
  fmt::print(stderr, "goban: warning: {} of {} records were rejected{}{}\n", read.rejected,
             read.records, rejects.empty() ? "" : ", see ", rejects);
  constexpr size_t kShown = 3;
  for (size_t i = 0; i < std::min(kShown, read.first_rejections.size()); ++i) {
    const history::Rejection& rejection = read.first_rejections[i];
    fmt::print(stderr, "  {}:{}: {}\n", path, rejection.line, rejection.reason);
  }
}

}  // namespace goban::cli
