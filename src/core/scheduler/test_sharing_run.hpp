// For property tests: random sites, from a seed, on which jobs share GPUs and nodes sleep.
#pragma once

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <memory>
#include <string>
#include <vector>

#include "base/random.hpp"
#include "core/model/cluster_presets.hpp"
#include "core/model/job_history.hpp"
#include "study/simulator/simulation.hpp"

namespace goban::core::scheduler {

inline constexpr int64_t kTestGib = int64_t{1} << 30;

/// Every sharing policy, in presets and in compositions with parts that interact with it.
inline const std::vector<std::string>& sharing_policies() {
  // clang-format off
  static const std::vector<std::string> names = {
      "goban", "eaco", "eaco-paper", "random-pair", "best-pair", "skip+share-eaco-similar+sleep",
      "skip+share-eaco-paper-complementary+spread", "las+share-eaco+sleep",
      "skip+packed+sleep+consolidate", "las+spread+share-best-pair+sleep+consolidate",
      "skip+sticky+share-worth", "srtf+share-random-pair+sleep",
      "priority+by-priority+share-eaco-paper+spread",
      "easy-backfill+share-eaco-complementary+sleep", "easy-backfill+share-best-pair",
      "conservative-backfill+share-random-pair", "fair-share+pal+share-eaco+sleep",
  };
  // clang-format on
  return names;
}

/// What is drawn at random.
struct SharingShape {
  std::vector<std::string> policies = sharing_policies();
  bool incidents = true;
  bool priorities = true;
  bool rounds = true;
  /// Predictions are exact, no job is faster with neighbours than alone, and jobs declare
  /// everything.
  bool exact = false;
};

/// A random run, reproducible from its seed. Jobs have at most a node's GPUs.
struct SharingRun {
  std::unique_ptr<model::Cluster> cluster;
  std::unique_ptr<knowledge::PmScores> scores;
  std::unique_ptr<knowledge::LocalityPenalties> penalties;
  model::JobHistory history;
  policy::Composition composition;
  std::vector<model::Event> incidents;
  study::simulator::SimulationOptions options;

