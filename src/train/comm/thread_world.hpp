// Ranks as threads of one process, for tests and for machines without MPI.
#pragma once

#include <functional>
#include <memory>

#include "train/comm/communicator.hpp"

namespace goban::train::comm {

/// A world of `size` ranks. Reductions are always in rank order.
class ThreadWorld {
 public:
  ThreadWorld(int size, Options options);
  ~ThreadWorld();
  /// The communicator of `rank`; valid during the lifetime of the world; driven by one thread.
  [[nodiscard]] Communicator& communicator(int rank);

  struct Shared;  // mutex and meetings; defined in the source file

 private:
  std::shared_ptr<Shared> shared_;
  std::vector<std::unique_ptr<Communicator>> ends_;
};

/// Runs `body` once per rank, each in a separate thread, and returns the failure that occurred
/// first. A rank that returns a failure releases all others from waiting.
[[nodiscard]] base::Status run_threads(int size, Options options,
                                       const std::function<base::Status(Communicator&)>& body);

}  // namespace goban::train::comm
