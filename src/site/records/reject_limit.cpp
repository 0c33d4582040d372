#include "site/records/reject_limit.hpp"

#include <fmt/format.h>

#include "base/text_file.hpp"

namespace goban::site::records {

base::Status check_rejects(const ReadSummary& read, const std::string& name, double max_pct) {
  if (read.records == 0) return {};
  const double pct = 100 * static_cast<double>(read.rejected) / static_cast<double>(read.records);
  if (pct <= max_pct) return {};
  const std::string reason = read.first_rejections.empty()
                                 ? std::string()
                                 : "the first reason: " + read.first_rejections.front().reason;
  return base::bad_data(
      {base::input_name(name), 0, 0, ""},
      fmt::format("{} of {} records were rejected ({:.1f} %), more than --max-rejects {:g}",
                  read.rejected, read.records, pct, max_pct),
      reason + (reason.empty() ? "" : "; ") +
          "correct the records or --format, or permit more with --max-rejects PERCENT");
}

}  // namespace goban::site::records
