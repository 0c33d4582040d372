// What engines of a cluster share: a thread of their own that asks the cluster and carries out
// orders, so that a slow or dead cluster delays nothing else. Orders reach the thread through an
// inbox; events leave it through an outbox.
#pragma once

#include <atomic>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "live/engine/cluster/ledger.hpp"
#include "live/engine/cluster/picture.hpp"

namespace goban::live::engine::cluster {

/// Starts no thread before the first call. A derived class implements run() and recall(), and its
/// destructor calls end() first.
class ClusterEngine : public Engine {
 public:
  ClusterEngine(const ClusterEngine&) = delete;
  ClusterEngine& operator=(const ClusterEngine&) = delete;
  ~ClusterEngine() override = default;

  void launch(const LaunchOrder& order) final;
  void stop(RunId run, StopReason reason) final;
  void resume(const LaunchOrder& order) final;
  /// The cluster keeps its own records; nothing of ours is left there.
  void forget(JobId job, const std::string& payload) final;
  void withdraw(JobId job, const std::string& engine_id) final;
  [[nodiscard]] std::vector<EngineEvent> take_events() final;

 protected:
  explicit ClusterEngine(Patience patience) : ledger_(patience) {}

  /// The thread, until `ending_`.
  virtual void run() = 0;
  /// Hands something to the thread, which is started if it does not run yet.
  void post(std::function<void()> order);
  /// Does what was posted. Called by the thread.
  void do_posted();
  /// Events for the receiver: `events`, then what differs between `picture` and what it was told
  /// last. True: there was something to tell. Called by the thread.
  bool tell(std::vector<EngineEvent> events, Picture picture);
  /// Ends the thread and waits for it.
  void end();

  std::atomic<bool> ending_{false};
  mutable std::mutex mutex_;
  std::condition_variable wake_;              ///< notified after a post and at the end
  std::vector<std::function<void()>> inbox_;  ///< guarded by mutex_

  // Used by the thread alone.
  Ledger ledger_;
  Picture told_;
  bool has_told_ = false;

 private:
  std::vector<EngineEvent> outbox_;  ///< guarded by mutex_
  std::thread thread_;
};

}  // namespace goban::live::engine::cluster
