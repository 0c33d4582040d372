// Invariants of whole simulations, on random clusters, histories and policies.
#include <algorithm>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <map>
#include <rapidcheck.h>

#include "base/random.hpp"
#include "core/model/cluster_presets.hpp"
#include "study/simulator/batch.hpp"

namespace goban::core::scheduler {
namespace {

using base::TimeNs;
using model::GpuId;

/// A random experiment, reproducible from its seed.
struct Experiment {
  uint64_t seed = 0;
  std::unique_ptr<model::Cluster> cluster;
  std::unique_ptr<knowledge::PmScores> scores;
  std::unique_ptr<knowledge::LocalityPenalties> penalties;
  model::JobHistory history;
  policy::Composition composition;
  study::simulator::SimulationOptions options;

  [[nodiscard]] policy::SpeedModel speed() const {
    return {cluster.get(), scores.get(), penalties.get()};
  }
};

struct Shape {
  std::vector<std::string> policies;
  bool ideal_gpus = false;
  bool limits = true;
  bool account_limits = false;
};

/// Account 1 below account 0, account 2 a sibling of 0; limits that every job can meet.
std::shared_ptr<model::SiteRules> draw_rules(base::Random& random, uint32_t gpus,
                                             bool account_limits) {
  auto rules = std::make_shared<model::SiteRules>();
  rules->half_life_ns = base::from_seconds(500);
  rules->recalculate_ns = base::from_seconds(20 + static_cast<double>(random.below(200)));
  rules->weights.age_max_ns = base::from_seconds(1000);
  const auto limits = [&] {
    model::HardLimits out;
    if (account_limits && random.below(3) == 0) {
      out.max_gpus = static_cast<int32_t>(gpus + random.below(3));
      out.max_jobs = static_cast<int32_t>(1 + random.below(4));
    }
    return out;
  };
  for (int account = 0; account < 3; ++account) {
    rules->accounts.push_back({.parent = account == 1 ? model::AccountId(0u) : model::AccountId(),
                               .shares = 1 + random.uniform(),
                               .limits = limits(),
                               .limits_each = limits()});
  }
  rules->users.push_back({.account = model::AccountId(2u),
                          .user = model::UserId(1u),
                          .shares = 3,
                          .limits = limits()});
  return rules;
}

Experiment draw(uint64_t seed, const Shape& shape) {
  base::Random random(seed);
  Experiment e;
  e.seed = seed;
  const uint64_t nodes = 1 + random.below(6);
  const uint64_t per_node = 1 + random.below(5);
  e.cluster = std::make_unique<model::Cluster>(
      model::make_preset(fmt::format("{}x{}", nodes, per_node)).value());
  const uint32_t gpus = e.cluster->num_gpus();
  std::vector<knowledge::ClassScores> classes;
  for (int c = 0; c < 3; ++c) {
    std::vector<double> raw;
    std::vector<double> bins;
    for (uint32_t gpu = 0; gpu < gpus; ++gpu) {
      bins.push_back(0.9 + 0.1 * static_cast<double>(random.below(4)));
      raw.push_back(shape.ideal_gpus ? 1.0 : bins.back() + 0.01 * random.uniform());
    }
    classes.push_back(knowledge::class_from_values(raw, bins));
  }
  e.scores = std::make_unique<knowledge::PmScores>(std::move(classes));
  e.penalties = std::make_unique<knowledge::LocalityPenalties>(
      *e.cluster, shape.ideal_gpus ? 1.0 : 1.0 + random.uniform());

  const uint64_t count = 1 + random.below(60);
  TimeNs submit = 0;
  for (uint64_t i = 0; i < count; ++i) {
    model::Job job;
    submit += base::from_seconds(static_cast<double>(random.below(120)));
    job.request.submit_ns = submit;
    job.request.num_gpus = static_cast<int32_t>(1 + random.below(gpus));
    job.request.app_class = model::AppClass{static_cast<uint8_t>(random.below(3))};
    job.request.priority = static_cast<int32_t>(random.below(5));
    job.request.user = model::UserId(random.below(3));
    job.request.account = model::AccountId(random.below(3));
    job.work_s = static_cast<double>(random.below(2000)) + (random.below(3) == 0 ? 0.37 : 0.0);
    if (shape.limits && random.below(3) == 0) {
      job.request.walltime_limit_ns =
          base::from_seconds(1 + static_cast<double>(random.below(3000)));
    }
    e.history.jobs.push_back(job);
    e.history.job_names.add(std::to_string(i));
  }
  e.composition = policy::compose(shape.policies[random.below(shape.policies.size())]).value();
  e.composition.rules = draw_rules(random, gpus, shape.account_limits);
  policy::RunSettings& settings = e.composition.settings;
  if (!settings.credit_per_round) {
    settings.restart_cost_s = static_cast<double>(random.below(3)) * 25;
    settings.round_s = random.below(3) == 0 ? 60 : 0;
  }
  e.options.settings = settings;
  e.options.seed = seed;
  return e;
}

/// Tracks allocations from outside the core.
class Books final : public study::simulator::Observer {
 public:
  explicit Books(const Experiment& e) : e_(e), owner_(e.cluster->num_gpus()) {}

