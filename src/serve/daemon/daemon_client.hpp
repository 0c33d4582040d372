// The scheduler client of a live scheduler in the same process.
#pragma once

#include "serve/api/scheduler_client.hpp"

namespace goban::serve::daemon {

class DaemonClient final : public api::SchedulerClient {
 public:
  /// `daemon` outlives the client.
  explicit DaemonClient(live::loop::Daemon& daemon) : daemon_(daemon) {}
  base::Result<live::loop::Answer> ask(live::controller::Input input) override;
  base::Status check(const live::controller::Input& input) const override;
  void look(const std::function<void(const api::SchedulerSnapshot&)>& see) const override;
  live::loop::DaemonStats stats() const override;
  uint64_t version() const override;
  uint64_t wait_for_change(uint64_t seen, base::TimeNs timeout_ns) const override;

 private:
  live::loop::Daemon& daemon_;
};

}  // namespace goban::serve::daemon
