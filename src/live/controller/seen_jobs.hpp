// Jobs of an engine's own queue (JobSeen, JobGone), and resources that somebody else gave away.
#pragma once

#include <vector>

#include "live/controller/nodes.hpp"

namespace goban::live::controller {

class SeenJobs {
 public:
  struct Parts {
    JobBook& book;
    const DecisionCore& core;
    Runs& runs;
    Jobs& jobs;
    Nodes& nodes;
    std::vector<Order>& orders;
  };
  /// The parts outlive this.
  explicit SeenJobs(const Parts& parts) : parts_(parts) {}

  void take(const JobSeen& seen, TimeNs at);
  void take(const JobGone& gone, TimeNs at);

  // Steps shared with engine reports.
  /// The engine gave a run these parts; empty: what was ordered.
  void given(LiveJob& job, LiveRun& run, const std::vector<NodePart>& parts, TimeNs at);
  /// A run has ended: what it held without the core is free.
  void left(LiveJob& job, const LiveRun& run, TimeNs at);

  /// The cluster became another one: what others hold is found again, and what did not fit may.
  void check_again(TimeNs at);

  /// The jobs of the engine's queue that have not ended.
  [[nodiscard]] std::vector<KnownJob> known() const;
  /// Orders to end jobs that the engine has not confirmed.
  [[nodiscard]] std::vector<Order> unanswered() const;

 private:
  [[nodiscard]] LiveJob* find(const std::string& id);
  LiveJob& add(const JobSeen& seen, TimeNs at);
  void follow_unmanaged(LiveJob& job, const JobSeen& seen, TimeNs at);
  void follow_managed(LiveJob& job, const JobSeen& seen, TimeNs at);
  void follow_waiting(LiveJob& job, const JobSeen& seen, TimeNs at);
  /// A job that runs without an order of ours becomes a run of ours.
  void adopt(LiveJob& job, const JobSeen& seen, TimeNs at);
  /// Takes over what the engine says of the job itself.
  void describe(LiveJob& job, const JobSeen& seen) const;
  /// The job holds these parts, wherever the core would have placed it.
  void hold(LiveJob& job, const std::vector<NodePart>& parts, TimeNs until_ns, TimeNs at);
  /// An engine that chooses GPUs itself gave these to a run instead of `before`. Runs that are
  /// ordered there, and have not been reported, get the others: nothing collides.
  void exchange(const LiveRun& run, const std::vector<GpuId>& now, std::vector<GpuId> before,
                TimeNs at);
  void let_go(LiveJob& job, TimeNs at);
  /// Ends all runs of the job and takes it out of the core.
  void clear(LiveJob& job, const Report& end, TimeNs at);

  Parts parts_;
};

}  // namespace goban::live::controller
