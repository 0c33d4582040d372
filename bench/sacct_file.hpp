// A year of Slurm's accounting as a file, for benchmarks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace goban::bench {

/// `sacct -P` as docs/traces.md recommends it: 1,000 users, one of them with a fifth of the jobs.
void write_sacct(const std::string& path, int64_t jobs);

/// The bare floor: maps the file, cuts all fields, adds jobs and GPU-seconds by user and partition,
/// and trusts every byte. Returns the number of groups.
[[nodiscard]] size_t floor_group_sacct(const std::string& path);

}  // namespace goban::bench
