// The samples that an agent has not delivered, in memory and bounded: the oldest are dropped. Pure.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "base/time.hpp"
#include "site/telemetry/agent_report.hpp"

namespace goban::serve::agent {

class ReportQueue {
 public:
  /// `agent`: a word of its own for each start.
  ReportQueue(std::string agent, size_t most) : agent_(std::move(agent)), most_(most) {}

  /// Readings that ended at `at_ns` of a monotonic clock.
  void add(base::TimeNs at_ns, std::vector<site::telemetry::AgentSample> samples);
  /// The next report, with the oldest samples. Until delivered() it is the same one, with newer
  /// ages; what was dropped meanwhile is missing. Samples of more than kAgentAgeMax_s are dropped.
  [[nodiscard]] site::telemetry::AgentReport next(base::TimeNs now_ns);
  void delivered();
  /// There are more samples than one report holds.
  [[nodiscard]] bool has_more() const { return samples_.size() > in_flight_; }
  [[nodiscard]] size_t size() const { return samples_.size(); }

 private:
  struct Entry {
    base::TimeNs at_ns = 0;
    site::telemetry::AgentSample sample{};
  };
  void drop_first();
  std::string agent_;
  size_t most_;
  std::deque<Entry> samples_{};
  size_t in_flight_ = 0;  ///< of the first ones
  bool is_open_ = false;  ///< a report was made and not delivered
  int64_t sequence_ = 0;
  int64_t dropped_ = 0;
};

/// Pauses between attempts: doubled from one second to a minute, and spread, so that the agents of
/// a cluster do not return at one moment. `random`: 0 to 1.
class BackOff {
 public:
  [[nodiscard]] base::TimeNs failed(double random);
  void succeeded() { pause_ns_ = 0; }

 private:
  base::TimeNs pause_ns_ = 0;
};

}  // namespace goban::serve::agent
