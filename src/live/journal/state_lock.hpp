// Write access to a state folder: the lock that one daemon holds, and the epochs that fence a
// daemon that was considered dead.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "base/files.hpp"
#include "live/journal/file_calls.hpp"

namespace goban::live::journal {

/// Held while a daemon works on a state folder. The kernel releases it when the process ends for
/// any reason. While the process runs, the file's modification time is updated every second.
class StateLock {
 public:
  /// Creates the folder (mode 0700) if it is missing, and takes the lock on `<folder>/lock`.
  /// Errors: Failed naming the process and host that hold it, or if the folder cannot be used.
  [[nodiscard]] static base::Result<StateLock> take(const std::string& folder);
  /// Replaces the lock file of an unresponsive holder by a new one. That holder may still run, so
  /// its writes must be fenced by its epoch. `inode`: of the watched lock file (standby.hpp).
  /// Errors: Failed if another daemon was faster, or if the folder cannot be used.
  [[nodiscard]] static base::Result<StateLock> take_from_silent(const std::string& folder,
                                                                uint64_t inode);
  StateLock(StateLock&& other) noexcept;
  StateLock& operator=(StateLock&& other) noexcept;
  ~StateLock();

 private:
  struct Held;
  explicit StateLock(base::Descriptor file);
  std::unique_ptr<Held> held_;
};

/// The file `<folder>/lock`.
[[nodiscard]] std::string lock_path(const std::string& folder);

/// The epoch of the daemon that may write to `folder`; 0 = none yet. It is stored in its file
/// `epoch`. Errors: Failed if it cannot be read or is not a number.
[[nodiscard]] base::Result<uint64_t> read_epoch(const std::string& folder);
/// Whether a later daemon than that of `epoch` works on the state folder `state`, with its journal
/// in `<state>/journal`. False for epoch 0.
[[nodiscard]] bool is_shut_out(const std::string& state, uint64_t epoch);
/// Fences all earlier writers: stores and returns an epoch greater than all before, at least
/// `least`. Errors: Failed.
[[nodiscard]] base::Result<uint64_t> raise_epoch(FileCalls& calls, const std::string& folder,
                                                 uint64_t least);

}  // namespace goban::live::journal
