// Invariants of runs with GPU sharing, under every sharing policy, on random sites: the results of
// engine and core are tracked from outside and computed a second time.
#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>
#include <map>
#include <rapidcheck.h>
#include <set>

#include "core/scheduler/test_sharing_run.hpp"

namespace goban::core::scheduler {
namespace {

using model::ActionKind;
using model::GpuId;

/// Tolerance in seconds for rounding up to nanoseconds, over all runs of a job.
constexpr double kRounding_s = 1e-6;
/// Runs per case: a hundred cases are too few for rare events.
constexpr int kRunsEach = 10;

std::string_view sharing_of(const policy::Composition& composition) {
  return composition.part(policy::PartKind::Sharing).name;
}

int32_t jobs_per_gpu_max(const policy::Composition& composition) {
  const std::string_view sharing = sharing_of(composition);
  const bool gavel = sharing == "share-best-pair" || sharing == "share-random-pair";
  return !gavel ? composition.options.limits.jobs_per_gpu_max : 2;
}

/// Tracks allocations, speeds and work.
class Follower final : public study::simulator::Observer {
 public:
  explicit Follower(const SharingRun& run)
      : run_(run),
        predictor_(run.options.knowledge->colocation, run.options.knowledge->predictor),
        on_gpu_(run.cluster->num_gpus()),
        cap_(run.cluster->num_gpus(), -1),
        lives_(run.history.jobs.size()),
        asleep_(run.cluster->nodes().size()) {
    for (size_t i = 0; i < lives_.size(); ++i) lives_[i].left_s = run.history.jobs[i].work_s;
  }

  void acted(TimeNs now, const model::Action& action, const Core& core) override {
    pass(now);
    note(fmt::format("{} {} {} {} {}", now, static_cast<int>(action.kind), action.job.value,
                     action.gpu.value, action.node.value));
    switch (action.kind) {
      case ActionKind::Start:
        start(now, action, core);
        break;
      case ActionKind::Preempt:
        if (action.undo) check_undo(action.job);
        if (action.move) leave_for_good(action.job);
        leave(action.job);
        lives_[action.job.index()].pays |= action.undo;
        break;
      case ActionKind::Abandon:
        fall_back(action.job);
        lives_[action.job.index()].pays = true;
        leave(action.job);
        break;
      case ActionKind::Observe:
        observe(now, action);
        break;
      case ActionKind::Cap:
        cap_[action.gpu.index()] = action.cap;
        break;
      case ActionKind::Rest:
        RC_ASSERT(!asleep_[action.node.index()]);
        for (const GpuId gpu : gpus_of(action.node)) RC_ASSERT(on_gpu_[gpu.index()].empty());
        asleep_[action.node.index()] = true;
        ++rests;
        break;
      case ActionKind::Wake:
        RC_ASSERT(asleep_[action.node.index()]);
        break;
    }
  }
  void awake(TimeNs now, model::NodeId node) override {
    pass(now);
    asleep_[node.index()] = false;
  }
  void job_ended(TimeNs now, JobId job, study::simulator::JobEnd end) override {
    pass(now);
    note(fmt::format("{} end {}", now, job.value));
    RC_ASSERT(end == study::simulator::JobEnd::Finished);
    const Life& life = lives_[job.index()];
    // Work is conserved. The noise of true speeds is not computed here.
    const bool exact = run_.options.prediction_noise == 0;
    if (exact) RC_ASSERT(std::abs(life.left_s) <= kRounding_s);
    RC_ASSERT(life.overhead_s <= kRounding_s);
    leave(job);
    lives_[job.index()].ended = true;
  }
  void decided(const Decision& decision, const Core& core) override {
    const model::Tenants& tenants = *core.tenants();
    for (uint32_t gpu = 0; gpu < on_gpu_.size(); ++gpu) {
      const model::GroupId group = tenants.group_of(GpuId(gpu));
      RC_ASSERT(group.valid() == !on_gpu_[gpu].empty());
      if (group.valid()) {
        // A job that was evicted and got the same GPUs again never stopped, but is now the last.
        RC_ASSERT(std::ranges::is_permutation(tenants.group(group).jobs, on_gpu_[gpu]));
        on_gpu_[gpu] = tenants.group(group).jobs;
      }
      RC_ASSERT(tenants.cap_of(GpuId(gpu)) == cap_[gpu]);  // every change was an action
      const bool locked = group.valid() && tenants.group(group).locked;
      const auto provision = provisional_.find(gpu);
      if (locked) RC_ASSERT(provision != provisional_.end());
      if (locked || provision == provisional_.end()) continue;
      // A job that was evicted and got the same GPUs again was restarted: its observation is void.
      std::vector<JobId> others = provision->second.members;
      if (provision->second.since == decision.at_ns)
        others.pop_back();  // the job that joined just now
      const bool anew = std::ranges::any_of(decision.placed, [&](JobId job) {
        return std::ranges::find(others, job) != others.end();
      });
      // An eviction after the join voids the observation at once.
      const bool evicts = run_.composition.preemption() != policy::Preemption::None;
      const bool voided = evicts && provision->second.since == decision.at_ns;
      const bool observes = sharing_of(run_.composition) != "share-best-pair" && !evicts;
      if (observes) RC_ASSERT(provision->second.until > provision->second.since);
      if (!anew && !voided) check_unlocked(decision.at_ns, GpuId(gpu));
      provisional_.erase(provision);
    }
    check_moves(core);
    for (const JobId job : undone_) {
      // It waits, or was placed again at once.
      RC_ASSERT(core.state().is_active(job));
    }
    undone_.clear();
  }

