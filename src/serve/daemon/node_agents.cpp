#include "serve/daemon/node_agents.hpp"

#include <algorithm>
#include <chrono>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "base/clock.hpp"
#include "base/files.hpp"
#include "base/json_fields.hpp"
#include "base/number.hpp"
#include "serve/daemon/stored_readings.hpp"
#include "site/series/store_writer.hpp"

namespace goban::serve::daemon {

using base::TimeNs;
using live::RunId;
using site::series::State;
using site::telemetry::AgentJob;
using site::telemetry::AgentReport;
using site::telemetry::AgentSample;

namespace {

constexpr const char* kAgentsFile = "agents.json";
/// A store takes steps of a second to an hour.
constexpr TimeNs kStepMin = base::kSecond;
constexpr TimeNs kStepMax = base::kHour;
constexpr size_t kDevicesMax = 2 * site::telemetry::kAgentGpusMax;  ///< of one node
/// How long samples are kept without a store.
constexpr TimeNs kAgentsWithoutStore = 3600 * base::kSecond;
constexpr int kIntervalsUntilLost = 3;
constexpr TimeNs kLeastPatience = 3 * base::kSecond;

base::gpus::GpuReading reading_of(
    const std::vector<std::pair<site::series::Metric, site::series::Reading>>& readings) {
  base::gpus::GpuReading out;
  for (const auto& [metric, reading] : readings) {
    if (reading.state == State::Value) put_value(out, metric, reading.value);
  }
  return out;
}

/// An agent that says nothing for longer is lost; readings that are older say nothing of now.
TimeNs patience_of(TimeNs interval_ns) {
  return std::max(interval_ns * kIntervalsUntilLost, kLeastPatience);
}

/// The index of a whole GPU; none for the node and for MIG instances.
std::optional<size_t> index_of(const std::string& gpu) {
  const auto index = base::parse_int(gpu);
  if (!index || *index < 0) return std::nullopt;
  return static_cast<size_t>(*index);
}

}  // namespace

NodeAgents::NodeAgents(const live::loop::SchedulerClient& scheduler, std::shared_ptr<AgentBox> box,
                       NodeAgentsOptions options)
    : scheduler_(scheduler), box_(std::move(box)), options_(std::move(options)) {
  next_write_ns_ = now_ns() + options_.write_every_ns;
  recall();
  look();
  thread_ = std::thread([this] { work(); });
}

NodeAgents::~NodeAgents() {
  {
    const std::scoped_lock lock(mutex_);
    ending_ = true;
  }
  wake_.notify_all();
  thread_.join();
  write();
}

TimeNs NodeAgents::now_ns() const {
  return options_.wall_clock ? options_.wall_clock() : base::wall_ns();
}

bool NodeAgents::is_lost(const Agent& agent, TimeNs now) const {
  return now - agent.report_ns > patience_of(agent.interval_ns);
}

void NodeAgents::work() {
  while (true) {
    {
      std::unique_lock lock(mutex_);
      if (wake_.wait_for(lock, std::chrono::nanoseconds(options_.look_every_ns),
                         [this] { return ending_; })) {
        return;
      }
    }
    look();
    if (now_ns() >= next_write_ns_ || is_filling()) write();
  }
}

bool NodeAgents::is_filling() const {
  const std::scoped_lock lock(mutex_);
  return !discards_ && !options_.series.empty() && samples_.size() > options_.samples_max / 4;
}

bool NodeAgents::has_room(const AgentReport& report) const {
  if (discards_ || options_.series.empty()) return true;
  return samples_.size() + report.samples.size() <= options_.samples_max;
}

void NodeAgents::look() {
  auto table = std::make_shared<Table>();
  std::set<core::model::JobId> jobs;
  scheduler_.look([&](const live::loop::SchedulerSnapshot& snapshot) {
    const core::model::Cluster& cluster = snapshot.site.cluster;
    for (const core::model::Node& node : cluster.nodes()) {
      table->nodes[node.name].resize(node.num_gpus);
    }
    const auto hold = [&](core::model::GpuId gpu, RunId run, TimeNs start_ns) {
      if (gpu.index() >= cluster.num_gpus()) return;
      const core::model::Node& node = cluster.node(cluster.node_of(gpu));
      table->nodes[node.name][gpu.value - node.first_gpu].push_back({run, start_ns});
    };
    for (const auto& [id, run] : snapshot.book.runs) {
      if (run.started_ns < 0) continue;
      for (const core::model::GpuId gpu : run.gpus) hold(gpu, id, run.started_ns);
    }
    for (const auto& [id, job] : snapshot.book.jobs) {
      if (!job.accounted) jobs.insert(id);
    }
    for (const auto& [engine_id, id] : snapshot.book.by_engine_id) {
      const live::controller::LiveJob* job = snapshot.book.find(id);
      if (job == nullptr) continue;
      jobs.insert(id);
      // Slurm and Kubernetes number no runs: the one that runs is meant.
      Job& known = table->jobs[engine_id];
      known = {.run = {.job = id, .run = job->managed ? job->runs : 0},
               .has_uid = job->spec.owner.realm.empty(),
               .uid = job->spec.owner.uid,
               .start_ns = job->run_start_ns};
      for (const core::model::GpuId gpu : job->gpus) {
        if (gpu.index() >= cluster.num_gpus()) continue;
        known.nodes.insert(cluster.node(cluster.node_of(gpu)).name);
      }
      for (const live::NodePart& part : job->found) known.nodes.insert(part.node);
      // Kubernetes' NAMESPACE/NAME/UID of a single pod: its processes say the UID.
      if (const size_t slash = engine_id.rfind('/'); slash != std::string::npos) {
        table->jobs[engine_id.substr(slash + 1)] = known;
      }
      if (job->managed || job->run_start_ns < 0) continue;
      for (const core::model::GpuId gpu : job->gpus) {
        hold(gpu, {.job = id, .run = 0}, job->run_start_ns);
      }
    }
  });
  for (const auto& [part, engine_id] :
       options_.parts_of_jobs ? options_.parts_of_jobs() : std::map<std::string, std::string>()) {
    const auto whole = table->jobs.find(engine_id);
    if (whole == table->jobs.end()) continue;
    Job known = whole->second;
    known.is_part = true;
    table->jobs[part] = std::move(known);
  }
  table->keys = device_keys(scheduler_);
  box_->keep(jobs);
  const std::scoped_lock lock(mutex_);
  table_ = std::move(table);
}

base::Status NodeAgents::take(const std::string& node, AgentReport report) {
  const TimeNs now = now_ns();
  std::shared_ptr<const Table> table;
  bool is_new = false;
  bool is_taken = true;
  {
    const std::scoped_lock lock(mutex_);
    table = table_;
    const auto known = table->nodes.find(node);
    if (known == table->nodes.end()) {
      return base::usage_error(fmt::format("the cluster has no node {}", node.substr(0, 80)),
                               "start the agent with --node and the name that the cluster uses");
    }
    is_new = !agents_.contains(node);
    Agent& agent = agents_[node];
    const bool is_repeated = agent.word == report.agent && report.sequence <= agent.sequence;
    is_taken = is_repeated || has_room(report);
    if (is_taken && !is_repeated) {
      agent.word = report.agent;
      agent.sequence = report.sequence;
    }
    agent.interval_ns = base::from_seconds(report.interval_s);
    agent.report_ns = now;
    agent.stand = {
        .report_s = base::to_seconds(now),
        .clock_skew_s = report.clock_s > 0 ? report.clock_s - base::to_seconds(now) : 0.0,
        .dropped = report.dropped,
        .problem = report.problem};
    auto holders = known->second;
    take_jobs(node, report, holders, *table);
    if (is_taken && !is_repeated) take_samples(node, report, holders, agent, now);
  }
  if (is_new) remember();
  if (is_taken) return {};
  return base::failed("too many samples wait to be written", "send the report again later");
}

void NodeAgents::take_jobs(const std::string& node, const AgentReport& report,
                           std::vector<std::vector<Table::Holder>>& holders, const Table& table) {
  for (const AgentJob& each : report.jobs) {
    const auto found = table.jobs.find(each.id);
    if (found == table.jobs.end()) continue;
    const Job& job = found->second;
    // A process can say that it belongs to any job; its user comes from the kernel.
    if (job.has_uid && job.uid != each.uid) continue;
    // The uid is the agent's word: a node says nothing of jobs of other nodes.
    if (!job.nodes.empty() && !job.nodes.contains(node)) continue;
    if (!each.software.empty()) box_->put_software(job.run.job, each.software);
    // Several parts of a job may be on one node.
    const std::string place = job.is_part ? node + "/" + each.id : node;
    if (each.progress) box_->put_progress(job.run, place, *each.progress);
    const auto is_its = [&](const Table::Holder& holder) { return holder.run == job.run; };
    const bool is_known = std::ranges::any_of(
        holders, [&](const auto& of_gpu) { return std::ranges::any_of(of_gpu, is_its); });
    if (is_known || job.start_ns < 0) continue;
    // The engine does not know which GPUs it has: its own environment does.
    for (const int32_t gpu : each.gpus) {
      if (static_cast<size_t>(gpu) < holders.size()) {
        holders[static_cast<size_t>(gpu)].push_back({job.run, job.start_ns});
      }
    }
  }
}

void NodeAgents::take_samples(const std::string& node, const AgentReport& report,
                              const std::vector<std::vector<Table::Holder>>& holders, Agent& agent,
                              TimeNs now) {
  std::map<std::string, std::string> uuids;
  for (const auto& gpu : report.gpus) uuids[gpu.index] = gpu.uuid;
  const TimeNs step = std::clamp(agent.interval_ns, kStepMin, kStepMax);
  for (const AgentSample& sample : report.samples) {
    const TimeNs at = now - base::from_seconds(sample.age_s);
    site::series::DeviceKey key{.node = node, .device = sample.gpu, .uuid = uuids[sample.gpu]};
    if (!agent.devices.contains(key)) {
      if (agent.devices.size() >= kDevicesMax) continue;
      agent.devices.insert(key);
    }
    samples_.push_back({.key = std::move(key),
                        .time_ms = at / base::kMillisecond,
                        .step_ms = static_cast<uint32_t>(step / base::kMillisecond),
                        .readings = sample.readings});
    const auto index = index_of(sample.gpu);
    if (!index || *index >= holders.size()) continue;
    const base::gpus::GpuReading reading = reading_of(sample.readings);
    if (Agent::Latest& latest = agent.gpus[sample.gpu]; at >= latest.at_ns) {
      latest = {.at_ns = at, .reading = reading};
    }
    for (const Table::Holder& holder : holders[*index]) {
      // A sample is a mean of the interval before it: of the run for the greater part.
      if (at - agent.interval_ns / 2 < holder.start_ns) continue;
      box_->put_reading(holder.run, reading, report.interval_s);
    }
  }
  while (samples_.size() > options_.samples_max) {
    samples_.pop_front();
    ++first_sample_;
  }
}

std::map<std::string, api::AgentStand> NodeAgents::stands() const {
  const TimeNs now = now_ns();
  const std::scoped_lock lock(mutex_);
  std::map<std::string, api::AgentStand> out;
  for (const auto& [node, agent] : agents_) {
    if (!table_->nodes.contains(node)) continue;  // the node has left
    out[node] = agent.stand;
    out[node].lost = is_lost(agent, now);
  }
  return out;
}

api::GpuReadings NodeAgents::latest() const {
  const TimeNs now = now_ns();
  const std::scoped_lock lock(mutex_);
  api::GpuReadings out;
  for (const site::series::DeviceKey& key : table_->keys) {
    base::gpus::GpuReading& reading = out.gpus.emplace_back();
    const auto agent = agents_.find(key.node);
    if (agent == agents_.end() || is_lost(agent->second, now)) continue;
    const auto found = agent->second.gpus.find(key.device);
    if (found == agent->second.gpus.end()) continue;
    if (now - found->second.at_ns > patience_of(agent->second.interval_ns)) continue;
    reading = found->second.reading;
    out.at_ns = std::max(out.at_ns, found->second.at_ns);
  }
  if (out.at_ns == 0) out.gpus.clear();
  return out;
}

base::Result<api::GpuCurves> NodeAgents::curves(const api::GpuWindow& window) const {
  // Before the store, so that samples that are written meanwhile are not missed.
  std::unique_lock lock(mutex_);
  const std::shared_ptr<const Table> table = table_;
  TimeNs step_ns = base::kSecond;
  std::map<std::pair<std::string_view, std::string_view>, size_t> wanted;
  for (size_t i = 0; i < window.gpus.size(); ++i) {
    if (window.gpus[i].index() >= table->keys.size()) continue;
    const site::series::DeviceKey& key = table->keys[window.gpus[i].index()];
    wanted[{key.node, key.device}] = i;
    if (const auto agent = agents_.find(key.node); agent != agents_.end()) {
      step_ns = std::max(step_ns, agent->second.interval_ns);
    }
  }
  CurveSums sums(window, step_ns);
  for (const Sample& sample : samples_) {
    const auto found = wanted.find({sample.key.node, sample.key.device});
    if (found == wanted.end()) continue;
    sums.add(found->second, sample.time_ms, reading_of(sample.readings));
  }
  lock.unlock();
  const base::Status read = add_stored_readings(options_.series, table->keys, window, sums);
  if (!read) return base::failure(read.error());
  return sums.take();
}

void NodeAgents::write() {
  next_write_ns_ = now_ns() + options_.write_every_ns;
  std::vector<Sample> now;
  uint64_t first = 0;
  {
    const std::scoped_lock lock(mutex_);
    if (options_.series.empty()) {
      const int64_t oldest_ms = (now_ns() - kAgentsWithoutStore) / base::kMillisecond;
      for (; !samples_.empty() && samples_.front().time_ms < oldest_ms; ++first_sample_) {
        samples_.pop_front();
      }
    }
    now.assign(samples_.begin(), samples_.end());
    first = first_sample_;
  }
  if (options_.may_write && !options_.may_write()) {
    const std::scoped_lock lock(mutex_);
    discards_ = true;
    return;
  }
  remember();
  if (options_.series.empty() || now.empty()) return;
  const base::Status status = write_samples(now);
  if (status) {
    const std::scoped_lock lock(mutex_);
    // Some of them may have been discarded meanwhile, and others added.
    for (; !samples_.empty() && first_sample_ < first + now.size(); ++first_sample_) {
      samples_.pop_front();
    }
    discards_ = false;
    said_.clear();
    return;
  }
  {
    const std::scoped_lock lock(mutex_);
    discards_ = true;
  }
  std::string problem = status.error().text();
  if (options_.say && problem != said_) options_.say("cannot write GPU readings: " + problem);
  said_ = std::move(problem);
}

base::Status NodeAgents::write_samples(const std::vector<Sample>& samples) const {
  std::set<uint32_t> steps;
  for (const Sample& sample : samples) steps.insert(sample.step_ms);
  for (const uint32_t step_ms : steps) {
    auto writer = site::series::StoreWriter::open(options_.series, {.step_ms = step_ms});
    if (!writer) return base::failure(writer.error());
    for (const Sample& sample : samples) {
      if (sample.step_ms != step_ms) continue;
      for (const auto& [metric, reading] : sample.readings) {
        // MIG instances and nodes have their own metrics; a value out of range is not written.
        auto status = (*writer)->add(sample.key, metric, sample.time_ms, reading);
        if (!status) return status;
      }
    }
    if (auto status = (*writer)->finish(); !status) return status;
  }
  return {};
}

/// So that an agent that never comes back after a restart of the daemon is seen to be lost.
void NodeAgents::remember() const {
  if (options_.state.empty() || (options_.may_write && !options_.may_write())) return;
  nlohmann::json known = nlohmann::json::object();
  {
    const std::scoped_lock lock(mutex_);
    for (const auto& [node, agent] : agents_) {
      known[node] = {{"report_s", agent.stand.report_s},
                     {"interval_s", base::to_seconds(agent.interval_ns)}};
    }
  }
  if (known.empty()) return;
  // It is a help: what is missing in it reports again.
  (void)base::replace_file(options_.state, kAgentsFile, known.dump() + '\n', base::Durable::No);
}

void NodeAgents::recall() {
  if (options_.state.empty()) return;
  const auto text = base::read_small_file(options_.state + '/' + kAgentsFile);
  if (!text) return;
  const auto known = base::parse_json(*text, kAgentsFile);
  if (!known || !known->is_object()) return;
  for (const auto& [node, facts] : known->items()) {
    base::FieldReader in(facts, "");
    double interval_s = 0;
    Agent agent;
    constexpr double kMost = 1e12;
    in.field("report_s", agent.stand.report_s, 0.0, kMost);
    in.field("interval_s", interval_s, 0.0, kMost);
    if (!in.good()) continue;
    agent.report_ns = base::from_seconds(agent.stand.report_s);
    agent.interval_ns = base::from_seconds(interval_s);
    agents_.emplace(node, std::move(agent));
  }
}

}  // namespace goban::serve::daemon
