// Policies by the C interface, compiled into the test by the header that libraries use.
#include "study/lab/plugin.hpp"

#include <algorithm>
#include <cmath>
#include <gmock/gmock.h>
#include <limits>
#include <numeric>
#include <stdexcept>

#include "base/random.hpp"
#include "base/test_folder.hpp"
#include "core/model/cluster_presets.hpp"
#include "study/lab/goban_lab.hpp"
#include "study/lab/test_history.hpp"

namespace {

// NOLINTBEGIN(readability-identifier-naming): the interface names these members
struct ShortFirst {
  static constexpr const char* name = "short-first";
  static constexpr const char* parts = "skip+packed";
  void order(const goban_lab::Jobs& jobs, double* keys) {
    for (size_t i = 0; i < jobs.count; ++i) keys[i] = jobs.limit_s[i];
  }
};

/// The same by methods alone.
struct ByHand {
  static constexpr const char* name = "by-hand";
  void order(const goban_lab::Jobs& jobs, double* keys) {
    for (size_t i = 0; i < jobs.count; ++i) keys[i] = jobs.limit_s[i];
  }
  uint64_t select(const goban_lab::Jobs& jobs, int64_t* rows) {
    uint64_t count = 0;
    int32_t free = jobs.free_gpus;
    for (size_t i = 0; i < jobs.count; ++i) {
      if (jobs.gpus[i] > free) continue;
      free -= jobs.gpus[i];
      rows[count++] = static_cast<int64_t>(i);
    }
    return count;
  }
  bool place(const goban_lab::Place& view, int64_t* gpus) {
    return view.take_one_node(gpus) || view.take_lowest(gpus);
  }
};

struct Throws {
  static constexpr const char* name = "throws";
  static constexpr const char* when = "360s";
  void order(const goban_lab::Jobs&, double*) { throw std::runtime_error("no keys today"); }
};

struct Seeded {
  static constexpr const char* name = "seeded";
  explicit Seeded(uint64_t seed) : seed_(seed) {}
  void order(const goban_lab::Jobs& jobs, double* keys) {
    for (size_t i = 0; i < jobs.count; ++i)
      keys[i] = static_cast<double>((static_cast<uint64_t>(jobs.job[i]) * 7919 ^ seed_) % 101);
  }
  uint64_t seed_;
};

struct Taken {
  static constexpr const char* name = "taken";
  bool place(const goban_lab::Place& view, int64_t* gpus) {
    for (int32_t i = 0; i < view.gpus; ++i) gpus[i] = i;
    return true;
  }
};

struct NotMade {
  static constexpr const char* name = "not-made";
  NotMade() { throw std::runtime_error("no"); }
};

struct Peeks {
  static constexpr const char* name = "peeks";
  static constexpr bool oracle = true;
  void order(const goban_lab::Jobs& jobs, double* keys) {
    for (size_t i = 0; i < jobs.count; ++i) keys[i] = jobs.duration_s[i];
  }
};

/// Elastic jobs share the GPUs; what they are shown is kept.
struct Shares {
  static constexpr const char* name = "shares";
  static inline std::vector<double> seen;
  void size(const goban_lab::Sizes& view, int32_t* gpus) {
    const auto count = static_cast<int32_t>(view.count());
    for (uint64_t row = 0; row < view.count(); ++row) {
      const auto levels = view.levels(row);
      gpus[row] = std::max(levels.at_most(view.total_gpus / count), view.gpus_min[row]);
      if (view.jobs->now_s == 500) {
        seen.insert(seen.end(), {static_cast<double>(view.jobs->running[row]), view.steps_left[row],
                                 view.deadline_s[row], static_cast<double>(view.gpus_max[row]),
                                 levels.steps_per_s[levels.count - 1]});
      }
    }
  }
};

struct ThreeGpus {
  static constexpr const char* name = "three-gpus";
  void size(const goban_lab::Sizes& view, int32_t* gpus) {
    for (uint64_t row = 0; row < view.count(); ++row) gpus[row] = 3;
  }
};

struct NoSize {
  static constexpr const char* name = "no-size";
  void size(const goban_lab::Sizes&, int32_t*) { throw std::runtime_error("no sizes today"); }
};
// NOLINTEND(readability-identifier-naming)

}  // namespace