  std::string log;
  int64_t undos = 0;
  int64_t moves = 0;
  int64_t shared = 0;
  int64_t rests = 0;

 private:
  struct Life {
    double left_s = 0;
    double overhead_s = 0;
    double done_s = 0;    ///< in this run
    double worked_s = 0;  ///< run time of this run
    std::vector<GpuId> gpus{};
    std::vector<GpuId> last{};
    double alone = 1;
    bool started = false;
    bool pays = false;  ///< its next start has a restart cost
    bool ended = false;
  };
  struct Provision {
    TimeNs since = 0;
    TimeNs until = 0;
    std::vector<JobId> members;
  };

  void note(const std::string& line) { log += line + "\n"; }
  [[nodiscard]] const policy::SiteKnowledge& known() const { return *run_.options.knowledge; }
  [[nodiscard]] model::Job job(JobId id) const { return run_.history.jobs[id.index()]; }
  [[nodiscard]] const model::TrainingFacts& facts(JobId id) const {
    return run_.history.training[id.index()];
  }
  [[nodiscard]] std::vector<GpuId> gpus_of(model::NodeId node) const {
    std::vector<GpuId> gpus;
    const model::Node& at = run_.cluster->node(node);
    for (uint32_t gpu = at.first_gpu; gpu < at.end_gpu(); ++gpu) gpus.emplace_back(gpu);
    return gpus;
  }

  /// Slowdown by neighbours and power limits, computed from the jobs on each GPU.
  [[nodiscard]] double beside(JobId id) const {
    double worst = 0;
    for (const GpuId gpu : lives_[id.index()].gpus) {
      const std::vector<JobId>& here = on_gpu_[gpu.index()];
      double factor = 1;
      if (here.size() > 1) {
        std::vector<model::AppId> apps;
        for (const JobId each : here) apps.push_back(job(each).request.app);
        const auto set = predictor_.predict(known().gpu_types[0], apps);
        const auto at = static_cast<size_t>(std::ranges::find(here, id) - here.begin());
        factor = set.packable() ? set.mean[at] : 2.0 * static_cast<double>(here.size() - 1);
      }
      const int8_t cap = cap_[gpu.index()];
      if (cap >= 0) factor *= known().power[0].caps[static_cast<size_t>(cap)].time_factor;
      worst = std::max(worst, factor);
    }
    return worst;
  }

