// Jobs on shared GPUs for tests of sharing policies: real tenants, a co-location history, and a
// view of them.
#pragma once

#include <algorithm>
#include <initializer_list>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/policy/sharing/sharing.hpp"

namespace goban::core::policy {

inline constexpr int64_t kTestGib = int64_t{1} << 30;

/// Nodes with GPUs "V100" of 16 GiB, applications 0, 1, ... and their measurements.
struct TestSite {
  uint32_t nodes = 2;
  uint32_t gpus = 4;
  uint32_t apps = 4;
  int64_t mem_bytes = 16 * kTestGib;

  struct Measured {
    std::vector<uint32_t> apps{};
    std::vector<double> slowdown{};
    double util_pct = -1;
    double power_w = -1;
    bool never = false;
  };
  std::vector<Measured> measured{};
  std::vector<knowledge::PowerModel> power{};
};

/// A job of a test.
struct TestJob {
  int32_t gpus = 1;
  int32_t app = 0;  ///< negative: unknown
  float util_pct = 20;
  int64_t mem_bytes = 2 * kTestGib;
  double work_s = 1000;    ///< remaining, alone; negative: unknown
  double deadline_s = -1;  ///< from its submission
  float max_slowdown = 0;
  int32_t priority = 0;
  uint32_t account = 0;
  uint32_t user = 0;
  model::SharingRequest sharing = model::SharingRequest::Unsaid;
};

class TestSharing final : public SharingView {
 public:
  explicit TestSharing(const TestSite& site)
      : cluster_(make_cluster(site)),
        knowledge_(make_knowledge(site)),
        tenants_(*cluster_),
        memory_(knowledge_.colocation, knowledge_.predictor) {}

  /// A waiting job, submitted now.
  JobId submit(const TestJob& given) {
    const JobId id(jobs_.size());
    JobState state;
    state.job = id;
    state.request.submit_ns = now_;
    state.request.num_gpus = given.gpus;
    state.request.priority = given.priority;
    state.request.account = model::AccountId(given.account);
    state.request.user = model::UserId(given.user);
    if (given.app >= 0) state.request.app = AppId(static_cast<uint32_t>(given.app));
    state.training.gpu_util_pct = given.util_pct;
    state.training.gpu_mem_bytes = given.mem_bytes;
    state.training.max_slowdown = given.max_slowdown;
    state.training.sharing = given.sharing;
    if (given.deadline_s >= 0) state.training.deadline_ns = base::from_seconds(given.deadline_s);
    jobs_.push_back({state, given.work_s, 1, 1});
    return id;
  }
  /// Starts the job on these GPUs.
  void start(JobId id, std::initializer_list<uint32_t> gpus) {
    std::vector<model::GpuId> ids;
    for (const uint32_t gpu : gpus) ids.emplace_back(gpu);
    start(id, ids);
  }
  void start(JobId id, std::span<const model::GpuId> gpus) {
    JobState& state = jobs_[id.index()].state;
    tenants_.add(id, tenants_.intern(traits(state)), gpus, now_);
    state.phase = model::JobPhase::Running;
    state.run_start_ns = now_;
  }
  /// Submits and starts a job.
  JobId run(const TestJob& given, std::initializer_list<uint32_t> gpus) {
    const JobId id = submit(given);
    start(id, gpus);
    return id;
  }
  void stop(JobId id) {
    JobState& state = jobs_[id.index()].state;
    tenants_.remove(id, now_);
    state.attained_before_ns = state.attained_ns(now_);
    state.phase = model::JobPhase::Waiting;
  }
  void pass(double seconds) { now_ += base::from_seconds(seconds); }
  void set_now(TimeNs now) { now_ = now; }
  void set_work_left(JobId id, double work_s) { jobs_[id.index()].work_s = work_s; }
  void set_alone_slowdown(JobId id, double slowdown) {
    jobs_[id.index()].slowdown = slowdown;
    jobs_[id.index()].elsewhere = slowdown;
  }
  /// On GPUs that it does not hold.
  void set_slowdown_elsewhere(JobId id, double slowdown) { jobs_[id.index()].elsewhere = slowdown; }
  void set_someone_waits(bool waits) { someone_waits_ = waits; }
  void set_demand(int64_t gpus) { demand_gpus_ = gpus; }
  void set_free_gpus(int32_t gpus) { free_gpus_ = gpus; }
  Tenants& books() { return tenants_; }
  SharingMemory& learn() { return memory_; }
  [[nodiscard]] size_t num_running() const {
    return static_cast<size_t>(std::ranges::count(
        jobs_, model::JobPhase::Running, [](const Kept& kept) { return kept.state.phase; }));
  }
  [[nodiscard]] GroupId group_of(uint32_t gpu) const {
    return tenants_.group_of(model::GpuId(gpu));
  }
  /// The lowest GPU of the chosen group; -1 if none is chosen.
  [[nodiscard]] int64_t chosen_gpu(const Sharing& sharing, JobId id) const {
    const auto place = sharing.choose(*this, job(id));
    return place ? tenants_.group(place->group).gpus.front().value : int64_t{-1};
  }

