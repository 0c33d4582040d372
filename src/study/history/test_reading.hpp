// For tests: histories read from text.
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "study/history/job_reader.hpp"

namespace goban::study::history {

/// Reads from memory in blocks of `chunk` bytes.
inline base::Result<ReadResult> read_text(std::string_view text, const ReadOptions& options = {},
                                          size_t chunk = SIZE_MAX) {
  goban::base::MemorySource source(text, chunk);
  return read_jobs(source, "jobs.csv", options);
}

inline ReadResult read_ok(std::string_view text, const ReadOptions& options = {},
                          size_t chunk = SIZE_MAX) {
  auto result = read_text(text, options, chunk);
  if (!result) throw std::runtime_error(result.error().text());
  return std::move(*result);
}

/// Job ids in the order of the history.
inline std::vector<std::string> names(const ReadResult& result) {
  std::vector<std::string> out;
  for (size_t i = 0; i < result.history.job_names.size(); ++i) {
    out.emplace_back(result.history.job_names[i]);
  }
  return out;
}

/// `line: reason` of the rejected records.
inline std::vector<std::string> reasons(const ReadResult& result) {
  std::vector<std::string> out;
  for (const site::records::Rejection& r : result.first_rejections) {
    out.push_back(std::to_string(r.line) + ": " + r.reason);
  }
  return out;
}

}  // namespace goban::study::history
