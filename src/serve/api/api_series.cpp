// /v1/jobs/{}/series: readings of a job's GPUs since the start of its run. /v1/jobs/{}/progress:
// what it reported over time. /v1/jobs/{}/curves: the scalars of its TensorBoard event files.
#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/http/reply.hpp"
#include "base/number.hpp"
#include "live/job/output_path.hpp"
#include "serve/api/api.hpp"
#include "serve/api/event_curves.hpp"
#include "serve/api/file_work.hpp"
#include "serve/api/job_view.hpp"
#include "serve/api/log_file.hpp"
#include "serve/api/visible_job.hpp"

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
  const core::model::Cluster* cluster = nullptr;
  const auto look = [&](const auto& snapshot, const auto& job) {
    cluster = &snapshot.site.cluster;
    id = job.job;
    seen = run_of(job, snapshot.now_ns);
  };
  if (auto refused = with_visible_job(call, context, look)) return std::move(*refused);
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
  if (auto refused =
          with_visible_job(call, context, [&](const auto&, const auto& job) { id = job.job; })) {
    return std::move(*refused);
  }
  json points = json::array();
  if (context.parts.progress != nullptr) {
    for (const ProgressPoint& point : context.parts.progress->of(id)) {
      json& each = points.emplace_back(progress_json(point.report));
      each["at_s"] = point.at_s;
    }
  }
  return base::http::reply({{"job", live::job::job_number(id)}, {"points", std::move(points)}});
}

/// The event files of a job, and the folder that its log names; empty if it names none.
struct NamedCurves {
  std::string folder{};
  EventCurves read{};
};

/// Reads files of the owner, which may hang. Errors: the log or the folder must not be read.
base::Result<NamedCurves> read_curves(core::model::JobId job, const live::job::JobSpec& spec) {
  constexpr size_t kLogBytes = 65'536;  // as for links to experiment trackers
  NamedCurves out;
  for (const auto stream : {live::job::OutputStream::Stdout, live::job::OutputStream::Stderr}) {
    const auto log = LogFile::open(spec.owner, live::job::output_path(job, spec, stream));
    if (!log) return base::failure(log.error());
    std::string text;
    log->read(0, kLogBytes, text);
    const auto folder = events_folder(text);
    if (!folder) continue;
    if (!folder->starts_with('/') && spec.work_folder.empty()) continue;
    out.folder = folder->starts_with('/') ? *folder : spec.work_folder + "/" + *folder;
    auto read = read_event_curves(spec.owner, out.folder);
    if (!read) return base::failure(read.error());
    out.read = std::move(*read);
    break;
  }
  return out;
}

json curves_json(core::model::JobId job, const NamedCurves& named) {
  json curves = json::array();
  for (const EventCurve& each : named.read.curves) {
    json out = {{"run", each.run},
                {"tag", each.tag},
                {"step", json::array()},
                {"value", json::array()},
                {"at_s", json::array()}};
    for (const base::Scalar& point : each.curve.points()) {
      out["step"].push_back(point.step);
      out["value"].push_back(point.value);
      out["at_s"].push_back(point.at_s);
    }
    if (each.curve.not_finite() > 0) out["not_finite"] = each.curve.not_finite();
    curves.push_back(std::move(out));
  }
  json out = {{"job", live::job::job_number(job)},
              {"files", named.read.files},
              {"curves", std::move(curves)}};
  if (!named.folder.empty()) out["folder"] = named.folder;
  if (named.read.was_cut) out["was_cut"] = true;
  if (!named.read.problems.empty()) out["problems"] = named.read.problems;
  return out;
}

base::http::Response show_curves(const Call& call, const ApiContext& context) {
  auto named = visible_job(call, context);
  if (!named) return std::move(named.error());
  const auto read = context.files.run<base::Result<NamedCurves>>(
      named->spec.owner, [job = named->job, spec = named->spec] { return read_curves(job, spec); });
  if (!read) return refusal_of(read.error());
  if (!*read) return base::http::refusal(base::http::kForbidden, read->error());
  return base::http::reply(curves_json(named->job, **read));
}
}  // namespace

void add_series_route(Router& router, const ApiContext& context) {
  router.add("GET", "/v1/jobs/{}/series", Access::Known, {"points"},
             [&context](const Call& call) { return show_series(call, context); });
  router.add("GET", "/v1/jobs/{}/progress", Access::Known, {},
             [&context](const Call& call) { return show_progress(call, context); });
  router.add("GET", "/v1/jobs/{}/curves", Access::Known, {},
             [&context](const Call& call) { return show_curves(call, context); });
}

}  // namespace goban::serve::api