GOBAN_LAB_PLUGIN(ShortFirst, ByHand, Throws, Seeded, Taken, NotMade, Peeks, Shares, ThreeGpus,
                 NoSize)

namespace goban::study::lab {
namespace {

using testing::HasSubstr;

/// Jobs that overload 8 GPUs; each limit is twice the work.
JobHistory many_jobs() {
  base::Random random(11);
  std::vector<Sample> samples;
  int submit_s = 0;
  for (int i = 0; i < 300; ++i) {
    submit_s += static_cast<int>(random.below(60));
    const int work_s = 10 + static_cast<int>(random.below(300));
    const int gpus = 1 << random.below(4);
    samples.push_back(
        {.submit_s = submit_s, .work_s = work_s, .gpus = gpus, .limit_s = 2 * work_s});
  }
  return history_of(samples);
}

class Plugins : public testing::Test {
 protected:
  Plugins() : plugin_(Plugin::from(goban_lab_plugin(), "libtest.so").value()) {}

  std::vector<base::TimeNs> starts(const std::string& name, uint64_t seed = 1) {
    const PluginPolicy& policy = *plugin_.find(name);
    PluginMethods methods(policy, history_, seed);
    const auto result = run(history_, cluster_, policy.text, methods, {.seed = seed});
    if (!result) throw std::runtime_error(result.error().text());
    return starts_of(*result);
  }
  std::vector<base::TimeNs> named_starts(const std::string& name) {
    return starts_of(run(history_, cluster_, name, RunOptions{}).value());
  }
  static std::vector<base::TimeNs> starts_of(const simulator::SimulationResult& result) {
    std::vector<base::TimeNs> out;
    for (const auto& outcome : result.outcomes) out.push_back(outcome.start_ns);
    return out;
  }
  Fault fault(const std::string& name) {
    try {
      (void)starts(name);
    } catch (const Fault& caught) {
      return caught;
    }
    throw std::runtime_error("no fault");
  }

  /// Two elastic jobs on 4 GPUs.
  base::Result<simulator::SimulationResult> run_elastic(const std::string& name) {
    JobHistory history = elastic_history({{.work_s = 10}, {.submit_s = 500, .work_s = 10}});
    history.training[0].steps = 6000;
    history.training[1].deadline_ns = 900 * base::kSecond;
    const auto cluster = core::model::make_preset("1x4");
    const auto fitted = fit(history, *cluster, kRates);
    const PluginPolicy& policy = *plugin_.find(name);
    PluginMethods methods(policy, fitted->history, 1);
    return run(fitted->history, *cluster, policy.text, methods,
               {.restart_cost_s = 0, .fitted = &*fitted});
  }

