#include "serve/daemon/daemon_client.hpp"

#include <utility>

namespace goban::serve::daemon {

base::Result<live::loop::Answer> DaemonDesk::ask(live::controller::Input input) {
  return daemon_.ask(std::move(input));
}

base::Status DaemonDesk::check(const live::controller::Input& input) const {
  base::Status status;
  daemon_.look(
      [&](const live::controller::Controller& controller) { status = controller.check(input); });
  return status;
}

void DaemonDesk::look(const std::function<void(const api::Scene&)>& see) const {
  daemon_.look([&](const live::controller::Controller& controller) {
    see({.book = controller.book(),
         .site = controller.site(),
         .drained = controller.drained(),
         .core = &controller.core(),
         .now_ns = controller.now_ns(),
         .colocation = [&controller] { return controller.colocation(); }});
  });
}

live::loop::DaemonStats DaemonDesk::stats() const { return daemon_.stats(); }
uint64_t DaemonDesk::version() const { return daemon_.version(); }
uint64_t DaemonDesk::wait_for_change(uint64_t seen, base::TimeNs timeout_ns) const {
  return daemon_.wait_for_change(seen, timeout_ns);
}

}  // namespace goban::serve::daemon