  TimeNs now() const override { return now_; }
  const Tenants& tenants() const override { return tenants_; }
  const SharingMemory& memory() const override { return memory_; }
  const SiteKnowledge& knowledge() const override { return knowledge_; }
  const JobState& job(JobId id) const override { return jobs_[id.index()].state; }
  double work_left_s(const JobState& state) const override {
    return jobs_[state.job.index()].work_s;
  }
  double alone_slowdown(const JobState& state, std::span<const model::GpuId>) const override {
    return jobs_[state.job.index()].elsewhere;
  }
  double alone_slowdown(const JobState& state) const override {
    return jobs_[state.job.index()].slowdown;
  }
  int64_t demand_gpus() const override { return demand_gpus_; }
  bool someone_waits() const override { return someone_waits_; }
  int32_t free_gpus() const override { return free_gpus_; }
  uint64_t seed(JobId id) const override { return id.value + static_cast<uint64_t>(now_); }

 private:
  struct Kept {
    JobState state;
    double work_s;
    double slowdown;
    double elsewhere;
  };

  static std::unique_ptr<model::Cluster> make_cluster(const TestSite& site) {
    model::ClusterBuilder builder("test");
    builder.add_gpu_model({.name = "V100", .mem_bytes = site.mem_bytes});
    for (uint32_t i = 0; i < site.nodes; ++i) {
      model::ClusterBuilder::Placed placed;
      placed.node.name = "n" + std::to_string(i);
      placed.node.num_gpus = site.gpus;
      builder.add_node(placed);
    }
    return std::make_unique<model::Cluster>(builder.build().value());
  }
  static SiteKnowledge make_knowledge(const TestSite& site) {
    SiteKnowledge knowledge;
    knowledge.gpu_types = {knowledge.colocation.add_gpu_type("V100")};
    knowledge.power = site.power;
    for (uint32_t i = 0; i < site.apps; ++i) {
      knowledge.colocation.add_app("app" + std::to_string(i), "");
    }
    for (const TestSite::Measured& row : site.measured) {
      knowledge::MeasuredSet set;
      set.gpu_type = knowledge.gpu_types[0];
      set.size = static_cast<uint8_t>(row.apps.size());
      for (size_t i = 0; i < row.apps.size(); ++i) {
        set.apps[i] = AppId(row.apps[i]);
        set.slowdown[i] = row.never ? 1 : row.slowdown[i];
      }
      set.never = row.never;
      set.util_pct = row.util_pct;
      set.power_w = row.power_w;
      knowledge.colocation.merge(set);
    }
    return knowledge;
  }

  std::unique_ptr<model::Cluster> cluster_;
  SiteKnowledge knowledge_;
  Tenants tenants_;
  SharingMemory memory_;
  std::vector<Kept> jobs_;
  TimeNs now_ = 0;
  int64_t demand_gpus_ = 1'000'000;
  bool someone_waits_ = false;
  int32_t free_gpus_ = 0;
};

}  // namespace goban::core::policy
