// Who may write to a state folder: the lock that one daemon holds, and the epochs that shut out one
// that was taken for dead.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "live/journal/file_calls.hpp"

namespace goban::live::journal {

/// Held while a daemon works on a state folder. The system takes it back when the process ends,
/// however that happens. As long as the process runs, the time of the file moves on every second.
class StateLock {
 public:
  /// Makes the folder (mode 0700) if it is missing, and takes the lock on `<folder>/lock`. Errors:
  /// Failed naming the process and host that hold it, or if the folder cannot be used.
  [[nodiscard]] static base::Result<StateLock> take(const std::string& folder);
  /// Puts a lock of our own in the place of one whose holder shows no life any more; that one may
  /// live on, so all that it writes has to be shut out by its epoch. `inode`: of the file
  /// that was watched (standby.hpp). Errors: Failed if somebody else was faster, or if the folder
  /// cannot be used.
  [[nodiscard]] static base::Result<StateLock> take_from_silent(const std::string& folder,
                                                                uint64_t inode);
  StateLock(StateLock&& other) noexcept;
  StateLock& operator=(StateLock&& other) noexcept;
  ~StateLock();

 private:
  struct Held;
  explicit StateLock(OpenFile file);
  std::unique_ptr<Held> held_;
};

/// The file `<folder>/lock`.
[[nodiscard]] std::string lock_path(const std::string& folder);

/// The number of the daemon that may write to `folder`; 0 = none was there yet. It is kept in the
/// file `epoch` there. Errors: Failed if it cannot be read or is no number.
[[nodiscard]] base::Result<uint64_t> read_epoch(const std::string& folder);
/// A later daemon than the one of this epoch works on the state folder `state`, with its journal in
/// `<state>/journal`. Epoch 0 is never shut out.
[[nodiscard]] bool is_shut_out(const std::string& state, uint64_t epoch);
/// Shuts out all writers before: returns an epoch above all that were, at least `least`. Errors:
/// Failed.
[[nodiscard]] base::Result<uint64_t> raise_epoch(FileCalls& calls, const std::string& folder,
                                                 uint64_t least);

}  // namespace goban::live::journal
