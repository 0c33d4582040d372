// What `goban profile` remembers of each GPU beside the score table, in `<table>.profile.json`:
// every measurement with its date, driver, firmware, temperature and neighbours. Scores, changes
// and stragglers all follow from it.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "core/knowledge/measure/estimate.hpp"

namespace goban::core::knowledge {

/// Of the kernels: times of another version are not comparable.
inline constexpr int64_t kKernelVersion = 1;

/// Whatever makes earlier times of a GPU worthless when it changes.
struct GpuCondition {
  std::string driver{};    ///< empty = a virtual GPU
  std::string firmware{};  ///< empty = not known
  int64_t kernel_version = kKernelVersion;
  friend bool operator==(const GpuCondition&, const GpuCondition&) = default;
};

/// One measurement of one GPU.
struct GpuSession {
  int64_t unix_s = 0;
  GpuCondition condition{};
  double temperature_c = -1;  ///< at its end; -1 = not known
  int64_t neighbours = 0;     ///< other GPUs of the machine that were busy
  bool forced = false;        ///< the GPU itself was busy
  /// By kernel: median run of each block in seconds; at least one block.
  std::array<std::vector<double>, kNumKernels> block_s{};
};

struct GpuBook {
  std::string uuid{};
  std::string name{};
  std::vector<GpuSession> sessions{};  ///< by date; at most kSessionsMax, the newest
};

struct MeasureBook {
  static constexpr int64_t kVersion = 1;
  static constexpr size_t kSessionsMax = 64;
  int64_t since_unix_s = 0;     ///< first measurement: from when on the cost counts
  double spent_s = 0;           ///< GPU seconds of all measurements
  std::vector<GpuBook> gpus{};  ///< in the order of the score table

  /// The book of this GPU, a new one behind the others if there is none.
  GpuBook& of(const std::string& uuid);
  [[nodiscard]] const GpuBook* find(std::string_view uuid) const;
};

/// Appends; forgets the oldest beyond kSessionsMax.
void add_session(GpuBook& gpu, GpuSession session);

/// Number of sessions at the end that are still valid under `now`: those after the last with
/// another condition.
[[nodiscard]] size_t valid_sessions(const GpuBook& gpu, const GpuCondition& now);

/// Errors: BadData with `file`, field and remedy; a newer version is refused, unknown fields are
/// ignored.
[[nodiscard]] base::Result<MeasureBook> parse_book(std::string_view json, const std::string& file);
[[nodiscard]] std::string to_json(const MeasureBook& book);

/// The book that belongs to a score table: `scores.csv` -> `scores.profile.json`.
[[nodiscard]] std::string book_path(const std::string& scores_path);
}  // namespace goban::core::knowledge
