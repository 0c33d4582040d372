// Jobs whose records claim the same unshared GPU at the same time: an error of the accounting, of a
// clock, or of the script that wrote the GPU lists.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "site/records/record_table.hpp"

namespace goban::site::records {

/// Row `second` started on the GPU before `first` had ended.
struct GpuOverlap {
  uint32_t node = kNoName;  ///< of node_names()
  uint32_t gpu = kNoName;   ///< of gpu_names()
  uint32_t first = 0;
  uint32_t second = 0;
  TimeNs overlap_ns = 0;
};

struct GpuOverlaps {
  static constexpr size_t kKept = 20;
  int64_t count = 0;
  std::vector<GpuOverlap> first;  ///< at most kKept, by node, GPU and start
};

/// Checks all jobs with a GPU list, start and end that hold entire GPUs. Each job that overlaps
/// earlier ones is counted once, with the one of them that ends last. Cost: sorts the GPU lists.
[[nodiscard]] GpuOverlaps find_gpu_overlaps(const RecordTable& table);

/// `jobs 7 and 9 held GPU 0 of g1 at the same time, for 60 s`.
[[nodiscard]] std::string overlap_text(const RecordTable& table, const GpuOverlap& overlap);

}  // namespace goban::site::records
