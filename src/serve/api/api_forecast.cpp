// POST /v1/forecast: how long jobs would run, and when they would start, if they were submitted
// now.
#include <algorithm>
#include <atomic>
#include <nlohmann/json.hpp>

#include "base/http/reply.hpp"
#include "serve/api/api.hpp"
#include "serve/api/forecast_view.hpp"
#include "serve/api/look_ahead.hpp"
#include "serve/api/submission.hpp"

namespace goban::serve::api {

using live::controller::Controller;
using nlohmann::json;

namespace {

constexpr size_t kAlternativesMax = 16;

/// The jobs of `{"jobs": [...]}`, each as in POST /v1/jobs, but a script may be missing.
base::Result<std::vector<live::job::JobSpec>> read_alternatives(
    const Call& call, const ApiContext& context, const live::controller::Site& site) {
  if (const base::Status valid = check_json(call.request.body); !valid) {
    return base::failure(valid.error());
  }
  json body = json::parse(call.request.body, nullptr, false);
  const auto jobs = body.is_object() ? body.find("jobs") : body.end();
  const bool is_list = body.is_object() && body.size() == 1 && jobs != body.end() &&
                       jobs->is_array() && !jobs->empty();
  if (!is_list) return bad_field("jobs", "must be a list of jobs, and nothing else");
  if (jobs->size() > kAlternativesMax) return bad_field("jobs", "has more than 16 entries");
  std::vector<live::job::JobSpec> out;
  for (json& job : *jobs) {
    if (!job.is_object()) return bad_field("jobs", "entries must be objects");
    job.emplace("script", "#!/bin/sh\n");
    auto read = parse_submit_request(job.dump(), context.limits);
    if (!read) return base::failure(read.error());
    live::job::JobSpec spec = std::move(read->jobs.front());
    spec.owner = call.who.owner;
    if (auto fits = fill_unset(spec, site.cluster, site.limits); !fits) {
      return base::failure(fits.error());
    }
    out.push_back(std::move(spec));
  }
  return out;
}

/// Of a job that could be submitted now.
struct Imagined {
  Controller::ImaginedJob job{};
  base::Status allowed{};
};

json answer_of(const live::job::JobSpec& spec, const Imagined& imagined, const AheadState& state,
               const ApiContext& context) {
  json out = {{"num_gpus", spec.num_gpus}};
  if (spec.walltime_limit_ns > 0) out["walltime_s"] = base::to_seconds(spec.walltime_limit_ns);
  if (!imagined.allowed) {
    out["error"] = imagined.allowed.error().text();
    return out;
  }
  const live::job::PredictedRun& predicted = imagined.job.predicted;
  out["predicted_run"] = predicted_json(predicted);
  // Equal luck for all alternatives: what differs is the job.
  const auto made = core::scheduler::forecast_starts(
      state.site(), state.image, state.now_ns,
      {.extra =
           core::scheduler::AheadJob{.request = imagined.job.request, .forecast = predicted.run},
       .decisions_max = kAheadDecisionsMax});
  core::model::StartInterval start = made.extra;
  const bool at_once = start.p90_ns <= state.now_ns;
  if (context.parts.starts != nullptr && !at_once) {
    start = context.parts.starts->latest()->calibration.calibrated(
        {.made_ns = state.now_ns, .interval = start});
  }
  if (json shown = start_json(start); !shown.empty()) out["start"] = std::move(shown);
  return out;
}

base::http::Response forecast(const Call& call, const ApiContext& context,
                              const live::controller::Site& site, std::atomic<bool>& is_busy) {
  if (!call.who.may_submit()) {
    return base::http::refusal(base::http::kForbidden, "viewers are not permitted to submit jobs");
  }
  const auto jobs = read_alternatives(call, context, site);
  if (!jobs) return base::http::refusal(base::http::kBadRequest, jobs.error());
  std::vector<Imagined> imagined;
  for (const live::job::JobSpec& spec : *jobs) {
    imagined.push_back(
        {.allowed = context.scheduler.check(live::controller::Submit{.jobs = {spec}})});
  }
  if (is_busy.exchange(true)) {
    return base::http::refusal(base::http::kTooManyRequests, "another forecast is being made",
                               "try again");
  }
  AheadState state;
  bool is_known = false;
  context.scheduler.look([&](const live::loop::SchedulerSnapshot& snapshot) {
    is_known = can_look_ahead(snapshot) && snapshot.imagine;
    if (!is_known) return;
    state = copy_for_ahead(snapshot);
    for (size_t i = 0; i < jobs->size(); ++i) imagined[i].job = snapshot.imagine((*jobs)[i]);
  });
  json answers = json::array();
  for (size_t i = 0; i < jobs->size() && is_known; ++i) {
    answers.push_back(answer_of((*jobs)[i], imagined[i], state, context));
  }
  is_busy = false;
  if (!is_known) {
    return base::http::refusal(base::http::kUnavailable, "nothing can be forecast",
                               "at most 20,000 jobs may wait");
  }
  return base::http::reply(
      {{"now_s", base::to_seconds(state.now_ns)}, {"jobs", std::move(answers)}});
}

}  // namespace

void add_forecast_route(Router& router, const ApiContext& context) {
  const live::controller::Site* site = nullptr;
  context.scheduler.look(
      [&](const live::loop::SchedulerSnapshot& snapshot) { site = &snapshot.site; });
  router.add("POST", "/v1/forecast", Access::Known, {},
             [&context, site, is_busy = std::make_shared<std::atomic<bool>>(false)](
                 const Call& call) { return forecast(call, context, *site, *is_busy); });
}

}  // namespace goban::serve::api
