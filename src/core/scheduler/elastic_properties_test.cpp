// Invariants of elastic jobs in whole simulations, on random clusters of several GPU models,
// histories and policies: steps are conserved, sizes stay in range, GPUs are of one model.
#include <algorithm>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <map>
#include <rapidcheck.h>
#include <set>

#include "base/random.hpp"
#include "core/model/cluster.hpp"
#include "study/simulator/simulation.hpp"

namespace goban::core::scheduler {
namespace {

using base::TimeNs;
using model::GpuId;
using model::ModelId;
using study::simulator::JobEnd;

const std::vector<std::string> kElasticPolicies = {"fifo+packed",
                                                   "fifo+skip+spread",
                                                   "las+pal",
                                                   "easy-backfill+packed",
                                                   "conservative-backfill+packed",
                                                   "easy-backfill+consolidated",
                                                   "las+pal+non-sticky",
                                                   "srtf+skip+random+sticky",
                                                   "priority+consolidated+sticky",
                                                   "fair-share+skip+packed",
                                                   "promise-backfill+pal-tight"};
const std::vector<std::string> kSizes = {"fixed", "edf", "max-marginal"};

struct ElasticExperiment {
  std::unique_ptr<model::Cluster> cluster;
  std::unique_ptr<knowledge::PmScores> scores;
  std::unique_ptr<knowledge::LocalityPenalties> penalties;
  std::shared_ptr<model::JobSpeeds> speeds = std::make_shared<model::JobSpeeds>();
  model::JobHistory history;
  std::set<size_t> elastic;
  policy::Composition composition;
  study::simulator::SimulationOptions options;

