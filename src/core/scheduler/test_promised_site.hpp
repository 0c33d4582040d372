// For tests of promised nodes: a core that is told its events one by one.
#pragma once

#include <vector>

#include "core/model/cluster_presets.hpp"
#include "core/policy/compose.hpp"
#include "core/scheduler/core.hpp"

namespace goban::core::scheduler {

/// `across`: the penalty of jobs that span nodes.
struct PromisedSite {
  PromisedSite(const char* preset, double across, const policy::Composition& composition)
      : cluster(model::make_preset(preset).value()),
        scores(knowledge::PmScores::uniform(cluster.num_gpus())),
        penalties(cluster, across),
        core(policy::SpeedModel{&cluster, &scores, &penalties}, composition.make(context), context,
             1) {}

  void promise(ReservationId id, TimeNs from, TimeNs until, const std::vector<NodeId>& nodes) {
    (void)core.apply({.kind = model::EventKind::NodesPromised,
                      .at_ns = now,
                      .until_ns = until,
                      .reservation = id,
                      .from_ns = from,
                      .nodes = nodes});
  }
  void submit(JobId job, const model::JobRequest& request, model::RunForecast forecast = {}) {
    (void)core.apply({.kind = model::EventKind::JobSubmitted,
                      .at_ns = now,
                      .job = job,
                      .request = &request,
                      .forecast = forecast});
  }
  JobId submit(int32_t gpus, TimeNs limit, ReservationId whose = {}, int32_t priority = 0) {
    model::JobRequest request;
    request.num_gpus = gpus;
    request.priority = priority;
    request.walltime_limit_ns = limit;
    request.reservation = whose;
    const JobId job(submitted++);
    submit(job, request);
    return job;
  }
  void end(JobId job) {
    (void)core.apply({.kind = model::EventKind::JobFinished, .at_ns = now, .job = job});
  }
  std::vector<JobId> decide(TimeNs at) {
    now = at;
    return core.decide(now).placed;
  }
  /// The node of each of its GPUs.
  std::vector<uint32_t> nodes_of(JobId job) {
    std::vector<uint32_t> nodes;
    for (const GpuId gpu : core.allocation(job).gpus) nodes.push_back(cluster.node_of(gpu).value);
    return nodes;
  }

  model::Cluster cluster;
  knowledge::PmScores scores;
  knowledge::LocalityPenalties penalties;
  policy::RunContext context{};
  Core core;
  TimeNs now = 0;
  uint32_t submitted = 0;
};

}  // namespace goban::core::scheduler
