// For tests: a simulated cluster with a queue, nodes and users of its own. Determined by one seed.
#pragma once

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/random.hpp"
#include "live/loop/commit_cycle.hpp"
#include "live/loop/test_cluster_places.hpp"

namespace goban::live::loop {

/// What is true: it outlives daemons and engines.
class TestCluster {
 public:
  using Gpu = PlacedGpu;
  using Job = PlacedJob;
  struct Node {
    int32_t num_gpus = 4;
    SeenNodeState state = SeenNodeState::Up;
  };

  explicit TestCluster(uint64_t seed) : random_(seed) {
    for (int i = 0; i < 4; ++i) nodes[fmt::format("n{}", i)] = {};
  }
  [[nodiscard]] std::vector<std::string> partitions_of(const std::string& node) const {
    return partitions ? partitions_by_name(node) : std::vector<std::string>{};
  }
  [[nodiscard]] bool may_use(const Job& job, const std::string& node) const {
    return !partitions || is_of_partition(job, node);
  }
  [[nodiscard]] bool is_allowed(const Job& job, const std::set<Gpu>& gpus) const {
    return !partitions || is_place_of(job, gpus);
  }

  /// Something happens that Goban has no part in.
  void live(TimeNs at) {
    now = std::max(now, at);
    for (auto it = jobs.begin(); it != jobs.end();) {
      const auto each = it++;
      if (each->second.running && each->second.ends_ns <= now) {
        end(each->first, GoneHow::Completed);
      }
    }
    if (!others) return;
    switch (random_.below(24)) {
      case 0:
      case 1:
      case 2:
      case 3:
        add(true);
        break;
      case 4:
        start(add(false), {});
        break;
      case 5:
        if (some(false)) end(*some(false), GoneHow::Cancelled);
        break;
      case 6:
        if (const auto id = some(random_.below(2) == 0)) end(*id, GoneHow::Cancelled);
        break;
      case 7:  // an administrator starts what waits
        if (const auto id = some(false)) start(*id, {});
        break;
      case 8:  // and requeues what runs
        if (const auto id = some(true)) requeue(*id);
        break;
      case 9:
        if (const auto id = some(false)) jobs[*id].held = !jobs[*id].held;
        break;
      case 10:  // to another partition, or back
        if (const auto id = some(false)) jobs[*id].managed = !jobs[*id].managed;
        break;
      case 11:
        change_node();
        break;
      default:
        break;
    }
  }
  /// False: it does not fit.
  bool start(const std::string& id, const std::set<Gpu>& wanted, RunId run = {}) {
    Job& job = jobs.at(id);
    if (job.running) return false;
    std::set<Gpu> gpus = wanted;
    for (const Gpu& gpu : free()) {
      const bool is_needed = static_cast<int32_t>(gpus.size()) < job.num_gpus;
      if (is_needed && may_use(job, gpu.first)) gpus.insert(gpu);
    }
    const std::set<Gpu> unused = free();
    const bool fits = static_cast<int32_t>(gpus.size()) == job.num_gpus &&
                      std::ranges::includes(unused, gpus) && is_allowed(job, gpus);
    if (!fits) return false;
    job.running = true;
    job.gpus = gpus;
    job.run = run;
    job.ends_ns = now + job.takes_ns;
    ++starts;
    return true;
  }
  void requeue(const std::string& id) {
    Job& job = jobs.at(id);
    if (job.run.job.valid()) over[job.run] = {.kind = ReportKind::Lost, .run = job.run};
    job.running = false;
    job.gpus.clear();
    job.run = {};
  }
  void end(const std::string& id, GoneHow how) {
    const Job& job = jobs.at(id);
    const bool good = how == GoneHow::Completed;
    if (job.run.job.valid()) {
      over[job.run] = {.kind = ReportKind::Ended,
                       .run = job.run,
                       .exit_code = good ? 0 : -1,
                       .signal = good ? 0 : 15};
    }
    gone[id] = how;
    if (job.managed) ++ended_managed;
    jobs.erase(id);
  }
  [[nodiscard]] std::set<Gpu> free() const {
    std::set<Gpu> out;
    for (const auto& [name, node] : nodes) {
      if (node.state != SeenNodeState::Up) continue;
      for (int32_t i = 0; i < node.num_gpus; ++i) out.emplace(name, i);
    }
    for (const auto& [id, job] : jobs) {
      for (const Gpu& gpu : job.gpus) out.erase(gpu);
    }
    return out;
  }
  [[nodiscard]] ClusterSeen seen_nodes() const {
    ClusterSeen out;
    for (const auto& [name, node] : nodes) {
      out.nodes.push_back({.name = name,
                           .num_gpus = node.num_gpus,
                           .gpu_model = "test",
                           .gpu_mem_bytes = int64_t{16} << 30,
                           .state = node.state,
                           .partitions = partitions_of(name)});
    }
    return out;
  }
  [[nodiscard]] static JobSeen seen_job(const std::string& id, const Job& job) {
    JobSeen out{.id = id, .managed = job.managed};
    out.state = job.running ? SeenState::Running : SeenState::Waiting;
    out.run = job.run;
    out.spec.num_gpus = job.num_gpus;
    out.spec.instances = job.parts;
    out.spec.equal_indices = job.equal;
    out.spec.partition = job.partition;
    out.spec.held = job.held;
    out.spec.owner = {.uid = 1000, .gid = 1000, .user = "anna"};
    out.parts = parts_of(job.gpus);
    return out;
  }
  [[nodiscard]] static std::vector<NodePart> parts_of(const std::set<Gpu>& gpus) {
    std::vector<NodePart> parts;
    for (const auto& [node, index] : gpus) {
      if (parts.empty() || parts.back().node != node) parts.push_back({.node = node});
      parts.back().gpus.push_back(index);
    }
    return parts;
  }

