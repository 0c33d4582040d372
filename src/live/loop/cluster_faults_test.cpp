// The live scheduler on a cluster that others use, too: jobs of its queue come, start, are moved
// and end without us, nodes come and go, orders and reports are lost, daemons are killed and the
// engine forgets. No job is lost, nothing aborts, and the books agree with the cluster in the end.
#include <gtest/gtest.h>
#include <memory>

#include "base/test_names.hpp"
#include "live/loop/test_cluster_engine.hpp"
#include "live/loop/test_fault_runs.hpp"
#include "live/loop/test_log.hpp"
#include "live/loop/test_site.hpp"

namespace goban::live::loop {
namespace {

using controller::JobStage;

class ClusterWorld {
 public:
  ClusterWorld(std::string_view policy, uint64_t seed)
      : policy_(policy), random_(seed), cluster_(seed + 1) {
    cluster_.joins = seed % 2 == 0;
    cluster_.partitions = seed % 4 > 1;
    begin_daemon();
  }

  void step() {
    now_ += static_cast<TimeNs>(random_.below(4 * uint64_t{base::kSecond}));
    cluster_.live(now_);
    disturb();
    engine_->advance(now_);
    turn(some_request());
  }

  void heal_and_finish() {
    cluster_.others = false;
    wire_.loss = 0;
    wire_.strange = 0;
    log_.full = false;
    for (const char* name : {"n0", "n1", "n2", "n3"}) cluster_.nodes[name] = {};
    for (auto& [name, node] : cluster_.nodes) node = {.num_gpus = 6};
    for (auto& [id, job] : cluster_.jobs) {
      job.held = false;
      job.managed = true;
    }
    for (int i = 0; i < 5'000 && !is_over(); ++i) {
      now_ += 10 * base::kSecond;
      if (i % 6 == 0) cycle_->resume();
      cluster_.live(now_);
      engine_->advance(now_);
      std::vector<controller::Input> releases;
      const size_t num_nodes = cycle_->controller().site().cluster.nodes().size();
      for (size_t node = 0; i % 10 == 0 && node < num_nodes; ++node) {
        releases.emplace_back(controller::Resume{NodeId(node)});
      }
      for (const auto& [id, job] : book().jobs) {
        if (job.stage == JobStage::Held) {
          releases.emplace_back(controller::Release{.job = id, .by = kRoot});
        }
      }
      turn(std::move(releases));
    }
  }

  void check_end() {
    for (const auto& [id, job] : cluster_.jobs) ADD_FAILURE() << "job " << id << " is left";
    for (const auto& [id, job] : book().jobs) {
      EXPECT_EQ(job.stage, JobStage::Done) << "job " << job.engine_id;
    }
    EXPECT_TRUE(book().runs.empty());
    const auto& state = cycle_->controller().core().state();
    EXPECT_EQ(state.running().size(), 0U);
    EXPECT_TRUE(state.found().empty());
    int32_t num_gpus = 0;  // of nodes that have not left
    for (const auto& [name, node] : cluster_.nodes) num_gpus += node.num_gpus;
    EXPECT_EQ(state.resources().free_gpus(), num_gpus);
    EXPECT_EQ(accounted_.size(), managed_.size()) << "each of ours is accounted once";
  }

  [[nodiscard]] const TestCluster& cluster() const { return cluster_; }
  [[nodiscard]] size_t restarts() const { return restarts_; }
  [[nodiscard]] size_t declined() const { return declined_; }
  [[nodiscard]] size_t found() const { return found_; }

 private:
  inline static const controller::Caller kRoot{.uid = 0, .user = "root", .is_operator = true};

  [[nodiscard]] const controller::JobBook& book() const { return cycle_->controller().book(); }
  [[nodiscard]] controller::Site site() const {
    controller::Site site = test_site(4, 4, policy_, 1.5);
    site.keep_ended_ns = 600 * base::kSecond;
    return site;
  }
  [[nodiscard]] bool is_over() const {
    return cluster_.jobs.empty() && std::ranges::all_of(book().jobs, [](const auto& each) {
             return each.second.stage == JobStage::Done && each.second.accounted;
           });
  }

  void begin_daemon() {
    engine_ = std::make_unique<ClusterEngine>(cluster_, wire_, random_());
    cycle_ = std::make_unique<CommitCycle>(site(), log_, *engine_);
  }
  void crash() {
    ++restarts_;
    log_.crash();
    begin_daemon();
    const auto fold = cycle_->fold(log_.safe);
    ASSERT_TRUE(fold) << fold.error().text();
    EXPECT_EQ(fold->other, 0) << "record " << fold->first_other;
    cycle_->recall();
    cycle_->resume();
  }

  void disturb() {
    switch (random_.below(60)) {
      case 0:
        return crash();
      case 1:
        return engine_->relist();
      case 2:
        wire_.loss = static_cast<double>(random_.below(4)) * 0.1;
        wire_.strange = static_cast<double>(random_.below(3)) * 0.2;
        return;
      case 3:
        log_.full = !log_.full;
        return;
      case 4:
        if (!log_.full) {
          EXPECT_TRUE(cycle_->compact());
        }
        return;
      case 5:
        now_ += 100 * base::kSecond;
        return;
      case 6:
      case 7:
        if (!cycle_->is_stuck()) cycle_->resume();
        return;
      default:
        return;
    }
  }