  /// Advances all jobs to `now` at the speeds since the last call.
  void pass(TimeNs now) {
    if (now == last_ns_) return;
    for (size_t i = 0; i < lives_.size(); ++i) {
      Life& life = lives_[i];
      if (life.gpus.empty()) continue;
      const double span_s = base::to_seconds(now - last_ns_);
      const double idle_s = std::min(span_s, life.overhead_s);
      life.overhead_s -= idle_s;
      const double step_s = (span_s - idle_s) / (life.alone * beside(JobId(i)));
      life.left_s -= step_s;
      life.done_s += step_s;
      life.worked_s += span_s - idle_s;
    }
    last_ns_ = now;
    std::erase_if(provisional_, [&](const auto& each) { return each.second.until <= now; });
  }

  void start(TimeNs now, const model::Action& action, const Core& core) {
    Life& life = lives_[action.job.index()];
    const model::JobRequest& request = job(action.job).request;
    RC_ASSERT(life.gpus.empty() && !life.ended && now >= request.submit_ns);
    life.gpus = core.allocation(action.job).gpus;
    RC_ASSERT(static_cast<int32_t>(life.gpus.size()) == request.num_gpus);
    bool joins = false;
    for (const GpuId gpu : life.gpus) {
      RC_ASSERT(!asleep_[run_.cluster->node_of(gpu).index()]);
      std::vector<JobId>& here = on_gpu_[gpu.index()];
      if (!here.empty()) {
        joins = true;
        check_unlocked(now, gpu);
      }
      here.push_back(action.job);
      RC_ASSERT(static_cast<int32_t>(here.size()) <= jobs_per_gpu_max(run_.composition));
      check_memory(here);
    }
    shared += joins ? 1 : 0;
    std::vector<GpuId> sorted = life.gpus;
    std::ranges::sort(sorted);
    if (life.started && (life.pays || sorted != life.last)) {
      life.overhead_s = run_.options.settings.restart_cost_s;
    }
    life.last = sorted;
    life.started = true;
    life.pays = false;
    life.done_s = life.worked_s = 0;
    life.alone = run_.speed().slowdown(request, life.gpus);
    for (const GpuId gpu : life.gpus) {
      // A placement with others is provisional until the observation ends.
      if (on_gpu_[gpu.index()].size() > 1)
        provisional_[gpu.value] = {now, now, on_gpu_[gpu.index()]};
    }
  }

  /// No job joins a provisional group before all its jobs completed an epoch, the maximum time
  /// passed, or a job left.
  void check_unlocked(TimeNs now, GpuId gpu) const {
    const auto found = provisional_.find(gpu.value);
    if (found == provisional_.end()) return;
    const Provision& provision = found->second;
    if (provision.members != on_gpu_[gpu.index()] || now >= provision.until) return;
    for (const JobId id : provision.members) {
      RC_ASSERT(facts(id).epochs > 0);  // otherwise only the maximum time ends it
      const double epoch_s = job(id).work_s / facts(id).epochs;
      const double fastest = run_.options.prediction_noise == 0 ? 0.9 : 0.1;
      RC_ASSERT(base::to_seconds(now - provision.since) >= fastest * epoch_s - kRounding_s);
    }
  }

  void observe(TimeNs now, const model::Action& action) {
    RC_ASSERT(action.until_ns > now);
    for (const GpuId gpu : lives_[action.job.index()].gpus) {
      const auto found = provisional_.find(gpu.value);
      if (found == provisional_.end() || found->second.since != now) continue;
      found->second.until = action.until_ns;
    }
  }

  /// share-eaco co-locates only jobs that are known to fit; other policies check known peaks only.
  void check_memory(const std::vector<JobId>& here) const {
    if (here.size() < 2) return;
    constexpr int64_t kMib = int64_t{1} << 20;
    int64_t used = 512 * kMib;
    bool all_known = true;
    for (const JobId id : here) {
      used += facts(id).gpu_mem_bytes + 512 * kMib;
      all_known = all_known && facts(id).gpu_mem_bytes > 0;
    }
    RC_ASSERT(used <= 16 * kTestGib);
    const std::string_view sharing = sharing_of(run_.composition);
    const bool strict = sharing == "share-worth" || (sharing.starts_with("share-eaco") &&
                                                     !sharing.starts_with("share-eaco-paper"));
    if (strict) RC_ASSERT(all_known);
  }

