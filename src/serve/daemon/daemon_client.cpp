#include "serve/daemon/daemon_client.hpp"

#include <utility>

namespace goban::serve::daemon {

base::Result<live::loop::Answer> DaemonClient::ask(live::controller::Input input) {
  return daemon_.ask(std::move(input));
}

base::Status DaemonClient::check(const live::controller::Input& input) const {
  base::Status status;
  daemon_.look(
      [&](const live::controller::Controller& controller) { status = controller.check(input); });
  return status;
}

void DaemonClient::look(const std::function<void(const api::SchedulerSnapshot&)>& see) const {
  daemon_.look([&](const live::controller::Controller& controller) {
    see({.book = controller.book(),
         .site = controller.site(),
         .drained = controller.drained(),
         .core = &controller.core(),
         .now_ns = controller.now_ns(),
         .colocation = [&controller] { return controller.colocation(); }});
  });
}

live::loop::DaemonStats DaemonClient::stats() const { return daemon_.stats(); }
uint64_t DaemonClient::version() const { return daemon_.version(); }
uint64_t DaemonClient::wait_for_change(uint64_t seen, base::TimeNs timeout_ns) const {
  return daemon_.wait_for_change(seen, timeout_ns);
}

}  // namespace goban::serve::daemon
