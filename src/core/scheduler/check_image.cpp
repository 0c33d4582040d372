#include <algorithm>
#include <fmt/format.h>
#include <set>

#include "core/scheduler/core_image.hpp"

namespace goban::core::scheduler {
namespace {

using model::GroupId;
using model::JobPhase;
using model::KindId;

/// Finds the first inconsistency.
class Check {
 public:
  Check(const CoreImage& image, const model::Cluster& cluster, int32_t jobs_per_gpu_max)
      : image_(image), cluster_(cluster), jobs_per_gpu_max_(jobs_per_gpu_max) {}

  std::string problem() {
    const size_t num_nodes = cluster_.nodes().size();
    require(image_.num_gpus == cluster_.num_gpus() && image_.nodes.size() == num_nodes,
            "it is for a cluster of {} nodes and {} GPUs; this one has {} and {}",
            image_.nodes.size(), image_.num_gpus, num_nodes, cluster_.num_gpus());
    require(image_.node_power.states.size() == num_nodes &&
                image_.node_power.due_ns.size() == num_nodes,
            "the number of power states differs from the number of nodes");
    if (problem_.empty()) check_promises();
    if (problem_.empty()) check_jobs();
    if (problem_.empty()) check_running();
    if (problem_.empty()) check_found();
    if (problem_.empty()) check_arrays();
    if (problem_.empty() && image_.tenants) check_tenants(*image_.tenants);
    if (problem_.empty() && image_.sharing) check_sharing(*image_.sharing);
    return problem_;
  }

 private:
  template <typename... Args>
  void require(bool holds, fmt::format_string<Args...> format, Args&&... args) {
    if (holds || !problem_.empty()) return;
    problem_ = fmt::format(format, std::forward<Args>(args)...);
  }

  void check_promises() {
    PromisedNodes promised(cluster_.nodes().size());
    for (const PromisedNodes::Promise& each : image_.promises) {
      const std::string wrong = promised.problem(each);
      require(wrong.empty(), "invalid reservation: {}", wrong);
      if (!problem_.empty()) return;
      promised.add(each);
    }
  }

  void check_jobs() {
    const size_t num_slots = image_.jobs.size() + image_.free_slots.size();
    std::vector<bool> used(num_slots);
    const auto take = [&](Slot slot) {
      require(slot < num_slots && !used[slot], "slot {} is a duplicate or out of range", slot);
      if (problem_.empty()) used[slot] = true;
    };
    std::set<uint32_t> arrivals;
    for (const CoreImage::Job& job : image_.jobs) {
      take(job.slot);
      const JobId id = job.state.job;
      require(id.valid() && jobs_.insert(id).second, "job id {} is a duplicate or invalid",
              id.value);
      require(arrivals.insert(job.state.arrival).second && job.state.arrival < image_.arrivals,
              "job id {} has a duplicate or invalid arrival", id.value);
      const model::ResourceTypeId type = job.state.request.resource_type;
      require(!type.valid() || type.index() < cluster_.resource_types().size(),
              "job id {} requests an unknown resource type", id.value);
      check_gpus(job.last_gpus);
    }
    for (const Slot slot : image_.free_slots) take(slot);
  }

  void check_gpus(const std::vector<GpuId>& gpus) {
    for (const GpuId gpu : gpus) {
      require(gpu.index() < cluster_.num_gpus(), "GPU {} is not in the cluster", gpu.value);
    }
  }

  void check_running() {
    size_t num_running = 0;
    for (const CoreImage::Job& job : image_.jobs) {
      num_running += job.state.phase == JobPhase::Running ? 1 : 0;
    }
    std::vector<bool> places(num_running);
    std::vector<int32_t> held(cluster_.num_gpus());
    std::vector<model::HostResources> hosts;
    for (const model::Node& node : cluster_.nodes()) hosts.push_back(node.host);
    for (const CoreImage::Job& job : image_.jobs) {
      if (job.state.phase != JobPhase::Running) continue;
      const uint32_t place = job.state.running_slot;
      require(place < num_running && !places[place],
              "position {} of the running jobs is a duplicate or out of range", place);
      check_gpus(job.allocation.gpus);
      const auto gpus = static_cast<int64_t>(job.allocation.gpus.size());
      require(gpus == job.state.request.num_gpus, "job id {} requests {} GPUs and holds {}",
              job.state.job.value, job.state.request.num_gpus, gpus);
      if (!problem_.empty()) return;
      places[place] = true;
      for (const GpuId gpu : job.allocation.gpus) {
        require(++held[gpu.index()] <= jobs_per_gpu_max_,
                "GPU {} is held by more jobs than the policy allows", gpu.value);
        check_open(cluster_.node_of(gpu));
      }
      check_hosts(job, hosts);
    }
  }

