// Observes a simulated run and records for how long pairs of applications shared a GPU.
#pragma once

#include <map>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "core/model/cluster.hpp"
#include "study/simulator/simulation.hpp"

namespace goban::study::results {

/// Covers all jobs whose application is known, including fillers. Three jobs on a GPU are three
/// pairs. Memory: the pairs that shared a GPU, and the GPUs of the running jobs. Cost of an action:
/// the GPUs of the job x the other jobs on them.
class PairRecorder final : public simulator::Observer {
 public:
  /// `cluster` and `next` must outlive the recorder. `next` may be null; it receives every call
  /// first.
  PairRecorder(const core::model::Cluster& cluster, simulator::Observer* next);

  void decided(const core::scheduler::Decision& decision,
               const core::scheduler::Core& core) override;
  void acted(base::TimeNs now, const core::model::Action& action,
             const core::scheduler::Core& core) override;
  void awake(base::TimeNs now, core::model::NodeId node) override;
  void job_ended(base::TimeNs now, core::model::JobId job, simulator::JobEnd end) override;
  void ended(base::TimeNs now) override;

  /// A GPU model (index of Cluster::gpu_models) and two applications, the smaller id first.
  using Pair = std::tuple<size_t, core::model::AppId, core::model::AppId>;
  /// GPU-seconds of sharing; pairs that never shared a GPU are absent.
  [[nodiscard]] const std::map<Pair, double>& together_s() const { return together_s_; }

 private:
  struct Tenant {
    core::model::JobId job;
    core::model::AppId app;
    base::TimeNs since_ns = 0;
  };

  void stop(base::TimeNs now, core::model::JobId job);
  void add(core::model::GpuId gpu, const Tenant& one, const Tenant& other, base::TimeNs now);

  const core::model::Cluster& cluster_;
  simulator::Observer* next_;
  std::vector<std::vector<Tenant>> tenants_;  ///< by GPU
  std::unordered_map<core::model::JobId, std::vector<core::model::GpuId>> gpus_of_;
  std::map<Pair, double> together_s_;
};

}  // namespace goban::study::results
