// Values of submission options as batch systems write them: times, sizes, arrays, dependencies,
// signals, GPU requests, names of output files. Errors: BadData without a place.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "live/job/job_request.hpp"

namespace goban::live::job {

/// Slurm: "90" (minutes), "MM:SS", "H:MM:SS", "D-HH", "D-HH:MM", "D-HH:MM:SS"; 0 = no limit
/// ("UNLIMITED", "INFINITE", "0").
[[nodiscard]] base::Result<TimeNs> parse_slurm_time(std::string_view text);
/// Grid Engine and PBS: "90" (seconds), "MM:SS", "H:MM:SS".
[[nodiscard]] base::Result<TimeNs> parse_batch_time(std::string_view text);
/// Goban: "90m", "1d 12h", "H:MM:SS", "D-HH:MM:SS". A bare number is refused: seconds here are
/// minutes elsewhere.
[[nodiscard]] base::Result<TimeNs> parse_span(std::string_view text);

/// A size; a number without a unit counts `unit` bytes, K M G T P are powers of 1024, with or
/// without B or iB behind.
[[nodiscard]] base::Result<int64_t> parse_memory(std::string_view text, int64_t unit);

[[nodiscard]] base::Result<int32_t> parse_count(std::string_view text, int32_t least = 0);

struct ArrayWish {
  std::vector<int32_t> tasks{};  ///< ascending, each once
  int32_t limit = 0;             ///< running at once; 0 = no bound
};
/// "0-9%2", "1-10:2", "1,4,7-9".
[[nodiscard]] base::Result<ArrayWish> parse_array(std::string_view text);

/// "afterok:12:13,afterany:14"; a bare number is afterany.
[[nodiscard]] base::Result<std::vector<Dependency>> parse_dependencies(std::string_view text);

/// "USR1", "SIGUSR1" or "10".
[[nodiscard]] base::Result<int32_t> parse_signal(std::string_view text);
/// "[B:]SIG[@TIME]"; a bare TIME counts `unit` each; 60 s if there is none.
[[nodiscard]] base::Status apply_signal(JobWish& wish, std::string_view text);

/// GPUs: "4", "a100:4", "gpu:4", "gpu:a100:4"; a model in it becomes a note of the wish.
[[nodiscard]] base::Result<int32_t> parse_gpus(JobWish& wish, std::string_view text);

/// "ALL", "NONE", "NIL", "NAME,NAME=value,ALL".
[[nodiscard]] base::Status apply_export(JobWish& wish, std::string_view text);

/// "a,b,c" without empty parts.
[[nodiscard]] std::vector<std::string_view> split_list(std::string_view text, char separator = ',');

/// A text without control characters, not empty, at most 4,096 bytes.
[[nodiscard]] base::Result<std::string> checked_text(std::string_view text);

/// Output file names: patterns of the other system become %j %x %u %a %A; what has no
/// counterpart becomes a note.
[[nodiscard]] std::string slurm_output(JobWish& wish, std::string_view path);
[[nodiscard]] std::string batch_output(JobWish& wish, std::string_view path);

}  // namespace goban::live::job
