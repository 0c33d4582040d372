// /v1/nodes, /v1/cluster, /v1/stats, /v1/colocation, /v1/whatif and /v1/jobs/{}/explain.
#include <algorithm>
#include <array>
#include <atomic>
#include <fmt/format.h>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>

#include "base/http/http_uri.hpp"
#include "base/http/reply.hpp"
#include "base/json_fields.hpp"
#include "core/knowledge/colocation/colocation_file.hpp"
#include "core/knowledge/scores_file.hpp"
#include "serve/api/api.hpp"
#include "serve/api/cluster_view.hpp"
#include "serve/api/explain.hpp"
#include "serve/api/forecast_view.hpp"
#include "serve/api/job_requests.hpp"
#include "serve/api/job_view.hpp"
#include "study/what_if.hpp"

namespace goban::serve::api {

using nlohmann::json;

namespace {

ClusterView view_of(const ApiContext& context, bool with_scores) {
  ClusterView view;
  context.scheduler.look([&](const live::loop::SchedulerSnapshot& snapshot) {
    view = view_cluster(snapshot, with_scores);
  });
  return view;
}

ScoreReport scores_of(const ApiContext& context) {
  return context.parts.scores != nullptr ? context.parts.scores->report() : ScoreReport{};
}

using AgentStands = std::map<std::string, AgentStand>;

AgentStands agents_of(const ApiContext& context) {
  return context.parts.agents != nullptr ? context.parts.agents->stands() : AgentStands{};
}

json agent_json(const AgentStand& stand) {
  json out = {{"state", stand.lost ? "lost" : "up"},
              {"report_s", stand.report_s},
              {"clock_skew_s", stand.clock_skew_s}};
  if (stand.dropped > 0) out["dropped"] = stand.dropped;
  if (!stand.problem.empty()) out["problem"] = stand.problem;
  return out;
}

json node_json(const ClusterView& view, size_t index, const ScoreReport& scores,
               const AgentStands& agents) {
  const core::model::Node& node = view.cluster->nodes()[index];
  std::set<uint64_t> jobs;
  for (uint32_t gpu = node.first_gpu; gpu < node.end_gpu(); ++gpu) {
    for (const core::model::JobId job : view.holders[gpu]) jobs.insert(live::job::job_number(job));
  }
  json out = {{"node", node.name},
              {"state", view.node_state(index)},
              {"num_gpus", node.num_gpus},
              {"held_gpus", view.held_gpus(index)},
              {"jobs", jobs}};
  if (node.gpu_model < view.cluster->gpu_models().size()) {
    out["gpu_model"] = view.cluster->gpu_models()[node.gpu_model].name;
  }
  if (node.host.cores > 0) out["cores"] = node.host.cores;
  if (view.held_cores[index] > 0) out["held_cores"] = view.held_cores[index];
  if (node.host.mem_bytes > 0) out["mem_bytes"] = node.host.mem_bytes;
  if (!view.drain_reason[index].empty()) out["reason"] = view.drain_reason[index];
  const auto count = [&](auto is_so) {
    int64_t of_node = 0;
    for (size_t gpu = node.first_gpu; gpu < std::min<size_t>(node.end_gpu(), scores.gpus.size());
         ++gpu) {
      of_node += is_so(scores.gpus[gpu]) ? 1 : 0;
    }
    return of_node;
  };
  if (!scores.gpus.empty()) {
    out["scores"] = {{"expired", count([](const auto& gpu) { return gpu.expired; })},
                     {"suspect", count([](const auto& gpu) { return gpu.suspect; })},
                     {"measured", count([](const auto& gpu) { return gpu.measured_unix_s > 0; })}};
  }
  if (const auto found = agents.find(node.name); found != agents.end()) {
    out["agent"] = agent_json(found->second);
  }
  for (const ClusterView::Promise& each : view.promises[index]) {
    out["reservations"].push_back(
        {{"reservation", live::controller::reservation_name(each.reservation)},
         {"start_s", base::to_seconds(each.start_ns)},
         {"end_s", base::to_seconds(each.end_ns)}});
  }
  return out;
}

base::http::Response list_nodes(const ApiContext& context) {
  const ClusterView view = view_of(context, false);
  const ScoreReport scores = scores_of(context);
  const AgentStands agents = agents_of(context);
  json nodes = json::array();
  for (size_t i = 0; i < view.cluster->nodes().size(); ++i) {
    nodes.push_back(node_json(view, i, scores, agents));
  }
  return base::http::reply({{"nodes", std::move(nodes)}});
}

json gpu_json(const ClusterView& view, core::model::GpuId gpu,
              const std::vector<GpuReading>& readings, const ScoreReport& known) {
  json jobs = json::array();
  for (const core::model::JobId job : view.holders[gpu.index()])
    jobs.push_back(live::job::job_number(job));
  json scores = json::array();
  for (const auto& of_class : view.scores) scores.push_back(of_class[gpu.index()]);
  json out = {{"gpu", gpu.value},
              {"state", view.gpu_state(gpu)},
              {"jobs", std::move(jobs)},
              {"scores", std::move(scores)}};
  if (gpu.index() < known.gpus.size()) {
    const core::knowledge::ScoreFacts& facts = known.gpus[gpu.index()];
    if (facts.expired) out["score_expired"] = true;
    if (facts.suspect) out["score_suspect"] = true;
    if (facts.measured_unix_s > 0) out["measured_s"] = facts.measured_unix_s;
  }
  if (gpu.index() < readings.size()) {
    const GpuReading& now = readings[gpu.index()];
    if (now.util_pct >= 0) out["util_pct"] = now.util_pct;
    if (now.mem_used_bytes >= 0) out["mem_used_bytes"] = now.mem_used_bytes;
    if (now.power_w >= 0) out["power_w"] = now.power_w;
    if (now.temperature_c >= 0) out["temperature_c"] = now.temperature_c;
  }
  return out;
}

/// Index of the topology level directly above nodes that has its own name; 0 = none.
size_t rack_level(const core::model::Cluster& cluster) {
  const size_t above = cluster.node_level() + 1;
  return above + 1 < cluster.levels().size() ? above : 0;
}

base::http::Response show_cluster(const ApiContext& context) {
  const ClusterView view = view_of(context, true);
  const GpuReadings readings =
      context.parts.gpus != nullptr ? context.parts.gpus->latest() : GpuReadings{};
  const ScoreReport scores = scores_of(context);
  const AgentStands agents = agents_of(context);
  const core::model::Cluster& cluster = *view.cluster;
  const size_t level = rack_level(cluster);
  json racks = json::array();
  uint32_t last = UINT32_MAX;
  for (size_t i = 0; i < cluster.nodes().size(); ++i) {
    const core::model::Node& node = cluster.nodes()[i];
    const uint32_t rack = level == 0 || node.num_gpus == 0
                              ? 0
                              : cluster.domain_of(level, core::model::GpuId(node.first_gpu));
    if (racks.empty() || rack != last) {
      racks.push_back(
          {{"rack", fmt::format("{}{}", level == 0 ? "" : cluster.levels()[level].name, rack)},
           {"nodes", json::array()}});
      last = rack;
    }
    json each = node_json(view, i, scores, agents);
    json gpus = json::array();
    for (uint32_t gpu = node.first_gpu; gpu < node.end_gpu(); ++gpu) {
      gpus.push_back(gpu_json(view, core::model::GpuId(gpu), readings.gpus, scores));
    }
    each["gpus"] = std::move(gpus);
    racks.back()["nodes"].push_back(std::move(each));
  }
  json out = {{"name", cluster.name()}, {"num_gpus", cluster.num_gpus()}, {"racks", racks}};
  if (readings.at_ns > 0) out["readings_s"] = base::to_seconds(readings.at_ns);
  return base::http::reply(out);
}

/// The node that a path names, if there is one.
std::optional<core::model::NodeId> node_of(const Call& call, const ApiContext& context) {
  std::optional<core::model::NodeId> node;
  context.scheduler.look([&](const live::loop::SchedulerSnapshot& snapshot) {
    node = snapshot.site.cluster.find_node(call.names[0]);
  });
  return node;
}

base::http::Response take(const ApiContext& context, const std::string& node,
                          const live::controller::Input& input) {
  const auto answer = context.scheduler.ask(input);
  if (answer) return base::http::reply({{"node", node}});
  return base::http::refusal(
      status_of_refusal(context.scheduler, input, answer.error(), base::http::kConflict),
      answer.error());
}

base::http::Response drain(const Call& call, const ApiContext& context) {
  const auto node = node_of(call, context);
  if (!node)
    return base::http::refusal(base::http::kNotFound, "there is no such node",
                               "goban nodes lists them");
  live::controller::Drain input{.node = *node};
  constexpr size_t kReasonBytesMax = 1000;
  if (!call.request.body.empty()) {
    if (const base::Status valid = check_json(call.request.body); !valid) {
      return base::http::refusal(base::http::kBadRequest, valid.error());
    }
    const json body = json::parse(call.request.body);
    base::FieldReader in(body, "");
    in.field("reason", input.reason);
    in.field("now", input.now);
    in.seconds("from_s", input.from_ns);
    if (in.good() &&
        (input.reason.size() > kReasonBytesMax || !base::http::is_plain_text(input.reason))) {
      in.fail("reason", "is longer than 1000 bytes or contains control characters");
    }
    if (in.good() && !in.unknown().empty()) in.fail(in.unknown().front(), "unknown field");
    if (const base::Status read = in.status(); !read)
      return base::http::refusal(base::http::kBadRequest, read.error());
  }
  return take(context, call.names[0], input);
}

base::http::Response resume(const Call& call, const ApiContext& context) {
  const auto node = node_of(call, context);
  if (!node)
    return base::http::refusal(base::http::kNotFound, "there is no such node",
                               "goban nodes lists them");
  return take(context, call.names[0], live::controller::Resume{.node = *node});
}

base::http::Response fence(const Call& call, const ApiContext& context) {
  const auto node = node_of(call, context);
  if (!node)
    return base::http::refusal(base::http::kNotFound, "there is no such node",
                               "goban nodes lists them");
  return take(context, call.names[0], live::controller::Fence{.node = *node});
}

base::http::Response take_scores(const Call& call, const ApiContext& context) {
  uint32_t num_gpus = 0;
  context.scheduler.look([&](const live::loop::SchedulerSnapshot& snapshot) {
    num_gpus = snapshot.site.cluster.num_gpus();
  });
  const auto scores = core::knowledge::parse_scores(call.request.body, "", num_gpus);
  if (!scores) return base::http::refusal(base::http::kBadRequest, scores.error());
  const live::controller::ScoresMeasured input{.table = core::knowledge::to_csv(*scores),
                                               .instead_of = {}};
  if (const auto answer = context.scheduler.ask(input); !answer) {
    return base::http::refusal(
        status_of_refusal(context.scheduler, input, answer.error(), base::http::kConflict),
        answer.error());
  }
  json bins = json::array();
  for (size_t i = 0; i < scores->num_classes(); ++i) {
    bins.push_back(scores->of({static_cast<uint8_t>(i)}).bin_values.size());
  }
  return base::http::reply({{"num_gpus", num_gpus}, {"bins", std::move(bins)}});
}

/// Nodes on which no job starts for a while, as the machine could not make the last launch.
json launch_holds(const live::loop::SchedulerSnapshot& snapshot) {
  json out = json::array();
  if (snapshot.holds == nullptr) return out;
  for (const auto& [node, hold] : *snapshot.holds) {
    out.push_back({{"node", snapshot.site.cluster.node(node).name},
                   {"until_s", base::to_seconds(hold.until_ns)},
                   {"reason", hold.reason}});
  }
  return out;
}

base::http::Response show_stats(const Call& call, const ApiContext& context) {
  std::array<int64_t, live::controller::kNumJobStages> stages{};
  int64_t waiting_gpus = 0;
  ClusterView view;
  json holds = json::array();
  base::TimeNs now = 0;
  context.scheduler.look([&](const live::loop::SchedulerSnapshot& snapshot) {
    now = snapshot.now_ns;
    holds = launch_holds(snapshot);
    view = view_cluster(snapshot, false);
    for (const auto& [id, job] : snapshot.book.jobs) {
      ++stages[static_cast<size_t>(shown_stage(job))];
      if (job.stage == live::controller::JobStage::Waiting) waiting_gpus += job.spec.num_gpus;
    }
  });
  json jobs = json::object();
  for (size_t i = 0; i < stages.size(); ++i) {
    jobs[std::string(stage_name(static_cast<live::controller::JobStage>(i)))] = stages[i];
  }
  json gpus = {{"free", 0}, {"busy", 0}, {"shared", 0}, {"drained", 0}, {"asleep", 0}, {"down", 0}};
  for (uint32_t gpu = 0; gpu < view.cluster->num_gpus(); ++gpu) {
    json& count = gpus[view.gpu_state(core::model::GpuId(gpu))];
    count = count.get<int64_t>() + 1;
  }
  const live::loop::DaemonStats stats = context.scheduler.stats();
  json out = {{"now_s", base::to_seconds(now)},
              {"jobs", std::move(jobs)},
              {"gpus", std::move(gpus)},
              {"waiting_gpus", waiting_gpus},
              {"inputs", stats.inputs},
              {"decisions", stats.decisions},
              {"turns", stats.turns},
              {"journal_failures", stats.journal_failures},
              {"journal_is_stuck", stats.journal_is_stuck},
              {"caller", {{"user", call.who.owner.user}, {"role", role_name(call.who.role)}}}};
  if (!holds.empty()) out["launch_holds"] = std::move(holds);
  if (!stats.decide_s_last.empty()) {
    out["decide_s"] = {
        {"p50", stats.decide_s(0.5)}, {"p99", stats.decide_s(0.99)}, {"max", stats.decide_s(1)}};
  }
  return base::http::reply(out);
}

base::http::Response explain(const Call& call, const ApiContext& context) {
  json out;
  bool found = false;
  bool allowed = false;
  context.scheduler.look([&](const live::loop::SchedulerSnapshot& snapshot) {
    const live::controller::LiveJob* const job = find_job(snapshot.book, call.names[0]);
    if (job == nullptr) return;
    found = true;
    allowed = call.who.may_see(job->spec.owner, job->spec.account);
    if (!allowed) return;
    out = explain_job(snapshot, *job);
    put_forecasts(out, *job, context.parts.starts);
    out["text"] = out["text"].get<std::string>() + forecast_words(*job, context.parts.starts);
  });
  if (!found) {
    const auto past = find_past_job(context, call.names[0]);
    if (!past) return base::http::refusal(base::http::kUnavailable, past.error());
    if (!*past) return base::http::refusal(base::http::kNotFound, unknown_job_error(call.names[0]));
    allowed = call.who.may_see((*past)->spec.owner, (*past)->spec.account);
    if (allowed) {
      context.scheduler.look([&](const live::loop::SchedulerSnapshot& snapshot) {
        out = explain_job(snapshot, **past);
      });
    }
  }
  if (!allowed)
    return base::http::refusal(base::http::kForbidden, "the job belongs to another user");
  return base::http::reply(out);
}

base::http::Response what_if(const Call& call, const ApiContext& context,
                             std::atomic<bool>& is_busy) {
  if (!call.who.is_operator() && call.who.role != Role::Viewer) {
    return base::http::refusal(base::http::kForbidden, "what-if replays use the jobs of all users",
                               "ask an operator or a viewer");
  }
  if (context.parts.what_if == nullptr) {
    return base::http::refusal(base::http::kUnavailable, "what-if replays are not available",
                               "use goban simulate with a history from goban history export");
  }
  if (const base::Status valid = check_json(call.request.body); !valid) {
    return base::http::refusal(base::http::kBadRequest, valid.error());
  }
  if (is_busy.exchange(true)) {
    return base::http::refusal(base::http::kTooManyRequests, "another what-if replay is running",
                               "wait until it has finished");
  }
  auto scores = core::knowledge::PmScores::uniform(1);
  core::model::Cluster cluster;
  context.scheduler.look([&](const live::loop::SchedulerSnapshot& snapshot) {
    scores = snapshot.site.scores;
    cluster = snapshot.site.cluster;
  });
  base::Result<std::string> answer =
      context.parts.what_if->answer(call.request.body, cluster, scores);
  is_busy = false;
  if (answer) return {.body = std::move(*answer)};
  const bool broken = answer.error().code == base::ErrorCode::Failed;
  return base::http::refusal(broken ? base::http::kUnavailable : base::http::kBadRequest,
                             answer.error());
}

base::http::Response export_colocation(const ApiContext& context) {
  core::knowledge::ColocationHistory history;
  context.scheduler.look([&](const live::loop::SchedulerSnapshot& snapshot) {
    if (snapshot.colocation) history = snapshot.colocation();
  });
  return {.content_type = "text/csv; charset=utf-8", .body = core::knowledge::to_csv(history)};
}

}  // namespace

void add_node_routes(Router& router, const ApiContext& context) {
  const auto get = [&](const char* path, auto show) {
    router.add("GET", path, Access::Known, {},
               [&context, show](const Call&) { return show(context); });
  };
  get("/v1/nodes", list_nodes);
  get("/v1/cluster", show_cluster);
  router.add("GET", "/v1/stats", Access::Known, {},
             [&context](const Call& call) { return show_stats(call, context); });
  router.add("POST", "/v1/scores", Access::Operator, {},
             [&context](const Call& call) { return take_scores(call, context); });
  router.add("GET", "/v1/colocation", Access::Operator, {},
             [&context](const Call&) { return export_colocation(context); });
  router.add("POST", "/v1/nodes/{}/drain", Access::Operator, {},
             [&context](const Call& call) { return drain(call, context); });
  router.add("POST", "/v1/nodes/{}/resume", Access::Operator, {},
             [&context](const Call& call) { return resume(call, context); });
  router.add("POST", "/v1/nodes/{}/fence", Access::Operator, {},
             [&context](const Call& call) { return fence(call, context); });
  router.add("GET", "/v1/jobs/{}/explain", Access::Known, {},
             [&context](const Call& call) { return explain(call, context); });
  router.add("POST", "/v1/whatif", Access::Known, {},
             [&context, is_busy = std::make_shared<std::atomic<bool>>(false)](const Call& call) {
               return what_if(call, context, *is_busy);
             });
}

}  // namespace goban::serve::api
