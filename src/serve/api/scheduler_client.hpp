// What the API needs of the live scheduler: a narrow door, so that its tests need no daemon.
#pragma once

#include <functional>
#include <map>
#include <string>

#include "live/controller/controller.hpp"
#include "live/loop/live_scheduler.hpp"

namespace goban::serve::api {

/// The scheduler's state while nobody changes it.
struct Scene {
  const live::controller::JobBook& book;
  const live::controller::Site& site;  ///< its cluster never changes, and lives as long as the desk
  const std::map<core::model::NodeId, std::string>& drained;
  const core::scheduler::Core* core = nullptr;  ///< null: nobody knows why a job waits
  base::TimeNs now_ns = 0;
  /// What is known of jobs that shared GPUs; empty: nobody keeps it.
  std::function<core::knowledge::ColocationHistory()> colocation{};
};

/// From any thread.
class Desk {
 public:
  virtual ~Desk() = default;
  [[nodiscard]] virtual base::Result<live::loop::Answer> ask(live::controller::Input input) = 0;
  /// Why the scheduler would not take this now, if it would not.
  [[nodiscard]] virtual base::Status check(const live::controller::Input& input) const = 0;
  /// Be quick: the scheduler waits.
  virtual void look(const std::function<void(const Scene&)>& see) const = 0;
  [[nodiscard]] virtual live::loop::DaemonStats stats() const = 0;
  [[nodiscard]] virtual uint64_t version() const = 0;
  [[nodiscard]] virtual uint64_t wait_for_change(uint64_t seen, base::TimeNs timeout_ns) const = 0;
};

}  // namespace goban::serve::api
