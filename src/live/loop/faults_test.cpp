// The live scheduler under simulated faults: with lost and duplicated messages, crashes and full
// disks, no job is lost, none runs twice at a time, and every end is accounted once.
#include <gtest/gtest.h>

#include "base/test_names.hpp"
#include "live/loop/test_fault_runs.hpp"
#include "live/loop/test_site.hpp"
#include "live/loop/test_world.hpp"

namespace goban::live::loop {
namespace {

bool begins(std::string_view policy, std::string_view with) { return policy.starts_with(with); }

/// `energy/` before the name of a policy: with a power model, so that nodes may sleep. `sharing/`:
/// in addition, jobs that allow it may share GPUs. `elastic/`: some jobs are elastic. `pilot/`:
/// there are pilots on some nodes.
controller::Site small_site(std::string policy) {
  if (begins(policy, "pilot/")) policy.erase(0, policy.find('/') + 1);
  const bool resizes = begins(policy, "elastic/");
  if (resizes) policy.erase(0, policy.find('/') + 1);
  const bool shares = begins(policy, "sharing/");
  const bool has_watts = shares || begins(policy, "energy/");
  if (has_watts) policy.erase(0, policy.find('/') + 1);
  controller::Site site = test_site(4, 4, policy, 1.5);
  if (has_watts) add_knowledge(site);
  if (shares) {
    site.composition.options.rules = core::policy::kLiveSharing;
    site.composition.options.observation.min_residence_s = 5;
    site.composition.options.observation.observe_max_s = 30;
    site.composition.options.observation.cool_down_s = 30;
  }
  if (resizes) add_speeds(site);
  site.keep_ended_ns = 600 * base::kSecond;
  site.reservations = {.unit_ns = base::kSecond, .ahead_ns = 0};
  return site;
}

/// Daemons and their restarts, driven step by step.
class World {
 public:
  /// Several policies: each start of the daemon uses the next one.
  World(std::vector<std::string> policies, uint64_t seed)
      : policies_(std::move(policies)),
        random_(seed),
        cluster_(test_site(4, 4, "fifo+packed").cluster),
        engine_(cluster_, seed + 1) {
    cycle_ = std::make_unique<CommitCycle>(small_site(policies_[0]), log_, engine_);
    shares_ = begins(policies_[0], "sharing/");
    resizes_ = begins(policies_[0], "elastic/");
    tries_ = begins(policies_[0], "pilot/");
    engine_.tells_progress = shares_;
  }

  void step() {
    now_ += static_cast<TimeNs>(random_.below(4 * uint64_t{base::kSecond}));
    std::vector<controller::Input> inputs;
    if (random_.below(3) == 0) inputs.push_back(some_request());
    if (tries_ && random_.below(100) == 0) inputs.push_back(pilot());
    disturb();
    engine_.advance(now_);
    turn(std::move(inputs));
  }

  /// Ends all faults and advances time until all jobs are finished.
  void heal_and_finish() {
    log_.full = false;
    engine_.loss = 0;
    engine_.full = 0;
    for (uint32_t node = 0; node < 4; ++node) {
      engine_.mend_node(NodeId(node));
      turn({controller::Resume{NodeId(node)}});
    }
    for (int i = 0; i < 20'000 && !is_done(); ++i) {
      now_ += 10 * base::kSecond;
      std::vector<controller::Input> inputs;
      for (const auto& [id, job] : book().jobs) {
        if (job.stage == controller::JobStage::Held)
          inputs.emplace_back(controller::Release{.job = id, .by = kRoot});
        if (job.stage == controller::JobStage::Suspended)
          inputs.emplace_back(controller::Continue{.job = id, .by = kRoot});
      }
      if (i % 10 == 0) refresh();
      engine_.advance(now_);
      turn(std::move(inputs));
    }
  }