  /// A migration: with which jobs it shared its GPUs, and which node it leaves.
  void leave_for_good(JobId id) {
    ++moves;
    const Life& life = lives_[id.index()];
    RC_ASSERT(job(id).request.priority == 0);
    const model::NodeId node = run_.cluster->node_of(life.gpus.front());
    for (const GpuId gpu : life.gpus) RC_ASSERT(run_.cluster->node_of(gpu) == node);
    left_.emplace(id, node);
  }
  /// Moved jobs run again on one other node that was in use, and no job remains on the old one.
  void check_moves(const Core& core) {
    std::set<model::NodeId> reached;
    for (const auto& [id, node] : left_) {
      const std::vector<GpuId>& now = lives_[id.index()].gpus;
      RC_ASSERT(!now.empty());
      const model::NodeId there = run_.cluster->node_of(now.front());
      RC_ASSERT(there != node);
      reached.insert(there);
      for (const GpuId gpu : now) {
        RC_ASSERT(run_.cluster->node_of(gpu) == there);
        for (const JobId other : on_gpu_[gpu.index()]) RC_ASSERT(left_.at(other) == node);
      }
      for (const GpuId gpu : gpus_of(node)) RC_ASSERT(on_gpu_[gpu.index()].empty());
    }
    for (const model::NodeId node : reached) {
      const auto stays = [&](GpuId gpu) {
        return std::ranges::any_of(on_gpu_[gpu.index()],
                                   [&](JobId each) { return !left_.contains(each); });
      };
      RC_ASSERT(std::ranges::any_of(gpus_of(node), stays));
      RC_ASSERT(!core.state().node_power().is_resting(node));
    }
    left_.clear();
  }

  void check_undo(JobId id) {
    ++undos;
    undone_.push_back(id);
    const Life& life = lives_[id.index()];
    RC_ASSERT(!life.gpus.empty());
    RC_ASSERT(
        std::ranges::any_of(life.gpus, [&](GpuId gpu) { return on_gpu_[gpu.index()].size() > 1; }));
  }

  /// One checkpoint per interval of run time; work is assumed uniform in between.
  void fall_back(JobId id) {
    Life& life = lives_[id.index()];
    const double interval_s = run_.options.checkpoint_interval_s;
    if (interval_s <= 0 || life.worked_s <= 0) return;
    // At the time of a checkpoint rounding decides; both results are valid.
    const double intervals = life.worked_s / interval_s;
    const double whole = std::abs(intervals - std::round(intervals)) < 1e-9 ? std::round(intervals)
                                                                            : std::floor(intervals);
    life.left_s += life.done_s * (1 - whole / intervals);
  }

  void leave(JobId id) {
    Life& life = lives_[id.index()];
    RC_ASSERT(!life.gpus.empty());
    for (const GpuId gpu : life.gpus) RC_ASSERT(std::erase(on_gpu_[gpu.index()], id) == 1U);
    life.gpus.clear();
  }

