// What the API needs of the live scheduler. A narrow interface, so that its tests need no daemon.
#pragma once

#include <functional>
#include <map>
#include <string>

#include "live/controller/controller.hpp"
#include "live/loop/live_scheduler.hpp"

namespace goban::serve::api {

/// The scheduler's state, while a client reads it and nothing changes it.
struct SchedulerSnapshot {
  const live::controller::JobBook& book;
  /// Its cluster never changes, and lives as long as the client.
  const live::controller::Site& site;
  const std::map<core::model::NodeId, std::string>& drained;
  const core::scheduler::Core* core = nullptr;  ///< null: why jobs wait is not known
  base::TimeNs now_ns = 0;
  /// What is known of jobs that shared GPUs; empty: it is not kept.
  std::function<core::knowledge::ColocationHistory()> colocation{};
};

/// A connection to the scheduler. From any thread.
class SchedulerClient {
 public:
  virtual ~SchedulerClient() = default;
  [[nodiscard]] virtual base::Result<live::loop::Answer> ask(live::controller::Input input) = 0;
  /// Fine if the scheduler would accept this input now. Errors: why it would not.
  [[nodiscard]] virtual base::Status check(const live::controller::Input& input) const = 0;
  /// Gives a snapshot to `see`; be quick, the scheduler waits.
  virtual void look(const std::function<void(const SchedulerSnapshot&)>& see) const = 0;
  [[nodiscard]] virtual live::loop::DaemonStats stats() const = 0;
  [[nodiscard]] virtual uint64_t version() const = 0;
  [[nodiscard]] virtual uint64_t wait_for_change(uint64_t seen, base::TimeNs timeout_ns) const = 0;
};

}  // namespace goban::serve::api
