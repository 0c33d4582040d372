// The file `status` of a run. Its space is reserved before the job starts, so that the status can
// be written on a full disk.
#pragma once

#include <string>

#include "base/files.hpp"
#include "base/result.hpp"
#include "live/engine/local/run_order.hpp"

namespace goban::live::engine::local {

class StatusFile {
 public:
  /// Errors: Failed (disk full): then the run must not start.
  [[nodiscard]] static base::Result<StatusFile> reserve(const std::string& folder);
  /// Writes the status durably and renames it into place. Errors: Failed; may be retried.
  [[nodiscard]] base::Status write(const RunStatus& status);
  /// Whether the run's folder still exists; checked by descriptor, as another folder may have its
  /// name now.
  [[nodiscard]] bool has_folder() const;

 private:
  static constexpr size_t kBytes = 16384;  ///< enough for the times of all ranks
  std::string path_{};
  base::Descriptor folder_{};
  base::Descriptor file_{};
  bool in_place_ = false;
};

}  // namespace goban::live::engine::local