  void check_end() const {
    for (const auto& [id, job] : book().jobs) {
      EXPECT_EQ(job.stage, controller::JobStage::Done) << "job " << job::job_number(id);
    }
    for (const auto& [id, run] : engine_.runs()) {
      EXPECT_NE(run.state, FaultyEngine::Run::State::Running) << "an orphan";
    }
    EXPECT_TRUE(book().runs.empty());
    EXPECT_EQ(stored_.size(), submitted_) << "every job is accounted";
    for (const auto& [id, result] : stored_) {
      if (result != controller::JobResult::Completed) continue;
      EXPECT_TRUE(ran_to_its_end(id)) << "job " << job::job_number(id);
    }
    EXPECT_EQ(engine_.removed_payloads(), payloads_) << "of jobs that never ran, too";
  }

  [[nodiscard]] size_t restarts() const { return restarts_; }
  [[nodiscard]] size_t ran_in_pilots() const { return ran_in_pilots_; }
  [[nodiscard]] size_t ran_in_reservations() const { return ran_in_reservations_; }
  [[nodiscard]] int64_t others() const { return others_; }
  [[nodiscard]] size_t met() const { return met_; }
  [[nodiscard]] size_t resized() const { return resized_; }
  /// Number of co-located job sets that were measured.
  [[nodiscard]] size_t learned() const {
    const auto history = cycle_->controller().colocation();
    return static_cast<size_t>(
        std::ranges::count_if(history.sets(), [](const auto& set) { return set.size > 1; }));
  }
  [[nodiscard]] const std::map<JobId, controller::JobResult>& stored() const { return stored_; }
  [[nodiscard]] const FaultyEngine& engine() const { return engine_; }

 private:
  inline static const controller::Caller kRoot{.uid = 0, .user = "root", .is_operator = true};

  [[nodiscard]] const controller::JobBook& book() const { return cycle_->controller().book(); }

  controller::Alter alteration(JobId job) {
    controller::Alter out{.job = job, .by = kRoot};
    if (random_.below(2) == 0) {
      out.walltime_limit_ns = base::kSecond * static_cast<TimeNs>(1 + random_.below(400));
    }
    if (random_.below(2) == 0) out.priority = static_cast<int32_t>(random_.below(5)) - 2;
    if (random_.below(2) == 0) out.array_limit = static_cast<int32_t>(random_.below(4));
    return out;
  }
  controller::Input some_request() {
    const JobId job(static_cast<uint32_t>(random_.below(std::max<uint64_t>(book().next_job, 1))));
    switch (random_.below(22)) {
      case 18:
        return controller::Suspend{.job = job, .by = kRoot};
      case 19:
        return controller::Continue{.job = some_suspended(job), .by = kRoot};
      case 12:
      case 13:
      case 14:
        // Reserved nodes cannot be those of a pilot.
        if (tries_ && random_.below(6) > 0) return submission();
        return reservation();
      case 15:
        return controller::CancelReservation{
            .reservation = ReservationId(static_cast<uint32_t>(
                random_.below(4 * std::max<uint64_t>(book().next_reservation, 1)))),
            .by = kRoot};
      case 16:
      case 17:
        return alteration(job);
      case 0:
        return controller::Cancel{.job = job, .by = kRoot, .now = random_.below(3) == 0};
      case 1:
        return controller::Hold{.job = job, .by = kRoot};
      case 2:
      case 3:
        return controller::Release{.job = job, .by = kRoot};
      case 4:
        return controller::Requeue{.job = job, .by = kRoot};
      case 5:
        return controller::Drain{.node = NodeId(static_cast<uint32_t>(random_.below(4))),
                                 .from_ns = now_,
                                 .now = random_.below(2) == 0};
      case 6:
        return controller::Resume{NodeId(static_cast<uint32_t>(random_.below(4)))};
      default:
        return submission();
    }
  }