  Plugin plugin_;
  core::model::Cluster cluster_ = core::model::make_preset("2x4").value();
  JobHistory history_ = many_jobs();
};

TEST_F(Plugins, DecideLikeTheirParts) {
  ASSERT_EQ(plugin_.policies().size(), 10U);
  const std::vector<base::TimeNs> starts = this->starts("short-first");
  EXPECT_EQ(this->starts("by-hand"), starts);
  const auto sum = [](const std::vector<base::TimeNs>& times) {
    return std::accumulate(times.begin(), times.end(), base::TimeNs{0});
  };
  EXPECT_LT(sum(starts), sum(named_starts("fifo+skip+packed")));
  EXPECT_EQ(plugin_.find("nobody"), nullptr);
}

TEST_F(Plugins, ObjectsKnowTheirSeed) {
  EXPECT_EQ(starts("seeded", 3), starts("seeded", 3));
  EXPECT_NE(starts("seeded", 3), starts("seeded", 4));
}

TEST_F(Plugins, TrueRunTimesAreForOracles) {
  EXPECT_TRUE(plugin_.find("peeks")->text.oracle);
  EXPECT_FALSE(plugin_.find("by-hand")->text.oracle);
  EXPECT_EQ(starts("peeks").size(), history_.jobs.size());
}

TEST_F(Plugins, FaultsNameMethodAndWhatTheLibrarySaid) {
  const Fault thrown = fault("throws");
  EXPECT_EQ(thrown.method, "order");
  EXPECT_EQ(thrown.problem, "no keys today");
  EXPECT_GE(thrown.at_ns, 0);
  EXPECT_THAT(fault("taken").what(), HasSubstr("method place: returned GPU 0, which is not free"));
  EXPECT_THAT(fault("not-made").what(), HasSubstr("policy not-made could not be made"));
}

TEST_F(Plugins, OtherVersionsAreRefused) {
  goban_lab_plugin_info info = *goban_lab_plugin();
  const auto problem = [&] { return Plugin::from(&info, "libold.so").error().text(); };
  info.version = GOBAN_LAB_VERSION + 1;
  EXPECT_EQ(
      problem(),
      "libold.so: was built for version 3 of the interface; this goban has version 2 (rebuild "
      "it with the header goban_lab.hpp of this goban)");
  info = *goban_lab_plugin();
  info.policy_bytes -= 8;
  EXPECT_THAT(problem(), HasSubstr("its policies have"));
  info = *goban_lab_plugin();
  info.num_policies = 0;
  EXPECT_THAT(problem(), HasSubstr("has no policies"));
}

TEST_F(Plugins, WhatAPolicyStatesIsChecked) {
  goban_lab_policy policy = goban_lab_plugin()->policies[0];
  goban_lab_plugin_info info = *goban_lab_plugin();
  info.num_policies = 1;
  info.policies = &policy;
  const auto problem = [&] {
    const auto read = Plugin::from(&info, "lib.so");
    return read ? "" : read.error().text();
  };
  EXPECT_EQ(problem(), "");
  policy.when = "soon";
  EXPECT_THAT(problem(), HasSubstr("policy short-first: when = \"soon\""));
  policy.when = "360s";
  EXPECT_EQ(Plugin::from(&info, "lib.so")->policies()[0].text.every_s, 360);
  policy.parts = "nonsense";
  EXPECT_THAT(problem(), HasSubstr("nonsense"));
  policy.parts = "fifo";
  policy.name = "";
  EXPECT_THAT(problem(), HasSubstr("a policy has no name"));
  policy.name = "x";
  policy.error = nullptr;
  EXPECT_THAT(problem(), HasSubstr("create, destroy or error is missing"));
}

TEST_F(Plugins, SizesAreChosenByTheLibrary) {
  EXPECT_TRUE(plugin_.find("shares")->text.methods.size);
  EXPECT_FALSE(plugin_.find("by-hand")->text.methods.size);
  Shares::seen.clear();
  const auto result = run_elastic("shares");
  ASSERT_TRUE(result) << result.error().text();
  // Job 0 does 3,000 of its 6,000 steps on 4 GPUs, and 20 on one while job 1 takes 10 s for its own
  // 20 steps; the rest again on 4.
  EXPECT_EQ(result->outcomes[1].finish_ns, 510 * base::kSecond);
  EXPECT_NEAR(base::to_seconds(result->outcomes[0].finish_ns), 510 + 2980.0 / 6, 1e-6);
  EXPECT_EQ(result->elastic_of(0).resizes, 2);
  // Job 1 states no steps: they follow from its true run time, which the policy may not see.
  const double never = std::numeric_limits<double>::infinity();
  ASSERT_GE(Shares::seen.size(), 10U);
  EXPECT_EQ(std::vector<double>(Shares::seen.begin(), Shares::seen.begin() + 10),
            (std::vector<double>{1, 3000, never, 4, 6, 0, never, 1400, 4, 6}));
}

TEST_F(Plugins, SizesOfTheLibraryAreChecked) {
  const auto text = [&](const std::string& name) -> std::string {
    try {
      (void)run_elastic(name);
    } catch (const Fault& caught) {
      EXPECT_EQ(caught.at_ns, 0);
      return caught.what();
    }
    return "no fault";
  };
  EXPECT_THAT(text("three-gpus"),
              HasSubstr("method size: the size of row 0 of 1 is 3, on which the job does not run"));
  EXPECT_THAT(text("no-size"), HasSubstr("method size: no sizes today"));
}

TEST_F(Plugins, FilesAreChecked) {
  const base::TestFolder folder("plugins");
  EXPECT_THAT(Plugin::load(folder / "none.so").error().text(), HasSubstr("there is no such file"));
  EXPECT_THAT(Plugin::load(folder.write("text.so", "no library")).error().text(),
              HasSubstr("cannot be loaded"));
}

}  // namespace
}  // namespace goban::study::lab