  std::vector<controller::Input> some_request() {
    const JobId job(static_cast<uint32_t>(random_.below(std::max<uint64_t>(book().next_job, 1))));
    switch (random_.below(40)) {
      case 0:
        return {controller::Cancel{.job = job, .by = kRoot, .now = random_.below(2) == 0}};
      case 1:
        return {controller::Hold{.job = job, .by = kRoot}};
      case 2:
      case 3:
        return {controller::Release{.job = job, .by = kRoot}};
      case 4:
        return {controller::Requeue{.job = job, .by = kRoot}};
      case 5:
        return {controller::Drain{.node = some_node(), .from_ns = now_}};
      case 6:
      case 7:
        return {controller::Resume{some_node()}};
      default:
        return {};
    }
  }
  NodeId some_node() {
    return NodeId(
        static_cast<uint32_t>(random_.below(cycle_->controller().site().cluster.nodes().size())));
  }

  void turn(std::vector<controller::Input> inputs) {
    (void)cycle_->run(std::move(inputs), now_);
    for (const JobId job : cycle_->take_accounts()) {
      accounted_.insert(job);
      cycle_->accounted(job, now_);
    }
    for (const auto& [id, job] : book().jobs) {
      if (job.managed) managed_.insert(id);
      if (!job.managed) managed_.erase(id);
      declined_ += job.unable;
      found_ += job.found.empty() ? 0 : 1;
    }
    check_books();
  }

  /// Nothing of ours is placed where somebody else is known to be, or where it must not be.
  void check_books() const {
    const auto& state = cycle_->controller().core().state();
    std::map<GpuId, JobId> holder;
    for (const auto& running : state.running()) {
      check_place(state.job(running.slot).job, running.allocation.gpus);
      for (const GpuId gpu : running.allocation.gpus) {
        ASSERT_TRUE(holder.emplace(gpu, state.job(running.slot).job).second);
      }
    }
    for (const auto& [who, held] : state.found()) {
      if (!who.first.valid()) continue;
      ASSERT_NE(book().find(who.first), nullptr);
      for (const GpuId gpu : held.gpus) ASSERT_FALSE(holder.contains(gpu));
    }
  }

  void check_place(JobId id, const std::vector<GpuId>& gpus) const {
    const job::JobSpec& spec = book().find(id)->spec;
    const core::model::Cluster& cluster = cycle_->controller().site().cluster;
    std::set<TestCluster::Gpu> named;
    for (const GpuId gpu : gpus) {
      const core::model::Node& node = cluster.node(cluster.node_of(gpu));
      named.emplace(node.name, static_cast<int32_t>(gpu.value - node.first_gpu));
    }
    const TestCluster::Job asked{.num_gpus = spec.num_gpus,
                                 .parts = spec.instances,
                                 .equal = spec.equal_indices,
                                 .partition = spec.partition};
    ASSERT_TRUE(cluster_.is_allowed(asked, named)) << "job " << book().find(id)->engine_id;
  }

  std::string policy_;
  base::Random random_;
  TestCluster cluster_;
  ClusterEngine::Wire wire_;
  MemoryLog log_;
  std::unique_ptr<ClusterEngine> engine_;
  std::unique_ptr<CommitCycle> cycle_;
  TimeNs now_ = 1'000 * base::kSecond;
  std::set<JobId> accounted_;
  std::set<JobId> managed_;
  size_t restarts_ = 0;
  size_t declined_ = 0;
  size_t found_ = 0;
};

class ClusterFaults : public testing::TestWithParam<const char*> {};

// Steps per policy; a fifth in clang builds, whose sanitizers make a step fifteen times slower.
#ifdef __clang__
constexpr int kClusterSteps = 8'000;
#else
constexpr int kClusterSteps = 40'000;
#endif

TEST_P(ClusterFaults, NothingFailsBecauseSomebodyElseUsedTheCluster) {
  size_t declined = 0;
  const auto failed =
      FaultRuns(kClusterSteps)
          .for_each_world([](uint64_t seed) { return ClusterWorld(GetParam(), seed); }, HasFailure,
                          [&](const ClusterWorld& world) {
                            EXPECT_GT(world.restarts(), 0U);
                            EXPECT_GT(world.found(), 100U);
                            EXPECT_GT(world.cluster().ended_managed, 50U);
                            declined += world.declined();
                          });
  ASSERT_FALSE(failed) << "seed " << *failed;
  EXPECT_GT(declined, 0U);
}

INSTANTIATE_TEST_SUITE_P(Policies, ClusterFaults,
                         testing::Values("fifo+packed", "easy-backfill+pal", "las+pal",
                                         "conservative-backfill+spread", "goban"),
                         [](const auto& each) { return base::test_name(each.param); });

}  // namespace
}  // namespace goban::live::loop