  /// A pilot on one or two nodes begins, or the present one ends.
  controller::Input pilot() {
    if (random_.below(6) == 0) return controller::StopPilot{.by = kRoot};
    controller::StartPilot start{.by = kRoot};
    start.plan = {.policy_a = policies_[0].substr(policies_[0].find('/') + 1),
                  .policy_b = "las+packed",
                  .period_ns = 10 * base::kMinute,
                  .settle_ns = 0,
                  .pairs = static_cast<int32_t>(1 + random_.below(2)),
                  .seed = random_.below(100),
                  .nodes = {"n" + std::to_string(random_.below(2))},
                  .accounts = {"tried"}};
    if (random_.below(2) == 0) start.plan.nodes.push_back("n3");
    start.plan.stop.jobs = 10;
    return start;
  }

  /// The first suspended job, or else this one.
  [[nodiscard]] JobId some_suspended(JobId other) const {
    const auto& jobs = book().jobs;
    const auto found = std::ranges::find_if(jobs, [](const auto& each) {
      return each.second.stage == controller::JobStage::Suspended;
    });
    return found == jobs.end() ? other : found->first;
  }

  controller::Reserve reservation() {
    controller::Reserve reserve{.num_nodes = static_cast<int32_t>(1 + random_.below(2)),
                                .by = kRoot};
    reserve.plan.start_ns = now_ + static_cast<TimeNs>(40 + random_.below(40)) * base::kSecond;
    reserve.plan.end_ns =
        reserve.plan.start_ns + static_cast<TimeNs>(1 + random_.below(200)) * base::kSecond;
    if (random_.below(2) == 0) {
      reserve.plan.nodes = {NodeId(static_cast<uint32_t>(random_.below(4)))};
    }
    return reserve;
  }

  controller::Submit submission() {
    controller::Submit submit;
    const uint64_t tasks = random_.below(6) == 0 ? 1 + random_.below(4) : 1;
    const std::string payload = "payload-" + std::to_string(submissions_++);
    for (uint64_t i = 0; i < tasks; ++i) {
      job::JobSpec spec{.num_gpus = static_cast<int32_t>(1 + random_.below(6))};
      spec.priority = static_cast<int32_t>(random_.below(3));
      spec.preemptible = random_.below(2) == 0;
      if (random_.below(8) > 0) spec.walltime_limit_ns = 40 * base::kSecond;
      spec.payload = payload;
      if (tasks > 1) spec.array_task = static_cast<int32_t>(i);
      if (tasks > 1) spec.array_limit = 2;
      const bool wants_own = random_.below(4) > 0 && spec.num_gpus <= 4;
      for (const auto& [id, each] : book().reservations) {
        if (wants_own && each.is_open()) spec.reservation = controller::reservation_name(id);
      }
      if (book().next_job > 0 && random_.below(8) == 0) {
        const JobId other(static_cast<uint32_t>(random_.below(book().next_job)));
        const auto kind = static_cast<job::DependencyKind>(random_.below(4));
        if (book().find(other) != nullptr) spec.dependencies = {{.kind = kind, .job = other}};
      }
      if (tries_ && random_.below(2) == 0) spec.account = "tried";
      if (shares_) {
        spec.model = "m" + std::to_string(random_.below(3));
        spec.training = {.gpu_mem_bytes = int64_t{1} << 30, .gpu_util_pct = 30};
        if (random_.below(4) != 0) spec.training.sharing = core::model::SharingRequest::Yes;
      }
      if (resizes_ && random_.below(4) > 0) {
        spec.model = "net";
        spec.training.gpus_min =
            static_cast<int32_t>(1 + random_.below(static_cast<uint64_t>(spec.num_gpus)));
        spec.training.gpus_max = spec.num_gpus + static_cast<int32_t>(random_.below(5));
        spec.training.steps = static_cast<int64_t>(1 + random_.below(100));
        spec.training.resize_cost_ns = static_cast<TimeNs>(random_.below(3)) * base::kSecond;
      }
      submit.jobs.push_back(std::move(spec));
    }
    return submit;
  }

