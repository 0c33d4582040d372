// Keeps the Lease at the API server, with a thread and a connection of its own, so that nothing
// else delays it.
#pragma once

#include <atomic>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "live/engine/kubernetes/api.hpp"
#include "live/engine/kubernetes/lease.hpp"

namespace goban::live::engine::kubernetes {

/// Path of a Lease, NAMESPACE/NAME.
[[nodiscard]] std::string lease_path(std::string_view place);

class LeaseKeeper {
 public:
  /// `place`: NAMESPACE/NAME. `changed` is called by another thread when may_write() has changed.
  LeaseKeeper(std::shared_ptr<Credentials> credentials, std::string place, const LeaseTerms& terms,
              std::function<void()> changed);
  /// Ends the thread. The Lease is not given back: a restart of this daemon takes it at once, and
  /// nobody else is to meanwhile.
  ~LeaseKeeper();
  LeaseKeeper(const LeaseKeeper&) = delete;
  LeaseKeeper& operator=(const LeaseKeeper&) = delete;

  /// A commit cycle was completed.
  void beat();
  /// Now, and for as long as a request may take.
  [[nodiscard]] bool may_write() const;
  [[nodiscard]] bool is_lost() const;
  [[nodiscard]] uint64_t epoch() const;
  [[nodiscard]] uint64_t first_epoch() const;
  /// Why the Lease could not be read or written last; empty: it could.
  [[nodiscard]] std::string problem() const;

 private:
  void run();
  void step(Api& api);
  void look(Api& api);

  std::shared_ptr<Credentials> credentials_;
  std::string place_;
  std::string path_;
  TimeNs takeover_ns_;
  std::function<void()> changed_;
  std::atomic<bool> ending_{false};
  mutable std::mutex mutex_;
  std::condition_variable wake_;
  Leadership leadership_;
  TimeNs beat_ns_ = -1;
  bool is_known_ = false;  ///< the Lease need not be read before it is written
  std::string problem_;
  std::thread thread_;
};

}  // namespace goban::live::engine::kubernetes
