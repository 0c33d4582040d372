#include "serve/agent/report_queue.hpp"

#include <algorithm>
#include <utility>

namespace goban::serve::agent {

using base::TimeNs;
using site::telemetry::AgentReport;
using site::telemetry::AgentSample;
using site::telemetry::kAgentAgeMax_s;
using site::telemetry::kAgentSamplesMax;

void ReportQueue::drop_first() {
  samples_.pop_front();
  ++dropped_;
  // It may have arrived; that is not known, so it counts as dropped.
  if (in_flight_ > 0) --in_flight_;
}

void ReportQueue::add(TimeNs at_ns, std::vector<AgentSample> samples) {
  for (AgentSample& sample : samples) samples_.push_back({at_ns, std::move(sample)});
  while (samples_.size() > most_) drop_first();
}

AgentReport ReportQueue::next(TimeNs now_ns) {
  // The daemon would refuse the whole report, again and again.
  constexpr TimeNs kOldest = static_cast<TimeNs>(kAgentAgeMax_s) * base::kSecond;
  while (!samples_.empty() && now_ns - samples_.front().at_ns > kOldest) drop_first();
  if (!is_open_) {
    is_open_ = true;
    ++sequence_;
    in_flight_ = std::min(samples_.size(), kAgentSamplesMax);
  }
  AgentReport out;
  out.agent = agent_;
  out.sequence = sequence_;
  out.dropped = dropped_;
  for (size_t i = 0; i < in_flight_; ++i) {
    AgentSample& sample = out.samples.emplace_back(samples_[i].sample);
    sample.age_s = base::to_seconds(std::max<TimeNs>(now_ns - samples_[i].at_ns, 0));
  }
  return out;
}

void ReportQueue::delivered() {
  samples_.erase(samples_.begin(), samples_.begin() + static_cast<std::ptrdiff_t>(in_flight_));
  in_flight_ = 0;
  is_open_ = false;
}

TimeNs BackOff::failed(double random) {
  constexpr TimeNs kFirst = base::kSecond;
  constexpr TimeNs kMost = 60 * base::kSecond;
  pause_ns_ = pause_ns_ == 0 ? kFirst : std::min(2 * pause_ns_, kMost);
  // Between half and all of it.
  return static_cast<TimeNs>(static_cast<double>(pause_ns_) * (0.5 + 0.5 * random));
}

}  // namespace goban::serve::agent