  [[nodiscard]] policy::SpeedModel speed() const {
    return {cluster.get(), scores.get(), penalties.get()};
  }
};

model::Cluster draw_cluster(base::Random& random) {
  model::ClusterBuilder builder("drawn");
  const uint64_t models = 1 + random.below(3);
  for (uint64_t m = 0; m < models; ++m) builder.add_gpu_model({.name = fmt::format("gpu{}", m)});
  const uint64_t nodes = models + random.below(5);
  // Placements that ask for whole nodes count those of the largest size.
  const auto per_node = static_cast<uint32_t>(1 + random.below(5));
  for (uint64_t i = 0; i < nodes; ++i) {
    model::ClusterBuilder::Placed placed;
    placed.node.name = fmt::format("node{}", i);
    placed.node.num_gpus = per_node;
    placed.node.gpu_model = static_cast<uint32_t>(i % models);
    builder.add_node(std::move(placed));
  }
  return builder.build().value();
}

/// Three applications; each has levels on some GPU models only.
void draw_speeds(base::Random& random, const model::Cluster& cluster, model::JobSpeeds& speeds) {
  for (uint32_t app = 0; app < 3; ++app) {
    bool any = false;
    for (uint32_t m = 0; m < cluster.gpu_models().size(); ++m) {
      if (any && random.below(3) == 0) continue;
      any = true;
      int64_t all = 0;
      for (const model::Node& node : cluster.nodes())
        all += node.gpu_model == m ? node.num_gpus : 0;
      double rate = 0.5 + random.uniform();
      for (int32_t gpus = 1; gpus <= std::min<int64_t>(all, 9); ++gpus) {
        if (gpus == 1 || random.below(3) > 0) {
          speeds.add(ModelId(app), 0, m, {.gpus = gpus, .steps_per_s = rate});
        }
        rate *= 0.95 + random.uniform();
      }
    }
  }
}

ElasticExperiment draw(uint64_t seed) {
  base::Random random(seed);
  ElasticExperiment e;
  e.cluster = std::make_unique<model::Cluster>(draw_cluster(random));
  const uint32_t gpus = e.cluster->num_gpus();
  std::vector<double> raw;
  for (uint32_t gpu = 0; gpu < gpus; ++gpu) {
    raw.push_back(0.9 + 0.1 * static_cast<double>(random.below(3)));
  }
  std::vector<knowledge::ClassScores> classes;
  classes.push_back(knowledge::class_from_values(raw, raw));
  e.scores = std::make_unique<knowledge::PmScores>(std::move(classes));
  e.penalties =
      std::make_unique<knowledge::LocalityPenalties>(*e.cluster, 1.0 + 0.5 * random.uniform());
  draw_speeds(random, *e.cluster, *e.speeds);
  for (uint32_t app = 0; app < 3; ++app) e.history.models.intern(fmt::format("app{}", app));

  const uint64_t count = 1 + random.below(30);
  TimeNs submit = 0;
  for (uint64_t i = 0; i < count; ++i) {
    model::Job job;
    submit += base::from_seconds(static_cast<double>(random.below(200)));
    job.request.submit_ns = submit;
    job.request.priority = static_cast<int32_t>(random.below(3));
    job.request.user = model::UserId(random.below(2));
    job.request.account = model::AccountId(0u);
    job.request.stays = random.below(8) == 0;
    model::TrainingFacts facts;
    if (random.below(4) == 0) {
      job.request.num_gpus = static_cast<int32_t>(1 + random.below(gpus));
      job.work_s = static_cast<double>(1 + random.below(500));
    } else {
      job.request.model = ModelId(random.below(3));
      std::vector<model::SpeedLevel> levels;
      for (uint32_t m = 0; m < e.cluster->gpu_models().size(); ++m) {
        const auto known = e.speeds->levels(job.request.model, 0, m);
        levels.insert(levels.end(), known.begin(), known.end());
      }
      const model::SpeedLevel level = levels[random.below(levels.size())];
      job.request.num_gpus = level.gpus;
      facts.gpus_min = static_cast<int32_t>(1 + random.below(static_cast<uint64_t>(level.gpus)));
      facts.gpus_max = level.gpus + static_cast<int32_t>(random.below(6));
      facts.steps = static_cast<int64_t>(1 + random.below(400));
      facts.resize_cost_ns = base::from_seconds(static_cast<double>(random.below(3)) * 10 - 1);
      if (facts.resize_cost_ns < 0) facts.resize_cost_ns = -1;
      if (random.below(2) == 0) {
        facts.deadline_ns = base::from_seconds(static_cast<double>(random.below(2000)));
      }
      job.work_s = static_cast<double>(facts.steps) /
                   e.speeds->fastest(job.request.model, 0, level.gpus)->steps_per_s;
      e.elastic.insert(i);
    }
    e.history.jobs.push_back(job);
    e.history.job_names.add(std::to_string(i));
    e.history.training.push_back(facts);
  }
  const std::string name = kElasticPolicies[random.below(kElasticPolicies.size())] + "+" +
                           kSizes[random.below(kSizes.size())];
  e.composition = policy::compose(name).value();
  if (random.below(3) == 0) {
    // The core checks at each start that no limit is exceeded.
    model::HardLimits limits;
    limits.max_gpus = static_cast<int32_t>(gpus);
    limits.max_jobs = static_cast<int32_t>(1 + random.below(4));
    auto rules = std::make_shared<model::SiteRules>();
    rules->accounts.push_back({.parent = {}, .shares = 1, .limits = limits, .limits_each = {}});
    e.composition.rules = std::move(rules);
  }
  e.composition.settings.restart_cost_s = static_cast<double>(random.below(3)) * 25;
  e.composition.settings.round_s = random.below(3) == 0 ? 60 : 0;
  e.options.settings = e.composition.settings;
  e.options.seed = seed;
  e.options.speeds = e.speeds;
  return e;
}

/// Follows allocations from outside the core.
class ElasticBooks final : public study::simulator::Observer {
 public:
  explicit ElasticBooks(const ElasticExperiment& e) : e_(e), owner_(e.cluster->num_gpus()) {}

