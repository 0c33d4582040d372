#include "service/daemon_desk.hpp"

#include <utility>

namespace goban::service {

base::Result<live::Daemon::Answer> DaemonDesk::ask(live::Input input) {
  return daemon_.ask(std::move(input));
}

base::Status DaemonDesk::check(const live::Input& input) const {
  base::Status status;
  daemon_.look([&](const live::Controller& controller) { status = controller.check(input); });
  return status;
}

void DaemonDesk::look(const std::function<void(const Scene&)>& see) const {
  daemon_.look([&](const live::Controller& controller) {
    see({.book = controller.book(),
         .site = controller.site(),
         .drained = controller.drained(),
         .core = &controller.core(),
         .now_ns = controller.now_ns(),
         .colocation = [&controller] { return controller.colocation(); }});
  });
}

live::DaemonStats DaemonDesk::stats() const { return daemon_.stats(); }
uint64_t DaemonDesk::version() const { return daemon_.version(); }
uint64_t DaemonDesk::wait_for_change(uint64_t seen, live::TimeNs timeout_ns) const {
  return daemon_.wait_for_change(seen, timeout_ns);
}

}  // namespace goban::service
