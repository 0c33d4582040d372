// The desk of a real daemon.
#pragma once

#include "service/desk.hpp"

namespace goban::service {

class DaemonDesk final : public Desk {
 public:
  /// `daemon` outlives the desk.
  explicit DaemonDesk(live::Daemon& daemon) : daemon_(daemon) {}
  base::Result<live::Daemon::Answer> ask(live::Input input) override;
  base::Status check(const live::Input& input) const override;
  void look(const std::function<void(const Scene&)>& see) const override;
  live::DaemonStats stats() const override;
  uint64_t version() const override;
  uint64_t wait_for_change(uint64_t seen, live::TimeNs timeout_ns) const override;

 private:
  live::Daemon& daemon_;
};

}  // namespace goban::service