  void acted(TimeNs now, const model::Action& action, const Core& core) override {
    if (action.kind != model::ActionKind::Start) {
      leave(action.job, now);
      return;
    }
    Stay stay{now, 0, core.allocation(action.job).gpus, 0};
    const model::JobRequest& request = e_.history.jobs[action.job.index()].request;
    RC_ASSERT(static_cast<int32_t>(stay.gpus.size()) == request.num_gpus);  // gangs are complete
    RC_ASSERT(now >= request.submit_ns);
    for (const GpuId gpu : stay.gpus) {
      RC_ASSERT(!owner_[gpu.index()].valid());  // no GPU is allocated twice
      owner_[gpu.index()] = action.job;
    }
    hold(request, request.num_gpus, 1);
    std::vector<Stay>& stays = stays_[action.job];
    if (!stays.empty() && sorted(stays.back().gpus) != sorted(stay.gpus)) {
      stay.overhead_s = e_.options.settings.restart_cost_s;
    } else if (!stays.empty()) {
      const Stay& last = stays.back();
      stay.overhead_s = std::max(0.0, last.overhead_s - base::to_seconds(last.end - last.start));
    }
    stays.push_back(std::move(stay));
  }
  void job_ended(TimeNs now, JobId job, study::simulator::JobEnd) override { leave(job, now); }

  /// Work done must equal the work of the job, within its limit.
  void check(const study::simulator::SimulationResult& result) const {
    const double round_s = e_.options.settings.credit_per_round ? e_.options.settings.round_s : 0;
    for (size_t i = 0; i < e_.history.jobs.size(); ++i) {
      const model::Job& job = e_.history.jobs[i];
      const study::simulator::JobOutcome& outcome = result.outcomes[i];
      RC_ASSERT(outcome.end != study::simulator::JobEnd::Pending);
      const std::vector<Stay>& stays = stays_.at(JobId(i));
      double done_s = 0;
      double step_s = 0;  // effect of one more nanosecond, or round
      TimeNs held = 0;
      for (const Stay& stay : stays) {
        const double slowdown = e_.speed().slowdown(job.request, stay.gpus);
        const double worked_s = base::to_seconds(stay.end - stay.start) - stay.overhead_s;
        done_s += std::max(0.0, worked_s) / slowdown;
        step_s = std::max(step_s, std::max(round_s, 2e-9) / slowdown);
        held += stay.end - stay.start;
      }
      RC_ASSERT(held == outcome.held_ns);
      const TimeNs limit = job.request.walltime_limit_ns;
      if (limit > 0 && round_s == 0) RC_ASSERT(held <= limit);
      if (outcome.end == study::simulator::JobEnd::Finished) {
        RC_ASSERT(done_s >= job.work_s - 1e-6);
        RC_ASSERT(done_s <= job.work_s + step_s + 1e-6);
      } else if (round_s == 0) {
        RC_ASSERT(held == limit);
      }
    }
  }

 private:
  struct Stay {
    TimeNs start;
    TimeNs end;
    std::vector<GpuId> gpus;
    double overhead_s;
  };
  static std::vector<GpuId> sorted(std::vector<GpuId> gpus) {
    std::ranges::sort(gpus);
    return gpus;
  }
  void leave(JobId job, TimeNs now) {
    stays_[job].back().end = now;
    const model::JobRequest& request = e_.history.jobs[job.index()].request;
    hold(request, -request.num_gpus, -1);
    for (const GpuId gpu : stays_[job].back().gpus) owner_[gpu.index()] = {};
  }

  /// Hard limits: of the account, its ancestors, and its user.
  void hold(const model::JobRequest& request, int32_t gpus, int32_t jobs) {
    const model::SiteRules& rules = *e_.composition.rules;
    const auto within = [&](Held& held, const model::HardLimits& limits) {
      held.gpus += gpus;
      held.jobs += jobs;
      RC_ASSERT(held.gpus >= 0 && held.gpus <= limits.max_gpus);
      RC_ASSERT(held.jobs >= 0 && held.jobs <= limits.max_jobs);
    };
    const uint32_t account = request.account.value;
    const model::AccountRule& rule = rules.accounts[account];
    within(accounts_[account], rule.limits);
    if (rule.parent.valid()) {
      within(accounts_[rule.parent.value], rules.accounts[rule.parent.index()].limits);
    }
    within(users_[{account, request.user.value}], rule.limits_each);
    const model::UserRule& user = rules.users.front();
    if (user.account == request.account && user.user == request.user) {
      within(special_user_, user.limits);
    }
  }