  void check_found() {
    std::set<Holder> holders;
    for (const CoreImage::Found& each : image_.found) {
      require(holders.insert({each.job, each.gpu}).second && each.job.valid() != each.gpu.valid(),
              "a holder of found resources is a duplicate or invalid");
      check_gpus(each.held.gpus);
      for (const model::HostPart& part : each.held.hosts) {
        require(part.node.index() < image_.nodes.size(), "node {} is not in the cluster",
                part.node.value);
      }
    }
  }

  void check_open(model::NodeId node) {
    require(image_.nodes[node.index()].is_open, "a job runs on closed node {}", node.value);
  }

  void check_hosts(const CoreImage::Job& job, std::vector<model::HostResources>& hosts) {
    const auto type = job.state.request.resource_type;
    for (const model::NodeId node : job.allocation.hosts) {
      require(type.valid() && node.index() < hosts.size(),
              "job id {} holds part of node {} without a valid resource type or node",
              job.state.job.value, node.value);
      if (!problem_.empty()) return;
      check_open(node);
      const model::HostResources& asked = cluster_.resource_type(type).host;
      require(hosts[node.index()].covers(asked), "node {} is overcommitted", node.value);
      hosts[node.index()] -= asked;
    }
  }

  void check_job(JobId job) { require(jobs_.contains(job), "job id {} is unknown", job.value); }

  void check_arrays() {
    for (const CoreImage::Array& array : image_.arrays) {
      for (const JobId job : array.held) check_job(job);
    }
  }

  void check_tenants(const model::Tenants::Image& tenants) {
    const auto group = [&](GroupId id) {
      require(id.index() < tenants.groups.size(), "unknown group {}", id.value);
    };
    const auto kind = [&](KindId id) {
      require(id.index() < tenants.kinds.size(), "unknown kind {}", id.value);
    };
    for (const auto& each : tenants.groups) {
      check_gpus(each.gpus);
      for (const JobId job : each.jobs) check_job(job);
      if (!each.jobs.empty()) kind(each.kind);
      for (const auto traits : each.traits) {
        require(traits.index() < tenants.traits.size(), "unknown traits {}", traits.value);
      }
    }
    for (const auto& each : tenants.kinds) {
      for (const GroupId id : each.groups) group(id);
    }
    for (const auto& alike : tenants.kinds_by_size) {
      for (const KindId id : alike) kind(id);
    }
    for (const KindId id : tenants.free_kinds) kind(id);
    for (const GroupId id : tenants.free_groups) group(id);
    for (const auto& [job, groups] : tenants.groups_of_jobs) {
      check_job(job);
      for (const GroupId id : groups) group(id);
    }
    check_gpus(tenants.recapped);
  }

  void check_sharing(const SharingBooks::Image& sharing) {
    const size_t num_groups = image_.tenants ? image_.tenants->groups.size() : 0;
    require(sharing.caps.size() == cluster_.num_gpus(),
            "the number of power limits differs from the number of GPUs");
    const auto group = [&](GroupId id) {
      require(id.index() < num_groups, "unknown group {}", id.value);
    };
    for (const auto* ids : {&sharing.due, &sharing.due_observed, &sharing.uncapped}) {
      for (const GroupId id : *ids) group(id);
    }
    for (const auto& each : sharing.observations) {
      group(each.group);
      require(each.slowdowns.size() == each.jobs.size(),
              "an observation does not have one slowdown per job");
    }
    for (const auto& set : sharing.memory.learned) {
      require(set.size >= 1 && set.size <= knowledge::kSetMax && set.samples > 0,
              "a measured set has {} members or no samples", int{set.size});
    }
  }

  const CoreImage& image_;
  const model::Cluster& cluster_;
  int32_t jobs_per_gpu_max_;
  std::set<JobId> jobs_;
  std::string problem_;
};

}  // namespace

base::Status check_image(const CoreImage& image, const model::Cluster& cluster,
                         int32_t jobs_per_gpu_max) {
  std::string problem = Check(image, cluster, jobs_per_gpu_max).problem();
  if (problem.empty()) return {};
  return base::bad_data({}, "the saved state does not fit: " + problem,
                        "start with the cluster and the policy under which it was saved");
}

}  // namespace goban::core::scheduler
