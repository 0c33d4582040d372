// The rate at which a folder takes data: the limit of a run's checkpoints.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace goban::train::trainer {

/// Writes a file of about `bytes` (at most 64 MiB) in `folder` and syncs it, several times within a
/// fraction of a second where that suffices. The file has no name: nothing of it remains, even if
/// the process is killed. Returns bytes per second of the fastest time; nullopt if the folder
/// cannot be written or is full.
[[nodiscard]] std::optional<double> measured_write_rate(const std::string& folder, int64_t bytes);

}  // namespace goban::train::trainer