  struct Held {
    int32_t gpus = 0;
    int32_t jobs = 0;
  };
  std::map<uint32_t, Held> accounts_;
  std::map<std::pair<uint32_t, uint32_t>, Held> users_;
  Held special_user_;
  const Experiment& e_;
  std::vector<JobId> owner_;
  std::map<JobId, std::vector<Stay>> stays_;
};

const std::vector<std::string> kPolicies = {"fifo+packed",
                                            "fifo+skip+spread",
                                            "las+pal",
                                            "las+skip+packed",
                                            "srtf+pm-first",
                                            "las+pal+non-sticky",
                                            "srtf+skip+random+non-sticky",
                                            "easy-backfill+packed",
                                            "easy-backfill+pal",
                                            "easy-backfill+consolidated",
                                            "conservative-backfill+packed",
                                            "conservative-backfill+pal",
                                            "priority+consolidated+sticky",
                                            "slurm-multifactor",
                                            "fair-share+skip+packed",
                                            "fair-share+packed+sticky",
                                            "multifactor+conservative-backfill+packed",
                                            "fair-share+pal+non-sticky",
                                            "las+easy-backfill+packed",
                                            "goban",
                                            "fair-share+promise-backfill+pal-tight",
                                            "easy-backfill+packed+non-sticky",
                                            "pal-artifact",
                                            "pm-first-artifact",
                                            "packed-sticky-artifact",
                                            "packed-nonsticky-artifact",
                                            "random-sticky-artifact",
                                            "random-nonsticky-artifact",
                                            "fifo-packed-strict",
                                            "fifo-fungible-strict"};

TEST(SimulationProperty, GpusAreExclusiveGangsWholeAndWorkAddsUp) {
  EXPECT_TRUE(rc::check([] {
    Experiment e = draw(*rc::gen::arbitrary<uint64_t>(),
                        {.policies = kPolicies, .ideal_gpus = false, .account_limits = true});
    RC_TAG(e.composition.name);
    Books books(e);
    e.options.observer = &books;
    const auto result = study::simulator::simulate(e.history, e.speed(), e.composition, e.options);
    if (!result) RC_FAIL(result.error().message);
    books.check(*result);
  }));
}

TEST(SimulationProperty, NoJobOvertakesAnotherUnderFifoAndPrefix) {
  EXPECT_TRUE(rc::check([] {
    const Shape shape{.policies = {"fifo+packed", "fifo+pal", "fifo-packed-strict",
                                   "fifo-fungible-strict", "fifo+prefix+consolidated"}};
    const Experiment e = draw(*rc::gen::arbitrary<uint64_t>(), shape);
    const auto result = study::simulator::simulate(e.history, e.speed(), e.composition, e.options);
    RC_ASSERT(result.has_value());
    for (size_t i = 1; i < result->outcomes.size(); ++i) {
      RC_ASSERT(result->outcomes[i - 1].start_ns <= result->outcomes[i].start_ns);
    }
  }));
}

/// Computes, after each decision, when the first waiting job could start if no other job did, from
/// free GPUs and the ends of running jobs; keeps the earliest for each.
class Promises final : public study::simulator::Observer {
 public:
  explicit Promises(const Experiment& e) : e_(e) {}
  void decided(const Decision& decision, const Core& core) override {
    const auto* head = core.state().queue().first();
    if (head == nullptr) return;
    const model::JobState& job = core.state().job(head->slot);
    int64_t free = core.state().resources().free_gpus();
    std::vector<std::pair<TimeNs, int32_t>> ends;
    for (const auto& running : core.state().running()) {
      const model::JobState& other = core.state().job(running.slot);
      const model::Job& truth = e_.history.jobs[other.job.index()];
      const TimeNs limit = other.request.walltime_limit_ns;
      const TimeNs hold = limit > 0 ? limit : base::from_seconds_up(truth.work_s);
      ends.emplace_back(other.run_start_ns + hold, other.request.num_gpus);
    }
    std::ranges::sort(ends);
    for (const auto& [end, gpus] : ends) {
      free += gpus;
      if (free < job.request.num_gpus) continue;
      const auto [entry, is_new] = promised_.try_emplace(job.job, end);
      if (!is_new) entry->second = std::min(entry->second, end);
      return;
    }
    (void)decision;
  }
  [[nodiscard]] const std::map<JobId, TimeNs>& promised() const { return promised_; }

