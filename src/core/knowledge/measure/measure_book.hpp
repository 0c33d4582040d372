// The measurement log of `goban profile`, `<table>.profile.json` next to the score table: every
// measurement of each GPU with date, driver, firmware, temperature and neighbours. Scores, changes
// and stragglers are computed from it.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "core/knowledge/measure/estimate.hpp"

namespace goban::core::knowledge {

/// Latest time of a measurement that files may contain, in the year 2242.
inline constexpr int64_t kUnixMax_s = int64_t{1} << 33;

/// Version of the kernels: times of different versions are not comparable.
inline constexpr int64_t kKernelVersion = 1;

/// A change of any of these invalidates earlier measurements of a GPU.
struct GpuCondition {
  std::string driver{};    ///< empty = a virtual GPU
  std::string firmware{};  ///< empty = unknown
  int64_t kernel_version = kKernelVersion;
  friend bool operator==(const GpuCondition&, const GpuCondition&) = default;
};

/// One measurement of one GPU.
struct GpuSession {
  int64_t unix_s = 0;
  GpuCondition condition{};
  double temperature_c = -1;  ///< at its end; -1 = unknown
  int64_t neighbours = 0;     ///< other GPUs of the machine that were busy
  bool forced = false;        ///< the GPU itself was busy
  /// By kernel: median run of each block in seconds; at least one block.
  std::array<std::vector<double>, kNumKernels> block_s{};
};

struct GpuBook {
  std::string uuid{};
  std::string name{};
  std::vector<GpuSession> sessions{};  ///< by date; the newest kSessionsMax
};

struct MeasureBook {
  static constexpr int64_t kVersion = 1;
  static constexpr size_t kSessionsMax = 64;
  int64_t since_unix_s = 0;     ///< first measurement; start of the accounting of cost
  double spent_s = 0;           ///< GPU seconds of all measurements
  std::vector<GpuBook> gpus{};  ///< in the order of the score table

  /// The entry of this GPU; appended if there is none.
  GpuBook& of(const std::string& uuid);
  [[nodiscard]] const GpuBook* find(std::string_view uuid) const;
};

/// Appends a session; drops the oldest beyond kSessionsMax.
void add_session(GpuBook& gpu, GpuSession session);

/// Number of sessions at the end that are valid under `now`: those after the last one with a
/// different condition.
[[nodiscard]] size_t valid_sessions(const GpuBook& gpu, const GpuCondition& now);

/// Errors: BadData with `file`, field and remedy. A newer version is rejected; unknown fields are
/// ignored.
[[nodiscard]] base::Result<MeasureBook> parse_book(std::string_view json, const std::string& file);
[[nodiscard]] std::string to_json(const MeasureBook& book);

/// Path of the log of a score table: `scores.csv` -> `scores.profile.json`.
[[nodiscard]] std::string book_path(const std::string& scores_path);
}  // namespace goban::core::knowledge