  void disturb() {
    const NodeId node(static_cast<uint32_t>(random_.below(4)));
    switch (random_.below(60)) {
      case 0:
        engine_.fail_node(node);
        break;
      case 1:
      case 2:
        engine_.mend_node(node);
        break;
      case 3:
        log_.full = !log_.full;
        break;
      case 4:
        log_.full = false;
        engine_.loss = static_cast<double>(random_.below(4)) * 0.1;
        engine_.full = static_cast<double>(random_.below(3)) * 0.2;
        break;
      case 5:
        now_ -= std::min<TimeNs>(now_, 100 * base::kSecond);  // the clock was set back
        break;
      case 6:
        now_ += 300 * base::kSecond;
        break;
      case 7:
        crash();
        break;
      case 8:
      case 9:
        refresh();
        break;
      case 10:
        if (!log_.full) {
          EXPECT_TRUE(cycle_->compact());
        }
        break;
      default:
        break;
    }
  }

  void refresh() {
    if (cycle_->is_stuck()) return;
    cycle_->resume();
    engine_.report_nodes();
  }

  /// kill -9 and a new daemon.
  void crash() {
    ++restarts_;
    log_.crash();
    engine_.drop_reports();
    const auto ran_before = running();
    cycle_ = std::make_unique<CommitCycle>(small_site(policies_[restarts_ % policies_.size()]),
                                           log_, engine_);
    const auto fold = cycle_->fold(log_.safe);
    ASSERT_TRUE(fold) << fold.error().text();
    if (policies_.size() == 1) {
      EXPECT_EQ(fold->other, 0) << "record " << fold->first_other;
    }
    EXPECT_EQ(fold->uncompared, 0);
    others_ += fold->other;
    for (const auto& [id, gpus] : ran_before) check_still_known(id, gpus);
    if (fold->other > 0 && !log_.full) {
      EXPECT_TRUE(cycle_->compact());
    }
    cycle_->resume();
    engine_.report_nodes();
  }

  [[nodiscard]] std::map<RunId, std::vector<GpuId>> running() const {
    std::map<RunId, std::vector<GpuId>> found;
    for (const auto& [id, run] : engine_.runs()) {
      if (run.state == FaultyEngine::Run::State::Running) found[id] = run.gpus;
    }
    return found;
  }

  /// The new daemon's job table has the run, on its GPUs.
  void check_still_known(RunId id, const std::vector<GpuId>& gpus) const {
    const auto found = book().runs.find(id);
    ASSERT_NE(found, book().runs.end()) << "job " << job::job_number(id.job) << " is lost";
    EXPECT_EQ(found->second.gpus, gpus) << "job " << job::job_number(id.job);
  }

  void turn(std::vector<controller::Input> inputs) {
    std::vector<size_t> sizes;
    for (const controller::Input& input : inputs) {
      const auto* submit = std::get_if<controller::Submit>(&input);
      sizes.push_back(submit == nullptr ? 0 : submit->jobs.size());
    }
    const JobId first = cycle_->controller().next_job();
    const auto answers = cycle_->run(std::move(inputs), now_);
    for (size_t i = 0; i < answers.size(); ++i) {
      if (answers[i] && sizes[i] > 0) {
        EXPECT_EQ(answers[i]->first_job, first);
      }
    }
    // Outcomes for all new jobs, whether or not their submitter got an answer.
    for (uint32_t id = first.value; id < cycle_->controller().next_job().value; ++id) {
      engine_.fates[JobId(id)] = {
          .takes_ns = static_cast<TimeNs>(random_.below(60)) * base::kSecond,
          .exit_code = random_.below(8) == 0 ? 1 : 0};
    }
    if (!cycle_->is_stuck()) {
      submitted_ = cycle_->controller().next_job().value;
      for (const auto& [id, job] : book().jobs) payloads_.insert(job.spec.payload);
    }
    check_gpus();
    check_reservations();
    check_pilot();
    for (const JobId job : cycle_->take_accounts()) {
      const controller::LiveJob* record = book().find(job);
      ASSERT_NE(record, nullptr);
      const auto known = stored_.emplace(job, record->result);
      resized_ += known.second ? record->resizes : 0;
      if (!known.second) {
        EXPECT_EQ(known.first->second, record->result) << "told another end";
      }
      if (random_.below(10) != 0) cycle_->accounted(job, now_);
    }
    for (const auto& [id, job] : book().jobs) {
      if (job.stage == controller::JobStage::Done) continue;
      EXPECT_FALSE(engine_.removed_payloads().contains(job.spec.payload))
          << "job " << job::job_number(id) << " still needs its payload";
    }
  }

