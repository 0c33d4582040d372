// The interface by which the HTTP handlers talk to the live scheduler. It is narrow, so that tests
// of the handlers need no daemon.
#pragma once

#include <functional>
#include <map>
#include <string>

#include "live/controller/controller.hpp"
#include "live/loop/live_scheduler.hpp"

namespace goban::serve::api {

/// A read-only view of the scheduler's state. It does not change while a client reads it.
struct SchedulerSnapshot {
  const live::controller::JobBook& book;
  /// Its cluster never changes and lives as long as the client.
  const live::controller::Site& site;
  const std::map<core::model::NodeId, std::string>& drained;
  const core::scheduler::Core* core = nullptr;  ///< null: the reasons why jobs wait are unknown
  base::TimeNs now_ns = 0;
  /// Returns the co-location history; empty function: none is kept.
  std::function<core::knowledge::ColocationHistory()> colocation{};
};

/// A connection to the scheduler. Thread-safe.
class SchedulerClient {
 public:
  virtual ~SchedulerClient() = default;
  [[nodiscard]] virtual base::Result<live::loop::Answer> ask(live::controller::Input input) = 0;
  /// Succeeds if the scheduler would accept this input now. Errors: the reason why it would not.
  [[nodiscard]] virtual base::Status check(const live::controller::Input& input) const = 0;
  /// Passes a snapshot to `see`. The scheduler is blocked meanwhile, so `see` must be fast.
  virtual void look(const std::function<void(const SchedulerSnapshot&)>& see) const = 0;
  [[nodiscard]] virtual live::loop::DaemonStats stats() const = 0;
  [[nodiscard]] virtual uint64_t version() const = 0;
  [[nodiscard]] virtual uint64_t wait_for_change(uint64_t seen, base::TimeNs timeout_ns) const = 0;
};

}  // namespace goban::serve::api