  void acted(TimeNs now, const model::Action& action, const Core& core) override {
    if (action.kind == model::ActionKind::Start) {
      start(now, action, core.allocation(action.job).gpus);
    } else {
      RC_ASSERT(stays_.contains(action.job) && stays_[action.job].back().end < 0);
      leave(action.job, now);
      if (action.resize) resizing_.insert(action.job);
    }
  }
  void decided(const Decision& decision, const Core& core) override {
    (void)decision, (void)core;
    RC_ASSERT(resizing_.empty());  // whoever is resized goes on in the same decision
  }
  void job_ended(TimeNs now, JobId job, JobEnd end) override {
    RC_ASSERT(end == JobEnd::Finished);
    leave(job, now);
  }

  /// Steps done, from times, sizes and the table alone.
  void check() const {
    for (const size_t i : e_.elastic) {
      const model::TrainingFacts& facts = e_.history.training[i];
      double steps = 0;
      double slack = 0;
      for (const Stay& stay : stays_.at(JobId(i))) {
        const double rate = level_of(i, stay).steps_per_s /
                            e_.speed().slowdown(e_.history.jobs[i].request, stay.gpus);
        steps += std::max(0.0, base::to_seconds(stay.end - stay.start) - stay.overhead_s) * rate;
        slack = std::max(slack, 2e-9 * rate);
      }
      const auto wanted = static_cast<double>(facts.steps);
      RC_ASSERT(steps >= wanted - 1e-6 * wanted);
      RC_ASSERT(steps <= wanted + slack + 1e-6 * wanted);
    }
  }

 private:
  struct Stay {
    TimeNs start = 0;
    TimeNs end = -1;
    std::vector<GpuId> gpus;
    double overhead_s = 0;
  };

  [[nodiscard]] uint32_t gpu_model(GpuId gpu) const {
    return e_.cluster->node(e_.cluster->node_of(gpu)).gpu_model;
  }
  [[nodiscard]] model::SpeedLevel level_of(size_t job, const Stay& stay) const {
    const auto* level =
        e_.speeds->find(e_.history.jobs[job].request.model, 0, gpu_model(stay.gpus.front()),
                        static_cast<int32_t>(stay.gpus.size()));
    RC_ASSERT(level != nullptr);  // it runs on so many GPUs of this model
    return *level;
  }

  void start(TimeNs now, const model::Action& action, const std::vector<GpuId>& gpus) {
    const size_t job = action.job.index();
    Stay stay{.start = now, .gpus = gpus};
    for (const GpuId gpu : gpus) {
      RC_ASSERT(!owner_[gpu.index()].valid());
      owner_[gpu.index()] = action.job;
    }
    const auto count = static_cast<int32_t>(gpus.size());
    std::vector<Stay>& stays = stays_[action.job];
    double cost_s = e_.options.settings.restart_cost_s;
    if (e_.elastic.contains(job)) {
      const model::TrainingFacts& facts = e_.history.training[job];
      RC_ASSERT(count >= facts.gpus_min && count <= facts.gpus_max);
      for (const GpuId gpu : gpus) RC_ASSERT(gpu_model(gpu) == gpu_model(gpus.front()));
      const bool resized = !stays.empty() && stays.back().gpus.size() != gpus.size();
      RC_ASSERT(resized || !resizing_.contains(action.job));
      if (resized && facts.resize_cost_ns >= 0) cost_s = base::to_seconds(facts.resize_cost_ns);
      if (resized && e_.history.jobs[job].request.stays) RC_FAIL("a job that stays was resized");
    } else {
      RC_ASSERT(count == e_.history.jobs[job].request.num_gpus);
    }
    resizing_.erase(action.job);
    if (!stays.empty()) {
      const Stay& last = stays.back();
      stay.overhead_s =
          sorted(last.gpus) == sorted(gpus)
              ? std::max(0.0, last.overhead_s - base::to_seconds(last.end - last.start))
              : cost_s;
    }
    stays.push_back(std::move(stay));
  }

