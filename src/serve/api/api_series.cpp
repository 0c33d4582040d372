// /v1/jobs/{}/series: readings of a job's GPUs since the start of its run. /v1/jobs/{}/progress:
// what it reported over time.
#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/http/reply.hpp"
#include "base/number.hpp"
#include "serve/api/api.hpp"
#include "serve/api/job_view.hpp"

namespace goban::serve::api {

using nlohmann::json;

namespace {
constexpr int64_t kPointsDefault = 300;
constexpr int64_t kPointsMax = 1000;
constexpr size_t kGpusMax = 16;

/// The run that holds GPUs, or otherwise the last one that did.
struct SeenRun {
  uint32_t run = 0;  ///< 0 = it never ran
  GpuWindow window{};
};

SeenRun run_of(const live::controller::LiveJob& job, base::TimeNs now_ns) {
  if (job.run_start_ns >= 0) {
    return {.run = job.runs,
            .window = {.gpus = job.gpus, .from_ns = job.run_start_ns, .to_ns = now_ns}};
  }
  const auto last =
      std::find_if(job.past.rbegin(), job.past.rend(),
                   [](const live::controller::PastRun& run) { return run.start_ns >= 0; });
  if (last == job.past.rend()) return {};
  return {.run = last->run,
          .window = {.gpus = last->gpus, .from_ns = last->start_ns, .to_ns = last->end_ns}};
}

json point_json(const GpuPoint& point) {
  json out = {{"at_s", point.at_s}};
  if (point.mean.util_pct >= 0) out["util_pct"] = point.mean.util_pct;
  if (point.mean.mem_used_bytes >= 0) out["mem_used_bytes"] = point.mean.mem_used_bytes;
  if (point.mean.power_w >= 0) out["power_w"] = point.mean.power_w;
  return out;
}

base::http::Response show_series(const Call& call, const ApiContext& context) {
  SeenRun seen;
  core::model::JobId id{};
  bool found = false;
  bool allowed = false;
  const core::model::Cluster* cluster = nullptr;
  context.scheduler.look([&](const live::loop::SchedulerSnapshot& snapshot) {
    cluster = &snapshot.site.cluster;
    const live::controller::LiveJob* const job = find_job(snapshot.book, call.names[0]);
    if (job == nullptr) return;
    found = true;
    allowed = call.who.may_see(job->spec.owner, job->spec.account);
    id = job->job;
    if (allowed) seen = run_of(*job, snapshot.now_ns);
  });
  if (!found) return base::http::refusal(base::http::kNotFound, "there is no such job");
  if (!allowed)
    return base::http::refusal(base::http::kForbidden, "the job belongs to another user");
  int64_t points = kPointsDefault;
  if (const std::string_view text = call.query("points"); !text.empty()) {
    const auto value = base::parse_int(text);
    if (!value || *value < 1 || *value > kPointsMax) {
      return base::http::refusal(base::http::kBadRequest,
                                 {.code = base::ErrorCode::BadData,
                                  .message = "must be an integer from 1 to 1000",
                                  .place = {.file = {}, .line = 0, .column = 0, .field = "points"},
                                  .remedy = {}});
    }
    points = *value;
  }
  GpuWindow& window = seen.window;
  window.gpus.resize(std::min(window.gpus.size(), kGpusMax));
  window.points_max = static_cast<size_t>(points);
  json out = {{"job", live::job::job_number(id)}, {"run", seen.run}, {"gpus", json::array()}};
  if (seen.run == 0) return base::http::reply(out);
  GpuCurves curves;
  if (context.parts.gpus != nullptr) {
    auto drawn = context.parts.gpus->curves(window);
    if (!drawn) return base::http::refusal(base::http::kUnavailable, drawn.error());
    curves = std::move(*drawn);
  }
  out["from_s"] = base::to_seconds(window.from_ns);
  out["to_s"] = base::to_seconds(window.to_ns);
  if (curves.step_s > 0) out["step_s"] = curves.step_s;
  out["gpus"] = gpu_list(window.gpus, *cluster);
  for (size_t i = 0; i < out["gpus"].size(); ++i) {
    json points_of = json::array();
    if (i < curves.gpus.size()) {
      for (const GpuPoint& point : curves.gpus[i]) points_of.push_back(point_json(point));
    }
    out["gpus"][i]["points"] = std::move(points_of);
  }
  return base::http::reply(out);
}

base::http::Response show_progress(const Call& call, const ApiContext& context) {
  core::model::JobId id{};
  bool found = false;
  bool allowed = false;
  context.scheduler.look([&](const live::loop::SchedulerSnapshot& snapshot) {
    const live::controller::LiveJob* const job = find_job(snapshot.book, call.names[0]);
    if (job == nullptr) return;
    found = true;
    allowed = call.who.may_see(job->spec.owner, job->spec.account);
    id = job->job;
  });
  if (!found) return base::http::refusal(base::http::kNotFound, "there is no such job");
  if (!allowed)
    return base::http::refusal(base::http::kForbidden, "the job belongs to another user");
  json points = json::array();
  if (context.parts.progress != nullptr) {
    for (const ProgressPoint& point : context.parts.progress->of(id)) {
      json& each = points.emplace_back(progress_json(point.report));
      each["at_s"] = point.at_s;
    }
  }
  return base::http::reply({{"job", live::job::job_number(id)}, {"points", std::move(points)}});
}
}  // namespace

void add_series_route(Router& router, const ApiContext& context) {
  router.add("GET", "/v1/jobs/{}/series", Access::Known, {"points"},
             [&context](const Call& call) { return show_series(call, context); });
  router.add("GET", "/v1/jobs/{}/progress", Access::Known, {},
             [&context](const Call& call) { return show_progress(call, context); });
}

}  // namespace goban::serve::api
