// A year of Slurm's accounting as a file, for benchmarks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace goban::bench {

/// `sacct -P` with the columns of docs/traces.md: 1,000 users, one of which has a fifth of the
/// jobs.
void write_sacct(const std::string& path, int64_t jobs);

/// Minimal loop: maps the file, splits all fields, and adds jobs and GPU-seconds by user and
/// partition, without checks. Returns the number of groups.
[[nodiscard]] size_t floor_group_sacct(const std::string& path);

}  // namespace goban::bench