  [[nodiscard]] bool wants_neighbours(RunId id) const {
    return book().find(id.job)->spec.training.sharing == core::model::SharingRequest::Yes;
  }

  /// No other run is on a run's GPUs, physically, unless both jobs allow sharing.
  void check_gpus() {
    std::map<GpuId, RunId> holder;
    std::set<JobId> running;
    for (const auto& [id, run] : engine_.runs()) {
      if (run.state != FaultyEngine::Run::State::Running) continue;
      ASSERT_TRUE(running.insert(id.job).second)
          << "job " << job::job_number(id.job) << " runs twice";
      for (const GpuId gpu : run.gpus) {
        const auto [other, is_new] = holder.emplace(gpu, id);
        if (!is_new && shares_ && id.job != other->second.job && wants_neighbours(id) &&
            wants_neighbours(other->second)) {
          ++met_;
          continue;
        }
        ASSERT_TRUE(is_new) << "GPU " << gpu.value << " is held by jobs "
                            << job::job_number(other->second.job) << " and "
                            << job::job_number(id.job);
      }
    }
  }

  /// No foreign run is on reserved nodes, unless it was ordered to stop; and jobs of a reservation
  /// run only on its nodes, while it is active.
  void check_reservations() {
    const TimeNs now = cycle_->controller().now_ns();
    for (const auto& [id, run] : book().runs) {
      if (run.stage == controller::LiveRun::Stage::Stopping) continue;
      const ReservationId own = book().find(id.job)->reservation;
      if (book().pilot && own.valid() && book().pilot->part == own) continue;
      for (const GpuId gpu : run.gpus) {
        ReservationId holder;
        for (const auto& [reservation, each] : book().reservations) {
          const auto& nodes = each.plan.nodes;
          const bool holds = each.is_open() && each.plan.start_ns <= now &&
                             now < each.plan.end_ns &&
                             std::ranges::find(nodes, cluster_.node_of(gpu)) != nodes.end();
          if (holds) holder = reservation;
        }
        ASSERT_EQ(holder, own) << "job " << job::job_number(id.job) << " on GPU " << gpu.value;
      }
      ran_in_reservations_ += own.valid() ? 1 : 0;
    }
  }

  /// Jobs of a pilot run on its nodes alone, and nobody else begins there while it lasts.
  void check_pilot() {
    if (!book().pilot || !book().pilot->runs()) return;
    const controller::LivePilot& pilot = *book().pilot;
    for (const auto& [id, run] : book().runs) {
      if (run.stage == controller::LiveRun::Stage::Stopping) continue;
      const controller::LiveJob& job = *book().find(id.job);
      const bool is_ours = job.reservation == pilot.part;
      const bool is_new = job.submit_ns > pilot.started_ns;
      for (const GpuId gpu : run.gpus) {
        const std::string& name = cluster_.node(cluster_.node_of(gpu)).name;
        const auto& nodes = pilot.plan.nodes;
        const bool is_there = std::ranges::find(nodes, name) != nodes.end();
        if (is_ours || is_new) {
          ASSERT_EQ(is_there, is_ours) << "job " << job::job_number(id.job) << " on " << name;
        }
      }
      ran_in_pilots_ += is_ours ? 1 : 0;
    }
  }

  [[nodiscard]] bool ran_to_its_end(JobId job) const {
    return std::ranges::any_of(engine_.runs(), [&](const auto& each) {
      return each.first.job == job && each.second.state == FaultyEngine::Run::State::Ended &&
             !each.second.stopped && each.second.exit_code == 0;
    });
  }

  [[nodiscard]] bool is_done() const {
    return std::ranges::all_of(book().jobs, [](const auto& each) {
      return each.second.stage == controller::JobStage::Done && each.second.accounted;
    });
  }

