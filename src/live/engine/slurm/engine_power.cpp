// How the engine lets nodes sleep and wakes them.
#include "base/clock.hpp"
#include "live/engine/slurm/slurm_engine.hpp"

namespace goban::live::engine::slurm {

void SlurmEngine::set_power(const std::string& node, bool down) {
  const auto lines = power_lines(node, down);
  if (!lines || !options_.sleep) return;
  // If Slurm refuses, the node stays awake, which wake() will find.
  bool unsure = false;
  (void)order({*lines}, unsure);
}

void SlurmEngine::rest(const std::string& node) {
  post([this, node] {
    waking_.erase(node);
    set_power(node, true);
  });
}

void SlurmEngine::wake(const std::string& node) {
  post([this, node] {
    set_power(node, false);
    waking_[node] = base::steady_ns();
  });
}

std::vector<Report> SlurmEngine::woken() {
  constexpr base::TimeNs kAgain_ns = 30 * base::kSecond;
  std::vector<Report> reports;
  for (const NodeRow& row : questions_.nodes()) {
    const auto told = waking_.find(row.node.name);
    if (told == waking_.end() || questions_.nodes_at_ns() < told->second) continue;
    if (row.node.state == SeenNodeState::Down) {
      waking_.erase(told);  // the list of nodes says so, and that it is back
    } else if (!row.sleeps) {
      reports.push_back({.kind = ReportKind::NodeUp, .node = row.node.name});
      waking_.erase(told);
    } else if (base::steady_ns() > told->second + kAgain_ns) {
      set_power(row.node.name, false);
      told->second = base::steady_ns();
    }
  }
  return reports;
}

}  // namespace goban::live::engine::slurm
