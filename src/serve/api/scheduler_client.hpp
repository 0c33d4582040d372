// What the API needs of the live scheduler: a narrow door, so that its tests need no daemon.
#pragma once

#include <functional>
#include <map>
#include <string>

#include "live/controller/controller.hpp"
#include "live/daemon.hpp"

namespace goban::service {

/// The scheduler's state while nobody changes it.
struct Scene {
  const live::JobBook& book;
  const live::Site& site;  ///< its cluster never changes, and lives as long as the desk
  const std::map<live::NodeId, std::string>& drained;
  const scheduler::Core* core = nullptr;  ///< null: nobody knows why a job waits
  live::TimeNs now_ns = 0;
  /// What is known of jobs that shared GPUs; empty: nobody keeps it.
  std::function<profile::ColocationHistory()> colocation{};
};

/// From any thread.
class Desk {
 public:
  virtual ~Desk() = default;
  [[nodiscard]] virtual base::Result<live::Daemon::Answer> ask(live::Input input) = 0;
  /// Why the scheduler would not take this now, if it would not.
  [[nodiscard]] virtual base::Status check(const live::Input& input) const = 0;
  /// Be quick: the scheduler waits.
  virtual void look(const std::function<void(const Scene&)>& see) const = 0;
  [[nodiscard]] virtual live::DaemonStats stats() const = 0;
  [[nodiscard]] virtual uint64_t version() const = 0;
  [[nodiscard]] virtual uint64_t wait_for_change(uint64_t seen, live::TimeNs timeout_ns) const = 0;
};

}  // namespace goban::service
