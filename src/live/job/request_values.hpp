// Parsers of submission option values in the syntax of batch systems: times, sizes, arrays,
// dependencies, signals, GPUs, nodes. Errors: BadData without a place.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "live/job/submit_directives.hpp"

namespace goban::live::job {

/// Slurm: "90" (minutes), "MM:SS", "H:MM:SS", "D-HH", "D-HH:MM", "D-HH:MM:SS"; Returns 0 for no
/// limit ("UNLIMITED", "INFINITE", "0").
[[nodiscard]] base::Result<TimeNs> parse_slurm_time(std::string_view text);
/// Grid Engine and PBS: "90" (seconds), "MM:SS", "H:MM:SS".
[[nodiscard]] base::Result<TimeNs> parse_batch_time(std::string_view text);
/// Goban: "90m", "1d 12h", "H:MM:SS", "D-HH:MM:SS". A number without a unit is rejected, as its
/// unit differs between batch systems.
[[nodiscard]] base::Result<TimeNs> parse_span(std::string_view text);

/// A size in bytes. A number without a unit is multiplied by `unit`. K M G T P are powers of 1024,
/// optionally followed by B or iB.
[[nodiscard]] base::Result<int64_t> parse_memory(std::string_view text, int64_t unit);

[[nodiscard]] base::Result<int32_t> parse_count(std::string_view text, int32_t least = 0);

/// Maximum number of tasks of one array.
inline constexpr int32_t kArrayTasksMax = 10'000;

struct ArrayRequest {
  std::vector<int32_t> tasks{};  ///< ascending, each once
  int32_t limit = 0;             ///< maximum number of tasks running at once; 0 = no limit
  int32_t step = 1;              ///< of a single range
};
/// "0-9%2", "1-10:2", "1,4,7-9".
[[nodiscard]] base::Result<ArrayRequest> parse_array(std::string_view text);

/// "afterok:12:13,afterany:14,singleton"; a number alone means afterany.
[[nodiscard]] base::Result<std::vector<Dependency>> parse_dependencies(std::string_view text);

/// "USR1", "SIGUSR1" or "10".
[[nodiscard]] base::Result<int32_t> parse_signal(std::string_view text);

/// A number of GPUs, and their model; empty = any.
struct GpuRequest {
  int32_t count = 0;
  std::string model{};
};
/// "4", "a100:4", "gpu:4", "gpu:a100:4"; the counts of a list add up. Errors: also if it names
/// several models.
[[nodiscard]] base::Result<GpuRequest> parse_gpus(std::string_view text);

/// Node names as Slurm writes them: "n1,g[003-007]".
[[nodiscard]] base::Result<std::vector<std::string>> parse_nodes(std::string_view text);

/// "ALL", "NONE", "NIL", "NAME,NAME=value,ALL".
[[nodiscard]] base::Result<EnvironmentRequest> parse_export(std::string_view text);

/// "a,b,c" without empty parts.
[[nodiscard]] std::vector<std::string_view> split_list(std::string_view text, char separator = ',');

/// The error of a value that is not what is asked for: BadData, "'text' is what".
[[nodiscard]] tl::unexpected<base::Error> refused_value(std::string_view text, const char* what,
                                                        std::string remedy);

/// The text itself. Errors: BadData if it is empty, contains control characters or is longer than
/// 4,096 bytes.
[[nodiscard]] base::Result<std::string> checked_text(std::string_view text);

}  // namespace goban::live::job