  [[nodiscard]] policy::SpeedModel speed() const {
    return {cluster.get(), scores.get(), penalties.get()};
  }
  [[nodiscard]] base::Result<study::simulator::SimulationResult> simulate(
      study::simulator::Observer* observer) {
    options.observer = observer;
    options.incidents = incidents;
    return study::simulator::simulate(history, speed(), composition, options);
  }
};

inline knowledge::PowerModel test_power(base::Random& random) {
  knowledge::PowerModel power;
  power.num_gpus = 4;
  power.host_idle_w = 100;
  power.gpu_idle_w = 30;
  power.gpu_context_w = 36;
  power.gpu_max_w = 300;
  power.gpu_dynamic_w = 200;
  power.gpu_share_base_w = 60;
  power.exponent = 0.5;
  power.sleep = {.power_w = 25, .enter_s = 10, .enter_j = 2000, .wake_s = 30, .wake_j = 6000};
  if (random.below(4) != 0) {
    power.caps = {{.cap_w = 200, .energy_factor = 0.9, .time_factor = 1.037},
                  {.cap_w = 150, .energy_factor = 0.81, .time_factor = 1.11},
                  {.cap_w = 100, .energy_factor = 0.84, .time_factor = 1.38}};
  }
  return power;
}

/// Applications alone, most pairs of them, some larger sets. Slowdowns need not grow with the set,
/// as in measurements.
inline policy::SiteKnowledge draw_knowledge(base::Random& random, uint32_t apps, bool exact) {
  policy::SiteKnowledge site;
  const knowledge::GpuTypeId type = site.colocation.add_gpu_type("V100");
  site.gpu_types = {type};
  site.power = {test_power(random)};
  for (uint32_t a = 0; a < apps; ++a) site.colocation.add_app("app" + std::to_string(a), "");
  const auto add = [&](std::vector<uint32_t> members) {
    knowledge::MeasuredSet set;
    set.gpu_type = type;
    set.size = static_cast<uint8_t>(members.size());
    for (size_t i = 0; i < members.size(); ++i) {
      set.apps[i] = model::AppId(members[i]);
      set.slowdown[i] = members.size() == 1 ? 1 : 0.95 + 1.2 * random.uniform() * random.uniform();
      if (!exact) continue;
      // Predictions are per application: equal ones must be equally slow.
      set.slowdown[i] = std::max(1.0, set.slowdown[i]);
      if (i > 0 && members[i] == members[i - 1]) set.slowdown[i] = set.slowdown[i - 1];
    }
    if (members.size() == 1) {
      set.util_pct = 5 + 50 * random.uniform();
      set.power_w = 80 + 150 * random.uniform();
    } else {
      set.never = random.below(12) == 0;
    }
    site.colocation.merge(set);
  };
  for (uint32_t a = 0; a < apps; ++a) {
    add({a});
    for (uint32_t b = a; b < apps; ++b) {
      if (exact || random.below(5) != 0) add({a, b});
      for (uint32_t c = b; c < apps; ++c) {
        if (random.below(3) == 0) add({a, b, c});
      }
    }
  }
  return site;
}

inline void draw_jobs(base::Random& random, const SharingShape& shape, uint32_t apps,
                      SharingRun& run) {
  const uint64_t count = 1 + random.below(50);
  const uint64_t pace_s = 1 + random.below(400);
  TimeNs submit = 0;
  for (uint64_t i = 0; i < count; ++i) {
    model::Job job;
    submit += base::from_seconds(static_cast<double>(random.below(pace_s)));
    job.request.submit_ns = submit;
    const uint64_t widest = std::min(4U, run.cluster->num_gpus());
    job.request.num_gpus =
        random.below(2) == 0 ? 1 : static_cast<int32_t>(1 + random.below(widest));
    const auto app = static_cast<uint32_t>(random.below(apps));
    job.request.app = model::AppId(app);
    job.request.user = model::UserId(random.below(3));
    job.request.account = model::AccountId(0u);
    if (shape.priorities && random.below(8) == 0) {
      job.request.priority = static_cast<int32_t>(1 + random.below(2));
    }
    job.work_s = 1 + static_cast<double>(random.below(4000)) + (random.below(3) == 0 ? 0.37 : 0.0);
    model::TrainingFacts facts;
    const bool known = shape.exact || random.below(8) != 0;
    if (known) facts.epochs = static_cast<int32_t>(1 + random.below(40));
    facts.gpu_mem_bytes = known ? kTestGib * static_cast<int64_t>(1 + random.below(7)) : 0;
    if (shape.exact || random.below(6) != 0) {
      facts.gpu_util_pct = static_cast<float>(5 + 40 * random.uniform());
    }
    const std::array factors = {1.05, 1.2, 2.0, 10.0};
    if (random.below(4) != 0) {
      facts.deadline_ns = base::from_seconds(job.work_s * factors[random.below(4)] +
                                             static_cast<double>(random.below(300)));
    } else if (!shape.exact && random.below(2) == 0) {
      facts.max_slowdown = static_cast<float>(1.1 + random.uniform());
    }
    run.history.jobs.push_back(job);
    run.history.training.push_back(facts);
    run.history.job_names.add(std::to_string(i));
  }
}

/// Nodes that fail, close and return; jobs that fail with neighbours.
inline void draw_incidents(base::Random& random, SharingRun& run) {
  TimeNs at = 0;
  const auto pass = [&](uint64_t most_s) {
    at += base::from_seconds(1 + static_cast<double>(random.below(most_s)));
  };
  for (uint64_t i = random.below(8); i > 0; --i) {
    pass(1500);
    model::Event event;
    event.at_ns = at;
    if (random.below(3) == 0) {
      event.kind = model::EventKind::JobBroke;
      event.job = model::JobId(random.below(run.history.jobs.size()));
      event.failed = true;
      event.out_of_memory = random.below(2) == 0;
      run.incidents.push_back(event);
      continue;
    }
    event.node = model::NodeId(random.below(run.cluster->nodes().size()));
    const uint64_t how = random.below(5);
    event.kind = how < 2    ? model::EventKind::NodeLost
                 : how == 2 ? model::EventKind::NodeClosed
                            : model::EventKind::NodeDrained;
    if (how > 2) event.until_ns = at + base::from_seconds(static_cast<double>(random.below(900)));
    run.incidents.push_back(event);
    if (how == 4) {  // maintenance that begins
      at = event.until_ns;
      event.kind = model::EventKind::NodeClosed;
      event.at_ns = at;
      run.incidents.push_back(event);
    }
    pass(900);
    event.kind = model::EventKind::NodeRestored;
    event.at_ns = at;
    run.incidents.push_back(event);
  }
}

inline SharingRun draw_sharing_run(uint64_t seed, const SharingShape& shape) {
  base::Random random(seed);
  SharingRun run;
  const uint64_t nodes = 1 + random.below(5);
  const uint64_t gpus = 1 + random.below(4);
  run.cluster = std::make_unique<model::Cluster>(
      model::make_preset(fmt::format("{}x{}:V100", nodes, gpus)).value());
  std::vector<double> scores;
  for (uint32_t i = 0; i < run.cluster->num_gpus(); ++i) {
    scores.push_back(random.below(2) == 0 ? 1.0 : 1.0 + 0.3 * random.uniform());
  }
  run.scores = std::make_unique<knowledge::PmScores>(
      std::vector{knowledge::class_from_values(scores, scores)});
  run.penalties =
      std::make_unique<knowledge::LocalityPenalties>(*run.cluster, 1.0 + 0.5 * random.uniform());
  const auto apps = static_cast<uint32_t>(2 + random.below(4));
  run.options.knowledge =
      std::make_shared<policy::SiteKnowledge>(draw_knowledge(random, apps, shape.exact));
  draw_jobs(random, shape, apps, run);
  run.composition = policy::compose(shape.policies[random.below(shape.policies.size())]).value();
  auto rules = std::make_shared<model::SiteRules>();
  rules->accounts.emplace_back();
  run.composition.rules = rules;
  policy::PolicyOptions& options = run.composition.options;
  if (random.below(2) == 0)
    options.observation.observe_max_s = 60 + static_cast<double>(random.below(600));
  if (random.below(3) == 0) options.observation.min_residence_s = 0;
  if (random.below(3) == 0)
    options.observation.cool_down_s = static_cast<double>(random.below(600));
  if (random.below(2) == 0)
    options.migration.move_interval_s = 20 + static_cast<double>(random.below(300));
  if (random.below(2) == 0) options.prices.min_saving = -0.2 + 0.2 * random.uniform();
  policy::RunSettings& settings = run.composition.settings;
  settings.restart_cost_s = static_cast<double>(random.below(3)) * 25;
  if (shape.rounds && random.below(4) == 0) settings.round_s = 60;
  run.options.settings = settings;
  run.options.checkpoint_interval_s = static_cast<double>(random.below(3)) * 120;
  run.options.seed = seed;
  if (!shape.exact && random.below(3) == 0) run.options.prediction_noise = 0.3 * random.uniform();
  if (shape.incidents && random.below(2) == 0) draw_incidents(random, run);
  return run;
}

}  // namespace goban::core::scheduler