  const SharingRun& run_;
  knowledge::ColocationPredictor predictor_;
  std::vector<std::vector<JobId>> on_gpu_;  ///< in order of arrival
  std::vector<int8_t> cap_;
  std::vector<Life> lives_;
  std::vector<bool> asleep_;
  std::map<uint32_t, Provision> provisional_;  ///< by GPU
  std::vector<JobId> undone_;                  ///< since the last decision
  std::map<JobId, model::NodeId> left_;        ///< since the last decision: moved jobs, old node
  TimeNs last_ns_ = 0;
};

TEST(SharingProperty, BooksWorkAndRulesHoldUnderEveryPolicy) {
  int64_t shared = 0;
  int64_t undos = 0;
  int64_t rests = 0;
  int64_t moves = 0;
  const auto check = [&](uint64_t seed) {
    SharingRun run = draw_sharing_run(seed, {});
    RC_LOG() << run.composition.name << ", seed " << seed << "\n";
    Follower follower(run);
    const auto result = run.simulate(&follower);
    if (!result) RC_FAIL(run.composition.name + ": " + result.error().message);
    for (size_t i = 0; i < result->outcomes.size(); ++i) {
      const study::simulator::JobOutcome& outcome = result->outcomes[i];
      const study::simulator::SharedOutcome beside = result->shared_of(i);
      RC_ASSERT(outcome.end == study::simulator::JobEnd::Finished);
      RC_ASSERT(beside.undone + beside.moved <= outcome.preemptions);
      moves += beside.moved;
    }
    RC_ASSERT(result->undone == follower.undos);
    shared += follower.shared;
    undos += follower.undos;
    rests += follower.rests;
  };
  EXPECT_TRUE(rc::check([&] {
    base::Random seeds(*rc::gen::arbitrary<uint64_t>());
    for (int i = 0; i < kRunsEach; ++i) check(seeds());
  }));
  EXPECT_GT(shared, 0);  // otherwise nothing was tested
  EXPECT_GT(undos, 0);
  EXPECT_GT(rests, 0);
  EXPECT_GT(moves, 0);
}

TEST(SharingProperty, RunsAreReproducibleByteForByte) {
  EXPECT_TRUE(rc::check([] {
    const auto seed = *rc::gen::arbitrary<uint64_t>();
    std::array<std::string, 2> logs;
    for (std::string& log : logs) {
      SharingRun run = draw_sharing_run(seed, {});
      Follower follower(run);
      if (!run.simulate(&follower)) RC_FAIL("it failed");
      log = follower.log;
    }
    RC_ASSERT(!logs[0].empty());
    RC_ASSERT(logs[0] == logs[1]);
  }));
}

/// The first allocation of every job.
class FirstStarts final : public study::simulator::Observer {
 public:
  explicit FirstStarts(const SharingRun& run) : run_(run), end_ns_(run.history.jobs.size(), -1) {}
  void acted(TimeNs now, const model::Action& action, const Core& core) override {
    if (action.kind != ActionKind::Start || end_ns_[action.job.index()] >= 0) return;
    const model::Job& job = run_.history.jobs[action.job.index()];
    const double slowdown = run_.speed().slowdown(job.request, core.allocation(action.job).gpus);
    end_ns_[action.job.index()] = now + base::from_seconds_up(job.work_s * slowdown);
  }
  /// By job: its end if it had stayed alone on its first GPUs.
  [[nodiscard]] const std::vector<TimeNs>& end_ns() const { return end_ns_; }

 private:
  const SharingRun& run_;
  std::vector<TimeNs> end_ns_;
};

TEST(SharingProperty, WithAnExactPredictorEacoBreaksNoDeadline) {
  const SharingShape shape{
      .policies = {"eaco", "goban", "las+skip+share-eaco+sleep+consolidate",
                   "skip+packed+share-eaco+sleep+consolidate", "skip+share-eaco-similar+sleep",
                   "easy-backfill+share-eaco+sleep",
                   "fair-share+pal+share-eaco-complementary+sleep"},
      .incidents = false,
      .priorities = false,
      .rounds = false,
      .exact = true};
  int64_t shared = 0;
  int64_t moved = 0;
  const auto check = [&](uint64_t seed) {
    SharingRun run = draw_sharing_run(seed, shape);
    run.composition.options.limits.spare_promises = true;
    RC_LOG() << run.composition.name << ", seed " << seed << "\n";
    FirstStarts starts(run);
    const auto result = run.simulate(&starts);
    if (!result) RC_FAIL(result.error().message);
    for (size_t i = 0; i < result->outcomes.size(); ++i) {
      shared += result->shared_of(i).shared;
      moved += result->shared_of(i).moved;
      const TimeNs deadline_ns = run.history.training[i].deadline_ns;
      if (deadline_ns < 0) continue;
      const TimeNs due_ns = run.history.jobs[i].request.submit_ns + deadline_ns;
      if (starts.end_ns()[i] > due_ns) continue;
      RC_ASSERT(result->outcomes[i].finish_ns <= due_ns + base::from_seconds(kRounding_s));
    }
  };
  EXPECT_TRUE(rc::check([&] {
    base::Random seeds(*rc::gen::arbitrary<uint64_t>());
    for (int i = 0; i < kRunsEach; ++i) check(seeds());
  }));
  EXPECT_GT(shared, 0);
  EXPECT_GT(moved, 0);
}

}  // namespace
}  // namespace goban::core::scheduler
