// The file `status` of a run. Its space is taken before the job starts, so that the end of a job
// can be written on a full disk.
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
  /// Puts it into place, safe against a power cut. Errors: Failed; it may be tried again.
  [[nodiscard]] base::Status write(const RunStatus& status);
  /// The run's folder was not removed: another one may have its name now.
  [[nodiscard]] bool has_folder() const;

 private:
  static constexpr size_t kBytes = 16384;  ///< enough for the times of all ranks
  std::string path_{};
  base::Descriptor folder_{};
  base::Descriptor file_{};
  bool in_place_ = false;
};

}  // namespace goban::live::engine::local