 private:
  const Experiment& e_;
  std::map<JobId, TimeNs> promised_;
};

TEST(SimulationProperty, BackfillNeverDelaysTheReservedJob) {
  EXPECT_TRUE(rc::check([] {
    const Shape shape{.policies = {"easy-backfill+packed", "conservative-backfill+packed",
                                   "priority+easy-backfill+spread", "easy-backfill+random"},
                      .ideal_gpus = true};
    Experiment e = draw(*rc::gen::arbitrary<uint64_t>(), shape);
    e.composition.settings.round_s = e.options.settings.round_s = 0;
    Promises promises(e);
    e.options.observer = &promises;
    const auto result = study::simulator::simulate(e.history, e.speed(), e.composition, e.options);
    RC_ASSERT(result.has_value());
    if (e.composition.part(policy::PartKind::Order).name == "priority")
      return;  // a later job may start first
    for (const auto& [job, promised_ns] : promises.promised()) {
      RC_ASSERT(result->outcomes[job.index()].start_ns <= promised_ns);
    }
  }));
}

TEST(SimulationProperty, ResultsDependOnNothingButTheInput) {
  EXPECT_TRUE(rc::check([] {
    const uint64_t seed = *rc::gen::arbitrary<uint64_t>();
    const Experiment e = draw(seed, {.policies = kPolicies});
    std::vector<study::simulator::BatchRun> runs;
    for (const std::string& name : kPolicies) {
      study::simulator::BatchRun& run = runs.emplace_back();
      run.composition = policy::compose(name).value();
      run.speed = e.speed();
      run.options.settings = run.composition.settings;
      run.options.seed = seed;
    }
    const auto serial = study::simulator::simulate_all(e.history, runs, 1);
    const auto parallel = study::simulator::simulate_all(e.history, runs, 4);
    RC_ASSERT(serial.has_value() && parallel.has_value());
    for (size_t i = 0; i < runs.size(); ++i) {
      const auto& a = (*serial)[i].simulation;
      const auto& b = (*parallel)[i].simulation;
      RC_ASSERT(a.decisions == b.decisions && a.busy_gpu_s == b.busy_gpu_s);
      for (size_t j = 0; j < a.outcomes.size(); ++j) {
        RC_ASSERT(a.outcomes[j].start_ns == b.outcomes[j].start_ns);
        RC_ASSERT(a.outcomes[j].finish_ns == b.outcomes[j].finish_ns);
        RC_ASSERT(a.outcomes[j].held_ns == b.outcomes[j].held_ns);
      }
    }
  }));
}

TEST(SimulationProperty, NodeFailuresLoseNoJob) {
  EXPECT_TRUE(rc::check([] {
    const uint64_t seed = *rc::gen::arbitrary<uint64_t>();
    Experiment e = draw(seed, {.policies = kPolicies, .ideal_gpus = false, .limits = false});
    base::Random random(seed + 1);
    std::vector<model::Event> incidents;
    TimeNs at = 0;
    for (uint64_t i = random.below(6); i > 0; --i) {
      model::Event lost;
      at += base::from_seconds(1 + static_cast<double>(random.below(1500)));
      lost.at_ns = at;
      lost.kind = random.below(2) == 0 ? model::EventKind::NodeLost : model::EventKind::NodeClosed;
      lost.node = model::NodeId(random.below(e.cluster->nodes().size()));
      model::Event drained = lost;
      if (lost.kind == model::EventKind::NodeClosed) {
        drained.kind = model::EventKind::NodeDrained;
        drained.until_ns = at;
        drained.at_ns = std::max<TimeNs>(0, at - base::from_seconds(600));
        if (incidents.empty() || incidents.back().at_ns <= drained.at_ns) {
          incidents.push_back(drained);
        }
      }
      incidents.push_back(lost);
      at += base::from_seconds(1 + static_cast<double>(random.below(900)));
      model::Event back = lost;
      back.kind = model::EventKind::NodeRestored;
      back.at_ns = at;
      incidents.push_back(back);
    }
    e.options.incidents = incidents;
    e.options.checkpoint_interval_s = 60;
    const auto result = study::simulator::simulate(e.history, e.speed(), e.composition, e.options);
    if (!result) RC_FAIL(e.composition.name + ": " + result.error().message);
    for (const study::simulator::JobOutcome& outcome : result->outcomes)
      RC_ASSERT(outcome.end == study::simulator::JobEnd::Finished);
  }));
}

}  // namespace
}  // namespace goban::core::scheduler
