// Scenario files: a cluster, jobs, incidents, and the expected timeline. tests/scenario/README.md
// describes the format.
#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <gtest/gtest.h>
#include <map>
#include <set>
#include <sstream>

#include "base/number.hpp"
#include "core/model/cluster_file.hpp"
#include "core/model/cluster_presets.hpp"
#include "core/model/site_rules_file.hpp"
#include "core/policy/policy_options.hpp"
#include "study/simulator/simulation.hpp"

namespace goban::core::scheduler {
namespace {

using base::TimeNs;

struct Scenario {
  std::optional<model::Cluster> cluster;
  std::optional<policy::Composition> policy;
  std::optional<double> restart_cost_s;
  std::optional<double> round_s;
  double locality_penalty = 1;
  double checkpoint_interval_s = 0;
  std::optional<study::simulator::ContentionSettings> contention;
  std::vector<double> scores;
  model::JobHistory history;
  std::string rules;  ///< TOML, from the lines `rule`
  std::vector<model::Event> incidents;
  std::map<std::string, model::FoundAllocation> found;  ///< by the name of a job started elsewhere
  std::vector<std::string> expected;
  std::shared_ptr<policy::SiteKnowledge> knowledge;  ///< null: the scenario has none
  std::vector<knowledge::MeasuredSet> true_sets;
};

/// Site knowledge of V100 nodes if a scenario has any: an idle node of N GPUs draws 100 + 30 N W,
/// enters sleep in 10 s with 1 kJ, sleeps at 25 W, and wakes in 30 s with 3 kJ.
policy::SiteKnowledge& knowledge_of(Scenario& s) {
  if (s.knowledge) return *s.knowledge;
  s.knowledge = std::make_shared<policy::SiteKnowledge>();
  s.knowledge->gpu_types = {s.knowledge->colocation.add_gpu_type("V100")};
  knowledge::PowerModel power;
  power.num_gpus = 1;
  power.host_idle_w = 100;
  power.gpu_idle_w = 30;
  power.gpu_context_w = 40;
  power.gpu_max_w = 300;
  power.gpu_dynamic_w = 200;
  power.gpu_share_base_w = 50;
  power.sleep = {.power_w = 25, .enter_s = 10, .enter_j = 1000, .wake_s = 30, .wake_j = 3000};
  s.knowledge->power = {power};
  return *s.knowledge;
}

/// APP:SLOWDOWN ...
knowledge::MeasuredSet read_set(Scenario& s, std::istringstream& words) {
  knowledge::ColocationHistory& history = knowledge_of(s).colocation;
  knowledge::MeasuredSet set;
  set.gpu_type = s.knowledge->gpu_types[0];
  for (std::string word; words >> word; ++set.size) {
    const size_t colon = word.find(':');
    set.apps[set.size] = history.add_app(word.substr(0, colon), "");
    set.slowdown[set.size] = std::stod(word.substr(colon + 1));
  }
  return set;
}

/// The knowledge with the true slowdowns of sets that differ from it; null if there are none.
std::shared_ptr<knowledge::ColocationHistory> true_history(const Scenario& s) {
  if (s.true_sets.empty()) return nullptr;
  const knowledge::ColocationHistory& known = s.knowledge->colocation;
  auto truth = std::make_shared<knowledge::ColocationHistory>();
  truth->add_gpu_type("V100");
  for (uint32_t app = 0; app < known.num_apps(); ++app) {
    truth->add_app(known.app_name(model::AppId(app)), "");
  }
  for (const knowledge::MeasuredSet& set : s.true_sets) truth->merge(set);
  for (const knowledge::MeasuredSet& set : known.sets()) {
    if (truth->find(set.gpu_type, set.members()) == nullptr) truth->merge(set);
  }
  return truth;
}

/// Reads lines `app NAME UTIL WATTS`, `together APP:SLOWDOWN...`, `truly` in the same form, `cap
/// WATTS ENERGY TIME`, `sharing NAME=VALUE`. False: another line.
bool read_knowledge(Scenario& s, const std::string& key, std::istringstream& words) {
  if (key == "app") {
    std::string name;
    knowledge::MeasuredSet alone;
    words >> name >> alone.util_pct >> alone.power_w;
    alone.apps[0] = knowledge_of(s).colocation.add_app(name, "");
    alone.gpu_type = s.knowledge->gpu_types[0];
    alone.size = 1;
    alone.slowdown[0] = 1;
    s.knowledge->colocation.merge(alone);
  } else if (key == "together") {
    const knowledge::MeasuredSet set = read_set(s, words);
    s.knowledge->colocation.merge(set);
  } else if (key == "truly") {
    s.true_sets.push_back(read_set(s, words));
  } else if (key == "cap") {
    knowledge::PowerCap cap;
    words >> cap.cap_w >> cap.energy_factor >> cap.time_factor;
    knowledge_of(s).power[0].caps.push_back(cap);
  } else if (key == "sharing") {
    for (std::string assignment; words >> assignment;) {
      const base::Status status = policy::set_option(s.policy->options, assignment);
      EXPECT_TRUE(status) << status.error().text();
    }
  } else {
    return false;
  }
  return true;
}

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

/// Writes the timeline, one line per action, as in the scenario.
class Timeline final : public study::simulator::Observer {
 public:
  explicit Timeline(const model::JobHistory& history) : history_(history) {}
  void acted(TimeNs now, const model::Action& action, const Core& core) override {
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
        add(now, action.undo ? "undo" : "preempt", action.job, "");
        return;
      case model::ActionKind::Abandon:
        add(now, "abandon", action.job, "");
        return;
      case model::ActionKind::Observe: {
        std::string until;
        base::append_seconds(until, action.until_ns);
        add(now, "observe", action.job, " until " + until);
        return;
      }
      case model::ActionKind::Cap:
        add(now, fmt::format("cap {} {}", action.gpu.value, action.cap));
        return;
      case model::ActionKind::Rest:
        add(now, fmt::format("rest n{}", action.node.value));
        return;
      case model::ActionKind::Wake:
        add(now, fmt::format("wake n{}", action.node.value));
        return;
    }
  }
  void awake(TimeNs now, model::NodeId node) override {
    add(now, fmt::format("awake n{}", node.value));
  }
  void job_ended(TimeNs now, JobId job, study::simulator::JobEnd end) override {
    const bool timed_out = end == study::simulator::JobEnd::TimedOut;
    const bool cancelled = end == study::simulator::JobEnd::Cancelled;
    add(now, timed_out ? "timeout" : cancelled ? "cancel" : "finish", job, "");
  }
  std::vector<std::string> lines;

