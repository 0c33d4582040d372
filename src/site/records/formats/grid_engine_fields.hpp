// The fields of a line of Grid Engine's accounting file, and the meaning of single ones.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.hpp"
#include "site/records/gpu_resources.hpp"
#include "site/records/recorded_state.hpp"

namespace goban::site::records::formats {

/// Numbered from 0; man 5 accounting counts from 1.
enum Field : size_t {
  kQueue = 0,
  kHost = 1,
  kGroup = 2,
  kOwner = 3,
  kJobName = 4,
  kJob = 5,
  kAccount = 6,
  kPriority = 7,
  kSubmit = 8,
  kStart = 9,
  kEnd = 10,
  kFailed = 11,
  kExit = 12,
  kWallclock = 13,
  kProject = 31,
  kPe = 33,
  kSlots = 34,
  kTask = 35,
  kCpu = 36,
  kMem = 37,
  kIo = 38,
  kCategory = 39,
  kIow = 40,
  kPeTask = 41,
  kMaxVmem = 42,
  kReservation = 43,
  kQdelInfo = 46,
  kMaxRss = 47,
  kSubmitCommand = 51,
};
inline constexpr size_t kFieldsMin = 43;
inline constexpr size_t kFieldsMax = 74;
inline constexpr size_t kFieldsUge = 46;

using Fields = std::vector<std::string_view>;

/// Splits at colons, except those in the category (h_rt=1:00:00), which not every version masks.
/// Views of the line.
void split(std::string_view line, Fields& fields);

/// Why the line is damaged: too few or too many fields, or a text where a number or a task must be;
/// empty = it is not.
[[nodiscard]] std::string damage_of(const Fields& fields);

/// The text; empty for `NONE`.
[[nodiscard]] std::string_view unless_none(std::string_view text);

/// Contents of the category: `-l a=1,b=2 -pe mpi 8 -I y -q gpu.q`.
struct Category {
  int64_t gpus = 0;
  bool has_gpus = false;
  CountedBy counted_by = CountedBy::Job;
  std::string_view resource_type;
  int64_t instances = 0;
  std::optional<base::TimeNs> limit_ns;
  bool interactive = false;
};

/// Resources with unknown names are not counted as GPUs.
[[nodiscard]] Category parse_category(std::string_view text, const GpuResources& known);

/// State from `failed` and `exit_status` of a job with this run time. Killed by a signal at its
/// limit = timed out; `deleted`: qdel was used.
[[nodiscard]] RecordedState state_of(int64_t failed, int64_t exit, base::TimeNs run_ns,
                                     std::optional<base::TimeNs> limit_ns, bool deleted);

}  // namespace goban::site::records::formats
