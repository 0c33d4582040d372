// For tests of the live scheduler: a journal in memory, on a disk that may be full.
#pragma once

#include <atomic>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "live/journal/record_log.hpp"

namespace goban::live::loop {

/// Keeps records in memory; commit fails while `full`.
class MemoryLog final : public journal::RecordLog {
 public:
  void append(std::string_view record) override { pending_.emplace_back(record); }
  base::Status commit() override {
    if (full) return base::failed("no space left on device");
    ++commits;
    for (std::string& record : pending_) safe.records.push_back(std::move(record));
    pending_.clear();
    return {};
  }
  base::Status compact(std::string_view snapshot) override {
    if (full) return base::failed("no space left on device");
    if (keeps_records) return {};
    safe = {.snapshot = std::string(snapshot)};
    return {};
  }
  int64_t bytes_since_snapshot() const override { return 0; }
  /// Simulates a crash of the process.
  void crash() { pending_.clear(); }

  journal::Recovered safe;
  bool full = false;
  bool keeps_records = false;  ///< snapshots are discarded
  std::atomic<int64_t> commits = 0;

 private:
  std::vector<std::string> pending_;
};

}  // namespace goban::live::loop
