// Scenario files: a cluster, jobs, incidents, and the timeline that must come out. An operator can
// read and write them; tests/scenario/README.md describes the format.
#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <gtest/gtest.h>
#include <map>
#include <sstream>

#include "base/number.hpp"
#include "engine/simulated/simulation.hpp"
#include "model/cluster_file.hpp"
#include "model/cluster_presets.hpp"
#include "model/site_rules_file.hpp"

namespace goban::engine {
namespace {

using base::TimeNs;

struct Scenario {
  std::optional<model::Cluster> cluster;
  std::optional<policy::Composition> policy;
  std::optional<double> restart_cost_s;
  std::optional<double> round_s;
  double locality_penalty = 1;
  double checkpoint_interval_s = 0;
  std::optional<ContentionSettings> contention;
  std::vector<double> scores;
  model::JobHistory history;
  std::string rules;  ///< TOML, from the lines `rule`
  std::vector<model::Event> incidents;
  std::vector<std::string> expected;
};

/// A preset or NxM; NxMxK: N racks of M nodes of K GPUs.
model::Cluster read_cluster(const std::string& name) {
  int racks = 0;
  int nodes = 0;
  int gpus = 0;
  if (std::sscanf(name.c_str(), "%dx%dx%d", &racks, &nodes, &gpus) != 3) {
    return model::make_preset(name).value();
  }
  return model::parse_cluster(fmt::format("[[nodes]]\ncount = {}\ngpus = {}\nnodes_per_rack = {}\n",
                                          racks * nodes, gpus, nodes),
                              "scenario")
      .value();
}

TimeNs time_of(const std::string& word) { return base::from_seconds(std::stod(word)); }

/// Writes what happens, one line each, as the scenario expects it.
class Timeline final : public Observer {
 public:
  explicit Timeline(const model::JobHistory& history) : history_(history) {}
  void acted(TimeNs now, const model::Action& action, const scheduler::Core& core) override {
    switch (action.kind) {
      case model::ActionKind::Start: {
        std::string gpus;
        const model::Allocation& allocation = core.allocation(action.job);
        for (const model::GpuId gpu : allocation.gpus) gpus += fmt::format(" {}", gpu.value);
        if (allocation.gpus.empty()) {
          for (const model::NodeId node : allocation.hosts) gpus += fmt::format(" n{}", node.value);
        }
        add(now, "start", action.job, gpus);
        return;
      }
      case model::ActionKind::Preempt:
        add(now, "preempt", action.job, "");
        return;
      case model::ActionKind::Abandon:
        add(now, "abandon", action.job, "");
        return;
      case model::ActionKind::Observe:
      case model::ActionKind::Cap:
      case model::ActionKind::Rest:
      case model::ActionKind::Wake:
        return;
    }
  }
  void job_ended(TimeNs now, JobId job, JobEnd end) override {
    add(now, end == JobEnd::TimedOut ? "timeout" : "finish", job, "");
  }
  std::vector<std::string> lines;