  void leave(JobId job, TimeNs now) {
    Stay& stay = stays_[job].back();
    stay.end = now;
    for (const GpuId gpu : stay.gpus) owner_[gpu.index()] = {};
  }
  static std::vector<GpuId> sorted(std::vector<GpuId> gpus) {
    std::ranges::sort(gpus);
    return gpus;
  }

  const ElasticExperiment& e_;
  std::vector<JobId> owner_;
  std::map<JobId, std::vector<Stay>> stays_;
  std::set<JobId> resizing_;
};

TEST(ElasticProperty, StepsAreConservedSizesInRangeAndGpusOfOneModel) {
  EXPECT_TRUE(rc::check([] {
    ElasticExperiment e = draw(*rc::gen::arbitrary<uint64_t>());
    RC_TAG(e.composition.name.substr(e.composition.name.rfind('+') + 1));
    ElasticBooks books(e);
    e.options.observer = &books;
    const auto result = study::simulator::simulate(e.history, e.speed(), e.composition, e.options);
    if (!result) RC_FAIL(e.composition.name + ": " + result.error().message);
    books.check();
    double held_gpu_s = 0;
    for (size_t i = 0; i < e.history.jobs.size(); ++i) {
      held_gpu_s += result->held_gpu_s(i, e.history.jobs[i].request.num_gpus);
    }
    RC_ASSERT(std::abs(held_gpu_s - result->busy_gpu_s) <= 1e-6 * (1 + held_gpu_s));
  }));
}

TEST(ElasticProperty, RigidJobsAreNotTouchedByAPolicyOfSizes) {
  EXPECT_TRUE(rc::check([] {
    ElasticExperiment e = draw(*rc::gen::arbitrary<uint64_t>());
    e.options.speeds = nullptr;
    const std::string parts = e.composition.name.substr(0, e.composition.name.rfind('+'));
    const auto sized = study::simulator::simulate(e.history, e.speed(), e.composition, e.options);
    policy::Composition without = policy::compose(parts).value();
    without.rules = e.composition.rules;
    const auto plain = study::simulator::simulate(e.history, e.speed(), without, e.options);
    RC_ASSERT(sized.has_value() == plain.has_value());
    if (!sized) return;
    RC_ASSERT(sized->starts == plain->starts && sized->decisions == plain->decisions);
    for (size_t i = 0; i < sized->outcomes.size(); ++i) {
      RC_ASSERT(sized->outcomes[i].finish_ns == plain->outcomes[i].finish_ns);
    }
  }));
}

TEST(ElasticProperty, NodeFailuresLoseNoElasticJob) {
  EXPECT_TRUE(rc::check([] {
    const uint64_t seed = *rc::gen::arbitrary<uint64_t>();
    ElasticExperiment e = draw(seed);
    base::Random random(seed + 1);
    std::vector<model::Event> incidents;
    TimeNs at = 0;
    for (uint64_t i = random.below(6); i > 0; --i) {
      at += base::from_seconds(1 + static_cast<double>(random.below(600)));
      model::Event lost{
          .kind = random.below(2) == 0 ? model::EventKind::NodeLost : model::EventKind::NodeClosed,
          .at_ns = at,
          .node = model::NodeId(random.below(e.cluster->nodes().size()))};
      incidents.push_back(lost);
      at += base::from_seconds(1 + static_cast<double>(random.below(300)));
      lost.kind = model::EventKind::NodeRestored;
      lost.at_ns = at;
      incidents.push_back(lost);
    }
    e.options.incidents = incidents;
    e.options.checkpoint_interval_s = 20;
    const auto result = study::simulator::simulate(e.history, e.speed(), e.composition, e.options);
    if (!result) RC_FAIL(e.composition.name + ": " + result.error().message);
    for (const auto& outcome : result->outcomes) RC_ASSERT(outcome.end == JobEnd::Finished);
  }));
}

}  // namespace
}  // namespace goban::core::scheduler