  std::vector<std::string> policies_;
  base::Random random_;
  core::model::Cluster cluster_;
  MemoryLog log_;
  FaultyEngine engine_;
  std::unique_ptr<CommitCycle> cycle_;
  TimeNs now_ = 1'000 * base::kSecond;
  size_t submitted_ = 0;
  size_t restarts_ = 0;
  size_t submissions_ = 0;
  std::set<std::string> payloads_;  ///< payloads of all submitted jobs
  size_t ran_in_reservations_ = 0;
  int64_t others_ = 0;
  bool shares_ = false;
  bool resizes_ = false;
  bool tries_ = false;
  size_t ran_in_pilots_ = 0;
  size_t resized_ = 0;  ///< resizes of all jobs that ended
  size_t met_ = 0;      ///< pairs of neighbours on a GPU, summed over steps
  std::map<JobId, controller::JobResult> stored_;
};

class Faults : public testing::TestWithParam<const char*> {};

// Steps per policy: more than a million for all ten policies. A tenth in clang builds, as their
// sanitizers make a step fifteen times slower.
#ifdef __clang__
constexpr int kSteps = 12'000;
#else
constexpr int kSteps = 120'000;
#endif

TEST_P(Faults, NothingIsLostAndNothingRunsTwice) {
  const FaultRuns runs(kSteps);
  size_t rests = 0;
  size_t reserved = 0;
  size_t met = 0;
  size_t learned = 0;
  size_t resized = 0;
  size_t tried = 0;
  const auto failed =
      runs.for_each_world([](uint64_t seed) { return World({GetParam()}, seed); }, HasFailure,
                          [&](const World& world) {
                            EXPECT_GT(world.restarts(), 0U);
                            reserved += world.ran_in_reservations();
                            EXPECT_GT(world.stored().size(), 100U);
                            rests += world.engine().rests();
                            met += world.met();
                            resized += world.resized();
                            tried += world.ran_in_pilots();
                            learned += world.learned();
                          });
  ASSERT_FALSE(failed) << "seed " << *failed;
  EXPECT_GT(reserved, 20U);
  if (std::string_view(GetParam()).starts_with("energy/")) {
    EXPECT_GT(rests, 10U);
  }
  if (begins(GetParam(), "elastic/")) {
    EXPECT_GT(resized, 20U);
  }
  EXPECT_EQ(tried > 100, begins(GetParam(), "pilot/")) << tried;
  if (begins(GetParam(), "sharing/")) {
    EXPECT_GT(met, 100U);
    // Observations rarely complete between faults.
    constexpr int kEnough = 100'000;
    EXPECT_TRUE(learned > 0 || runs.steps < kEnough) << learned;
  }
}

// The policy can be changed without a clean shutdown before: recorded decisions stay as they are.
TEST(FaultsTest, EveryLifeOfTheDaemonHasAnotherPolicy) {
  const std::vector<std::string> policies = {"easy-backfill+pal", "las+pal", "priority+skip+spread",
                                             "goban", "fifo+packed"};
  int64_t others = 0;
  for (uint64_t seed = 1; seed <= 10; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    World world(policies, seed);
    for (int i = 0; i < 2'000 && !testing::Test::HasFailure(); ++i) world.step();
    world.heal_and_finish();
    world.check_end();
    if (testing::Test::HasFailure()) return;
    others += world.others();
  }
  EXPECT_GT(others, 100);
}

INSTANTIATE_TEST_SUITE_P(Policies, Faults,
                         testing::Values("fifo+packed", "easy-backfill+pal", "las+pal",
                                         "priority+skip+spread", "goban", "energy/goban",
                                         "energy/fifo+packed+sleep", "sharing/eaco",
                                         "sharing/goban", "elastic/skip+packed+max-marginal",
                                         "pilot/easy-backfill+packed"),
                         [](const auto& each) { return base::test_name(each.param); });

}  // namespace
}  // namespace goban::live::loop