 private:
  void add(TimeNs now, const char* what, JobId job, const std::string& gpus) {
    std::string line;
    base::append_seconds(line, now);
    lines.push_back(fmt::format("{} {} {}{}", line, what, history_.job_names[job.index()], gpus));
  }
  const model::JobHistory& history_;
};

void add_job(Scenario& s, std::istringstream& words) {
  std::string name;
  std::string submit;
  std::string duration;
  model::Job job;
  words >> name >> job.request.num_gpus >> submit >> duration;
  job.request.submit_ns = time_of(submit);
  job.work_s = std::stod(duration);
  for (std::string word; words >> word;) {
    const size_t equals = word.find('=');
    const std::string key = word.substr(0, equals);
    const std::string value = word.substr(equals + 1);
    if (key == "limit") {
      job.request.walltime_limit_ns = time_of(value);
    } else if (key == "priority") {
      job.request.priority = std::stoi(value);
    } else if (key == "class") {
      job.request.app_class = model::AppClass{static_cast<uint8_t>(value[0] - 'A')};
    } else if (key == "type") {
      job.request.resource_type = s.cluster->find_resource_type(value);
      ASSERT_TRUE(job.request.resource_type.valid()) << value;
    } else if (key == "user") {
      job.request.user = model::UserId(s.history.users.intern(value));
    } else if (key == "account") {
      job.request.account = model::AccountId(s.history.accounts.intern(value));
    } else if (key == "qos") {
      job.request.qos = model::QosId(s.history.qos.intern(value));
    } else if (key == "instances") {
      job.request.instances = std::stoi(value);
    } else if (key == "array") {  // array=NUMBER:MAX_RUNNING
      job.request.array = model::ArrayId(static_cast<uint32_t>(std::stoul(value)));
      s.history.arrays.resize(std::max(s.history.arrays.size(), job.request.array.index() + 1));
      s.history.arrays[job.request.array.index()].max_running =
          std::stoi(value.substr(value.find(':') + 1));
    } else {
      FAIL() << "unknown key " << key;
    }
  }
  s.history.jobs.push_back(job);
  s.history.job_names.add(name);
}

void add_incident(Scenario& s, std::istringstream& words) {
  std::string at;
  std::string what;
  uint32_t node = 0;
  words >> at >> what >> node;
  model::Event event;
  event.at_ns = time_of(at);
  event.node = model::NodeId(node);
  const std::map<std::string, model::EventKind> kinds = {
      {"lose", model::EventKind::NodeLost},
      {"close", model::EventKind::NodeClosed},
      {"restore", model::EventKind::NodeRestored},
      {"drain", model::EventKind::NodeDrained}};
  ASSERT_TRUE(kinds.contains(what)) << what;
  event.kind = kinds.at(what);
  if (std::string from; words >> from) event.until_ns = time_of(from);
  s.incidents.push_back(event);
}

void read(const std::filesystem::path& path, Scenario& s) {
  std::ifstream file(path);
  bool expecting = false;
  for (std::string line; std::getline(file, line);) {
    line = line.substr(0, line.find('#'));
    while (!line.empty() && line.back() == ' ') line.pop_back();
    if (line.empty()) continue;
    if (expecting) {
      s.expected.push_back(line);
      continue;
    }
    std::istringstream words(line);
    std::string key;
    words >> key;
    std::string value;
    if (key == "job") {
      add_job(s, words);
    } else if (key == "at") {
      add_incident(s, words);
    } else if (key == "expect") {
      expecting = true;
    } else if (key == "rule") {
      std::string toml;
      std::getline(words, toml);
      s.rules += toml + "\n";
    } else if (key == "scores") {
      for (double score = 0; words >> score;) s.scores.push_back(score);
    } else if (words >> value; key == "cluster") {
      s.cluster = read_cluster(value);
    } else if (key == "policy") {
      s.policy = policy::compose(value).value();
    } else if (key == "restart-cost") {
      s.restart_cost_s = std::stod(value);
    } else if (key == "round") {
      s.round_s = std::stod(value);
    } else if (key == "locality-penalty") {
      s.locality_penalty = std::stod(value);
    } else if (key == "contention") {
      s.contention = ContentionSettings{std::stod(value), std::nullopt};
      if (double ratio = 0; words >> ratio) s.contention->uplink_ratio = ratio;
    } else if (key == "checkpoint-interval") {
      s.checkpoint_interval_s = std::stod(value);
    } else {
      FAIL() << path << ": unknown key " << key;
    }
  }
}

class ScenarioTest : public testing::TestWithParam<std::filesystem::path> {};

TEST_P(ScenarioTest, TimelineIsAsWritten) {
  Scenario s;
  read(GetParam(), s);
  ASSERT_TRUE(s.cluster && s.policy && !s.expected.empty());
  if (s.restart_cost_s) s.policy->settings.restart_cost_s = *s.restart_cost_s;
  auto rules = model::parse_site_rules(s.rules, "rules", s.history);
  ASSERT_TRUE(rules) << rules.error().text();
  s.policy->rules = std::make_shared<model::SiteRules>(std::move(*rules));
  if (s.round_s) s.policy->settings.round_s = *s.round_s;
  const profile::PmScores scores =
      s.scores.empty() ? profile::PmScores::uniform(s.cluster->num_gpus())
                       : profile::PmScores({profile::class_from_values(s.scores, s.scores)});
  const profile::LocalityPenalties penalties(*s.cluster, s.locality_penalty);
  Timeline timeline(s.history);
  SimulationOptions options;
  options.settings = s.policy->settings;
  options.checkpoint_interval_s = s.checkpoint_interval_s;
  options.incidents = s.incidents;
  options.contention = s.contention;
  options.observer = &timeline;
  const auto result = simulate(s.history, {&*s.cluster, &scores, &penalties}, *s.policy, options);
  if (!result) timeline.lines.push_back("error " + result.error().message);
  std::string expected;
  std::string actual;
  for (const std::string& line : s.expected) expected += line + "\n";
  for (const std::string& line : timeline.lines) actual += line + "\n";
  EXPECT_EQ(actual, expected);
}

std::vector<std::filesystem::path> scenario_files() {
  std::vector<std::filesystem::path> files;
  for (const auto& entry :
       std::filesystem::directory_iterator(GOBAN_SOURCE_DIR "/tests/scenario")) {
    if (entry.path().extension() == ".scn") files.push_back(entry.path());
  }
  std::ranges::sort(files);
  return files;
}

INSTANTIATE_TEST_SUITE_P(Files, ScenarioTest, testing::ValuesIn(scenario_files()),
                         [](const auto& each) { return each.param.stem().string(); });

}  // namespace
}  // namespace goban::engine
