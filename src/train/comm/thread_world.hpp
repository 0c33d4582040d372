// Ranks as threads of one process: for tests, and for small machines without MPI.
#pragma once

#include <functional>
#include <memory>

#include "train/comm/communicator.hpp"

namespace goban::train::comm {

/// The meeting place of `size` ranks. Reductions are always in rank order.
class ThreadWorld {
 public:
  ThreadWorld(int size, Options options);
  ~ThreadWorld();
  /// The end of `rank`; valid while the world lives, driven by one thread.
  [[nodiscard]] Communicator& communicator(int rank);

  struct Shared;  // the mutex and the meetings, known to the source file only

 private:
  std::shared_ptr<Shared> shared_;
  std::vector<std::unique_ptr<Communicator>> ends_;
};

/// Runs `body` once a rank, each on a thread of its own, and returns the first failure in time.
/// A rank that returns a failure releases all others from waiting.
[[nodiscard]] base::Status run_threads(int size, Options options,
                                       const std::function<base::Status(Communicator&)>& body);

}  // namespace goban::train::comm
