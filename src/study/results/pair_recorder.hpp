// Watches a simulated run and counts how long which applications were together on a GPU.
#pragma once

#include <map>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "engine/simulated/simulation.hpp"
#include "model/cluster.hpp"

namespace goban::report {

/// Of all jobs whose application is known, fillers too. Three jobs on a GPU are three pairs.
/// Memory: the pairs that met, and the GPUs of the running jobs. Cost of an action: the GPUs of the
/// job x who else is on them.
class PairRecorder final : public engine::Observer {
 public:
  /// `cluster` and `next` (may be null; gets every call first) outlive the recorder.
  PairRecorder(const model::Cluster& cluster, engine::Observer* next);

  void decided(const scheduler::Decision& decision, const scheduler::Core& core) override;
  void acted(base::TimeNs now, const model::Action& action, const scheduler::Core& core) override;
  void awake(base::TimeNs now, model::NodeId node) override;
  void job_ended(base::TimeNs now, model::JobId job, engine::JobEnd end) override;
  void ended(base::TimeNs now) override;

  /// A GPU model (index of Cluster::gpu_models) and two applications, the smaller id first.
  using Pair = std::tuple<size_t, model::AppId, model::AppId>;
  /// GPU-seconds together; pairs that never met are not there.
  [[nodiscard]] const std::map<Pair, double>& together_s() const { return together_s_; }

 private:
  struct Tenant {
    model::JobId job;
    model::AppId app;
    base::TimeNs since_ns = 0;
  };

  void stop(base::TimeNs now, model::JobId job);
  void add(model::GpuId gpu, const Tenant& one, const Tenant& other, base::TimeNs now);

  const model::Cluster& cluster_;
  engine::Observer* next_;
  std::vector<std::vector<Tenant>> tenants_;  ///< by GPU
  std::unordered_map<model::JobId, std::vector<model::GpuId>> gpus_of_;
  std::map<Pair, double> together_s_;
};

}  // namespace goban::report
