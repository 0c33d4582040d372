#include "serve/api/forecast_view.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/date_time.hpp"
#include "base/units.hpp"

namespace goban::serve::api {

using base::TimeNs;
using core::model::StartInterval;
using live::controller::LiveJob;
using nlohmann::json;

namespace {

std::string span_text(TimeNs time_ns) { return base::human_seconds(base::to_seconds(time_ns)); }

std::string run_words(const live::job::PredictedRun& predicted) {
  return fmt::format("it is predicted to run for {} ({} to {} in four of five cases), from {}",
                     span_text(predicted.run.p50_ns), span_text(predicted.run.p10_ns),
                     span_text(predicted.run.p90_ns), text_of(predicted.basis));
}

/// How many starts must be known to say how often intervals held.
constexpr int64_t kKnownEnough = 20;

/// How often intervals held so far, since the daemon started; empty while too few are known.
std::string held_words(const StartTable& table) {
  if (table.known < kKnownEnough) return {};
  return fmt::format("; of {} starts since the daemon started {:.0f} % were in their interval",
                     table.known,
                     100 * static_cast<double>(table.inside) / static_cast<double>(table.known));
}

std::string start_words(const StartInterval& start) {
  if (start.p50_ns == base::kNever) return "its start is too far ahead to be forecast";
  const std::string latest = start.p90_ns == base::kNever
                                 ? std::string("later than was looked ahead")
                                 : base::date_time_text(start.p90_ns);
  return fmt::format("it is expected to start at {} UTC ({} to {} in four of five cases)",
                     base::date_time_text(start.p50_ns), base::date_time_text(start.p10_ns),
                     latest);
}

}  // namespace

json predicted_json(const live::job::PredictedRun& predicted) {
  json out = {{"from", name_of(predicted.basis)}, {"text", text_of(predicted.basis)}};
  if (!predicted.run.known()) return out;
  out["p10_s"] = base::to_seconds(predicted.run.p10_ns);
  out["p50_s"] = base::to_seconds(predicted.run.p50_ns);
  out["p90_s"] = base::to_seconds(predicted.run.p90_ns);
  return out;
}

json start_json(const StartInterval& start) {
  json out;
  const auto put = [&out](const char* name, TimeNs at_ns) {
    if (at_ns != base::kNever) out[name] = base::to_seconds(at_ns);
  };
  put("p10_s", start.p10_ns);
  put("p50_s", start.p50_ns);
  put("p90_s", start.p90_ns);
  return out;
}

std::optional<StartInterval> start_of(const StartTimes* starts, const LiveJob& job) {
  if (starts == nullptr || job.stage != live::controller::JobStage::Waiting) return {};
  const auto table = starts->latest();
  const auto found = table->starts.find(job.job);
  if (found == table->starts.end()) return {};
  return found->second;
}

void put_forecasts(json& out, const LiveJob& job, const StartTimes* starts) {
  if (job.predicted != live::job::PredictedRun{}) {
    out["predicted_run"] = predicted_json(job.predicted);
  }
  if (job.expected.known()) {
    out["expected_run"] = {{"p10_s", base::to_seconds(job.expected.p10_ns)},
                           {"p50_s", base::to_seconds(job.expected.p50_ns)},
                           {"p90_s", base::to_seconds(job.expected.p90_ns)}};
  }
  if (const auto start = start_of(starts, job)) {
    json shown = start_json(*start);
    if (shown.empty()) return;
    const auto table = starts->latest();
    shown["known"] = table->known;
    shown["inside"] = table->inside;
    out["start"] = std::move(shown);
  }
}

std::string forecast_words(const LiveJob& job, const StartTimes* starts) {
  std::string out;
  if (const auto start = start_of(starts, job)) {
    out += "; " + start_words(*start) + held_words(*starts->latest());
  }
  const bool is_over = job.stage == live::controller::JobStage::Done;
  if (job.predicted.run.known() && !is_over) out += "; " + run_words(job.predicted);
  if (job.expected.known() && !is_over) {
    out += fmt::format("; by the progress that it reports it runs for about {} in all ({} to {})",
                       span_text(job.expected.p50_ns), span_text(job.expected.p10_ns),
                       span_text(job.expected.p90_ns));
  }
  return out;
}

}  // namespace goban::serve::api