 private:
  void add(TimeNs now, const char* what, JobId job, const std::string& gpus) {
    add(now, fmt::format("{} {}{}", what, history_.job_names[job.index()], gpus));
  }
  void add(TimeNs now, const std::string& what) {
    std::string line;
    base::append_seconds(line, now);
    lines.push_back(line + " " + what);
  }
  const model::JobHistory& history_;
};

void add_job(Scenario& s, std::istringstream& words) {
  std::string name;
  std::string submit;
  std::string duration;
  model::Job job;
  model::TrainingFacts facts;
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
    } else if (key == "app") {
      job.request.app = knowledge_of(s).colocation.add_app(value, "");
    } else if (key == "mem") {
      facts.gpu_mem_bytes = static_cast<int64_t>(std::stod(value) * (int64_t{1} << 30));
    } else if (key == "share") {
      facts.sharing = value == "yes" ? model::SharingRequest::Yes : model::SharingRequest::No;
    } else if (key == "partition") {
      job.request.partition = model::PartitionId(s.history.partitions.intern(value));
    } else if (key == "epochs") {
      facts.epochs = std::stoi(value);
    } else if (key == "deadline") {
      facts.deadline_ns = time_of(value);
    } else if (key == "max-slowdown") {
      facts.max_slowdown = std::stof(value);
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
  s.history.training.push_back(facts);
  s.history.job_names.add(name);
}

/// What Goban did not start: found NAME GPUS..., gone NAME.
void add_found(Scenario& s, model::Event event, const std::string& name,
               std::istringstream& words) {
  constexpr uint32_t kFirst = 1'000'000;
  model::FoundAllocation& held = s.found[name];
  for (uint32_t gpu = 0; words >> gpu;) held.gpus.emplace_back(gpu);
  event.job = model::JobId(kFirst + static_cast<uint32_t>(name.front()));
  event.found = &held;
  s.incidents.push_back(event);
}

/// decline JOB NODE: it did not start there, and nothing else does for a while.
void add_decline(Scenario& s, model::Event event, std::istringstream& words) {
  uint32_t node = 0;
  words >> node;
  const model::Node& there = s.cluster->node(model::NodeId(node));
  for (uint32_t gpu = there.first_gpu; gpu < there.end_gpu(); ++gpu) {
    model::FoundAllocation& held = s.found[fmt::format("declined {}", gpu)];
    held.gpus = {model::GpuId(gpu)};
    model::Event out{.kind = model::EventKind::JobFound, .at_ns = event.at_ns, .found = &held};
    out.gpu = model::GpuId(gpu);
    s.incidents.push_back(out);
  }
  event.never_began = true;
  s.incidents.push_back(event);
}

void add_incident(Scenario& s, std::istringstream& words) {
  std::string at;
  std::string what;
  std::string whom;
  words >> at >> what >> whom;
  model::Event event;
  event.at_ns = time_of(at);
  if (what == "restart") return;  // of an engine's daemon
  if (what == "found" || what == "gone") {
    event.kind = what == "found" ? model::EventKind::JobFound : model::EventKind::FoundOver;
    return add_found(s, event, whom, words);
  }
  const std::set<std::string> of_jobs = {"break", "oom", "requeue", "decline", "cancel"};
  if (of_jobs.contains(what)) {
    event.kind = what == "cancel" ? model::EventKind::JobKilled : model::EventKind::JobBroke;
    event.out_of_memory = what == "oom";
    for (uint32_t i = 0; i < s.history.jobs.size(); ++i) {
      if (s.history.job_names[i] == whom) event.job = model::JobId(i);
    }
    ASSERT_TRUE(event.job.valid()) << whom;
    if (what == "decline") return add_decline(s, event, words);
    s.incidents.push_back(event);
    return;
  }
  event.node = model::NodeId(static_cast<uint32_t>(std::stoul(whom)));
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
    } else if (key == "engines") {
      continue;  // for tests/engines
    } else if (key == "rule") {
      std::string toml;
      std::getline(words, toml);
      s.rules += toml + "\n";
    } else if (read_knowledge(s, key, words)) {
      continue;
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
      s.contention = study::simulator::ContentionSettings{std::stod(value), std::nullopt};
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
  const knowledge::PmScores scores =
      s.scores.empty() ? knowledge::PmScores::uniform(s.cluster->num_gpus())
                       : knowledge::PmScores({knowledge::class_from_values(s.scores, s.scores)});
  const knowledge::LocalityPenalties penalties(*s.cluster, s.locality_penalty);
  Timeline timeline(s.history);
  study::simulator::SimulationOptions options;
  options.settings = s.policy->settings;
  options.checkpoint_interval_s = s.checkpoint_interval_s;
  options.incidents = s.incidents;
  options.contention = s.contention;
  options.knowledge = s.knowledge;
  options.true_colocation = true_history(s);
  options.observer = &timeline;
  const auto result =
      study::simulator::simulate(s.history, {&*s.cluster, &scores, &penalties}, *s.policy, options);
  if (!result) timeline.lines.push_back("error " + result.error().message);
  std::string expected;
  std::string actual;
  for (const std::string& line : s.expected) expected += line + "\n";
  for (const std::string& line : timeline.lines) actual += line + "\n";
  EXPECT_EQ(actual, expected);
}

std::vector<std::filesystem::path> scenario_files() {
  std::vector<std::filesystem::path> files;
  for (const char* folder :
       {GOBAN_SOURCE_DIR "/tests/scenario", GOBAN_SOURCE_DIR "/tests/engines"}) {
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
      if (entry.path().extension() == ".scn") files.push_back(entry.path());
    }
  }
  std::ranges::sort(files);
  return files;
}

INSTANTIATE_TEST_SUITE_P(Files, ScenarioTest, testing::ValuesIn(scenario_files()),
                         [](const auto& each) { return each.param.stem().string(); });

}  // namespace
}  // namespace goban::core::scheduler
