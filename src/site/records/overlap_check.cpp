#include "site/records/overlap_check.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <tuple>

namespace goban::site::records {
namespace {

struct Hold {
  uint32_t node = kNoName;
  uint32_t gpu = kNoName;
  TimeNs start_ns = 0;
  TimeNs end_ns = 0;
  uint32_t row = 0;
};

std::vector<Hold> holds_of(const RecordTable& table) {
  std::vector<Hold> holds;
  for (size_t i = 0; i < table.rows().size(); ++i) {
    const RecordRow& row = table.rows()[i];
    if (row.gpus == kNoList || row.gpu_share || row.gpu_milli > 0) continue;
    if (row.start_ns < 0 || row.end_ns <= row.start_ns) continue;
    for (const StoredGpu& gpu : table.gpus_of(row)) {
      holds.push_back({.node = gpu.node,
                       .gpu = gpu.gpu,
                       .start_ns = row.start_ns,
                       .end_ns = row.end_ns,
                       .row = static_cast<uint32_t>(i)});
    }
  }
  std::ranges::sort(holds, {}, [](const Hold& hold) {
    return std::tuple(hold.node, hold.gpu, hold.start_ns, hold.row);
  });
  return holds;
}

}  // namespace

GpuOverlaps find_gpu_overlaps(const RecordTable& table) {
  GpuOverlaps out;
  Hold last;
  for (const Hold& hold : holds_of(table)) {
    const bool same_gpu = hold.node == last.node && hold.gpu == last.gpu;
    if (same_gpu && hold.row != last.row && hold.start_ns < last.end_ns) {
      if (++out.count <= static_cast<int64_t>(GpuOverlaps::kKept)) {
        out.first.push_back({.node = hold.node,
                             .gpu = hold.gpu,
                             .first = last.row,
                             .second = hold.row,
                             .overlap_ns = std::min(hold.end_ns, last.end_ns) - hold.start_ns});
      }
    }
    if (!same_gpu || hold.end_ns > last.end_ns) last = hold;
  }
  return out;
}

std::string overlap_text(const RecordTable& table, const GpuOverlap& overlap) {
  const auto name = [](const InternedColumn& names, uint32_t number) {
    return number == kNoName ? std::string_view("?") : names[number];
  };
  return fmt::format("jobs {} and {} held GPU {} of {} at the same time, for {} s",
                     table.id(overlap.first), table.id(overlap.second),
                     name(table.gpu_names(), overlap.gpu), name(table.node_names(), overlap.node),
                     overlap.overlap_ns / base::kSecond);
}

}  // namespace goban::site::records