  std::map<std::string, Node> nodes{};
  std::map<std::string, Job> jobs{};
  std::map<std::string, GoneHow> gone{};
  std::map<RunId, Report> over{};  ///< runs that have ended, and how
  TimeNs now = 0;
  bool others = true;
  bool joins = false;       ///< nodes join and leave
  bool partitions = false;  ///< of different nodes, and jobs of several parts
  size_t starts = 0;
  size_t ended_managed = 0;

 private:
  std::string add(bool managed) {
    std::string id = std::to_string(next_id_++);
    jobs[id] = {.managed = managed,
                .num_gpus = static_cast<int32_t>(1 + random_.below(managed ? 6 : 3)),
                .takes_ns = static_cast<TimeNs>(1 + random_.below(60)) * base::kSecond};
    if (!partitions) return id;
    Job& job = jobs[id];
    if (random_.below(2) == 0) job.partition = "short";
    if (!managed || random_.below(3) != 0) return id;
    job.parts = 2;
    job.num_gpus = job.parts * static_cast<int32_t>(1 + random_.below(3));
    job.equal = random_.below(2) == 0;
    return id;
  }
  std::optional<std::string> some(bool running) {
    std::vector<std::string> fit;
    for (const auto& [id, job] : jobs) {
      if (job.running == running) fit.push_back(id);
    }
    if (fit.empty()) return std::nullopt;
    return fit[random_.below(fit.size())];
  }
  void change_node() {
    auto node = nodes.begin();
    std::advance(node, random_.below(nodes.size()));
    if (joins && random_.below(3) == 0) {
      const std::string name = fmt::format("n{}", random_.below(6));
      if (nodes.size() > 2 && nodes.contains(name)) {
        leave(name);
      } else {
        nodes[name].num_gpus = static_cast<int32_t>(2 + 2 * random_.below(2));
      }
      return;
    }
    node->second.state = static_cast<SeenNodeState>(random_.below(3));
    if (node->second.state == SeenNodeState::Down) clear(node->first);
  }
  void leave(const std::string& name) {
    clear(name);
    nodes.erase(name);
  }
  void clear(const std::string& node) {
    for (auto it = jobs.begin(); it != jobs.end();) {
      const auto each = it++;
      const bool here =
          std::ranges::any_of(each->second.gpus, [&](const Gpu& gpu) { return gpu.first == node; });
      if (here) requeue(each->first);
    }
  }

  base::Random random_;
  uint32_t next_id_ = 1;
};

}  // namespace goban::live::loop
