#include "serve/api/explain.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/date_time.hpp"
#include "core/scheduler/explain.hpp"
#include "serve/api/job_view.hpp"

namespace goban::serve::api {

using core::scheduler::WaitCause;
using live::controller::JobStage;
using live::controller::LiveJob;
using nlohmann::json;

namespace {
struct CauseWords {
  const char* name;
  const char* text;
};

CauseWords words_of(WaitCause cause) {
  switch (cause) {
    case WaitCause::NotWaiting:
      return {"not_waiting", "it is not in the queue"};
    case WaitCause::ArrayLimit:
      return {"array_limit", "the maximum number of tasks of its array is running"};
    case WaitCause::AccountLimit:
      return {"account_limit", "its account or user has reached a hard limit"};
    case WaitCause::NoFreeGpus:
      return {"no_free_gpus", "fewer GPUs are free than the job requests"};
    case WaitCause::Window:
      return {"window", "it would run into the planned drain of a node"};
    case WaitCause::Fragments:
      return {"fragments", "enough GPUs are free, but it cannot use them together"};
    case WaitCause::HostResources:
      return {"host_resources",
              "enough GPUs are free, but not enough cores or memory on their nodes"};
    case WaitCause::Reservation:
      return {"reservation", "it would fit, but would delay the job before it"};
    case WaitCause::Round:
      return {"round", "the next decision is due at the end of this round"};
    case WaitCause::Order:
      return {"order", "it would fit, but must not overtake the job before it"};
    case WaitCause::NotBegun:
      return {"reservation_begins", "its reservation has not started yet"};
    case WaitCause::Promised:
      return {"promised_nodes", "it would run into a reservation of other users"};
  }
  return {"unknown", "the reason is unknown"};
}

void explain_dependencies(const SchedulerSnapshot& snapshot, const LiveJob& job, json& out) {
  std::string words;
  json open = json::array();
  for (const live::job::Dependency& each : job.spec.dependencies) {
    const LiveJob* const other = snapshot.book.find(each.job);
    json entry = {{"kind", live::job::dependency_name(each.kind)},
                  {"job", live::job::job_number(each.job)}};
    if (other != nullptr) entry["state"] = stage_name(other->stage);
    words += fmt::format("{}{} {}", words.empty() ? "" : ", ",
                         live::job::dependency_name(each.kind), live::job::job_number(each.job));
    open.push_back(std::move(entry));
  }
  out["dependencies"] = std::move(open);
  out["text"] = "it depends on other jobs: " + words;
}

void explain_waiting(const SchedulerSnapshot& snapshot, const LiveJob& job, json& out) {
  if (snapshot.core == nullptr || !snapshot.core->state().is_active(job.job)) {
    out["text"] = "it waits for the next decision";
    return;
  }
  constexpr size_t kBeforeMax = 20;
  const core::scheduler::WaitReason reason =
      core::scheduler::why_waiting(*snapshot.core, job.job, snapshot.now_ns, snapshot.site.seed);
  const CauseWords words = words_of(reason.cause);
  size_t count = 0;
  json before = json::array();
  for (const core::model::JobId each : waiting_before(*snapshot.core, job.job, kBeforeMax, count)) {
    before.push_back(live::job::job_number(each));
  }
  json waiting = {{"cause", words.name},
                  {"free_gpus", reason.free_gpus},
                  {"before", count},
                  {"first_before", std::move(before)}};
  std::string text = words.text;
  if (reason.is_behind && reason.head.valid()) {
    waiting["head"] = live::job::job_number(reason.head);
    text += fmt::format("; job {} is first in the queue", live::job::job_number(reason.head));
  }
  if (reason.reservation.valid()) {
    const std::string name = live::controller::reservation_name(reason.reservation);
    waiting["reservation"] = name;
    waiting["reservation_start_s"] = base::to_seconds(reason.reservation_ns);
    text += fmt::format("; reservation {} {} at {} UTC", name,
                        reason.reservation_ns > snapshot.now_ns ? "begins" : "began",
                        base::date_time_text(reason.reservation_ns));
  }
  if (reason.head_start_ns != base::kNever && reason.head_start_ns > 0) {
    waiting["head_start_s"] = base::to_seconds(reason.head_start_ns);
  }
  out["waiting"] = std::move(waiting);
  out["text"] = text;
}

void explain_place(const SchedulerSnapshot& snapshot, const LiveJob& job, json& out) {
  const core::model::Cluster& cluster = snapshot.site.cluster;
  // The level is computed from the GPUs: not every placement records one in its reason.
  const std::string& level = cluster.levels()[cluster.span_level(job.gpus)].name;
  json place = {{"gpus", gpu_list(job.gpus, cluster)},
                {"level", level},
                {"bin_value", job.why.bin_value},
                {"product", job.why.product},
                {"shares", job.shares}};
  if (job.why.prediction > 0) place["prediction"] = job.why.prediction;
  out["place"] = std::move(place);
  out["text"] = fmt::format(
      "its GPUs are within one {}; their PM score is at most {:.3g}, and with the locality penalty "
      "it runs at most {:.3g} times as long as on the median GPU{}",
      level, job.why.bin_value, job.why.product, job.shares ? "; other jobs share its GPUs" : "");
}
}  // namespace

json explain_job(const SchedulerSnapshot& snapshot, const LiveJob& job) {
  json out = {{"job", live::job::job_number(job.job)}, {"state", stage_name(job.stage)}};
  switch (job.stage) {
    case JobStage::Held:
      out["text"] = "it is held until it is released";
      break;
    case JobStage::Depends:
      explain_dependencies(snapshot, job, out);
      break;
    case JobStage::Waiting:
      explain_waiting(snapshot, job, out);
      break;
    case JobStage::Starting:
    case JobStage::Running:
    case JobStage::Stopping:
      explain_place(snapshot, job, out);
      break;
    case JobStage::Done:
      out["text"] = job.detail.empty() ? fmt::format("it has finished: {}", result_name(job.result))
                                       : fmt::format("it has finished: {}", job.detail);
      break;
  }
  return out;
}

}  // namespace goban::serve::api
