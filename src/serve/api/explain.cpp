#include "serve/api/explain.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/date_time.hpp"
#include "core/scheduler/explain.hpp"
#include "live/controller/staging.hpp"
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
              "enough GPUs are free, but not together on the nodes that it needs, or not with "
              "enough cores or memory"};
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
    case WaitCause::Sized:
      return {"sizes", "the policy of sizes has no GPUs for it now"};
  }
  return {"unknown", "the reason is unknown"};
}

constexpr const char* kHeld = "it is held until it is released";

void explain_dependencies(const live::loop::SchedulerSnapshot& snapshot, const LiveJob& job,
                          json& out) {
  std::string words;
  if (!job.blocked.empty() || !job.misfit.empty()) {
    out["text"] = job.blocked.empty() ? job.misfit : job.blocked;
    return;
  }
  if (std::string data = live::controller::data_words(job, snapshot.book); !data.empty()) {
    out["text"] = job.spec.held ? std::string(kHeld) + "; " + data : std::move(data);
    return;
  }
  json open = json::array();
  const auto join = [](std::string text, std::string_view more) {
    if (!text.empty() && !more.empty()) text += "; ";
    return text.append(more);
  };
  for (const live::job::Dependency& each : job.spec.dependencies) {
    json entry = {{"kind", live::job::dependency_name(each.kind)}};
    if (each.kind == live::job::DependencyKind::Singleton) {
      words += fmt::format("{}other jobs of its name and user", words.empty() ? "" : ", ");
      open.push_back(std::move(entry));
      continue;
    }
    const LiveJob* const other = snapshot.book.find(each.job);
    entry["job"] = live::job::job_number(each.job);
    if (other != nullptr) entry["state"] = stage_name(shown_stage(*other));
    const bool copies = other != nullptr && other->stage == JobStage::Done && !is_settled(*other);
    if (copies) entry["staging_out"] = true;
    words += fmt::format("{}{} {}", words.empty() ? "" : ", ",
                         live::job::dependency_name(each.kind), live::job::job_number(each.job));
    if (copies) words += " (its results are being copied)";
    open.push_back(std::move(entry));
  }
  if (!words.empty()) words = "it depends on other jobs: " + words;
  if (job.spec.held) words = join(kHeld, words);
  if (snapshot.now_ns < job.spec.begin_ns) {
    out["begin_s"] = base::to_seconds(job.spec.begin_ns);
    words = join(std::move(words), fmt::format("it begins at {} UTC at the earliest",
                                               base::date_time_text(job.spec.begin_ns)));
  }
  out["dependencies"] = std::move(open);
  out["text"] = words;
}

void explain_waiting(const live::loop::SchedulerSnapshot& snapshot, const LiveJob& job, json& out) {
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
  const auto& pilot = snapshot.book.pilot;
  if (reason.reservation.valid() && pilot && pilot->part == reason.reservation) {
    text = "the GPUs that it could use are on nodes of the pilot, which are for other users now";
  } else if (reason.reservation.valid()) {
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
  if (snapshot.holds != nullptr && !snapshot.holds->empty()) {
    const auto& [node, hold] = *snapshot.holds->begin();
    waiting["launches_held"] = hold.reason;
    text = fmt::format("launches on {} are held and tried again soon: {}",
                       snapshot.site.cluster.node(node).name, hold.reason);
  }
  out["waiting"] = std::move(waiting);
  out["text"] = text;
}

void explain_place(const live::loop::SchedulerSnapshot& snapshot, const LiveJob& job, json& out) {
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
/// Who decides about the job, while a pilot runs.
void add_pilot(const live::loop::SchedulerSnapshot& snapshot, const LiveJob& job, json& out) {
  if (!snapshot.book.pilot || !snapshot.book.pilot->runs() || !job.managed) return;
  const live::controller::LivePilot& pilot = *snapshot.book.pilot;
  if (job.stage == JobStage::Done || job.reservation != pilot.part) return;
  const base::TimeNs until_ns = pilot.started_ns + (pilot.period + 1) * pilot.plan.period_ns;
  json shown = {{"policy", pilot.policy()},
                {"period", pilot.period},
                {"period_until_s", base::to_seconds(until_ns)}};
  std::string where;
  if (pilot.plan.is_limited()) {
    shown["nodes"] = pilot.plan.nodes;
    where = pilot.plan.nodes.size() == 1
                ? fmt::format(" on node {} alone", pilot.plan.nodes.front())
                : fmt::format(" on its {} nodes alone", pilot.plan.nodes.size());
  }
  out["pilot"] = std::move(shown);
  out["text"] = fmt::format("{}; it is part of the pilot, in which {} decides{} until {} UTC",
                            out.value("text", std::string()), pilot.policy(), where,
                            base::date_time_text(until_ns));
}
}  // namespace

json explain_job(const live::loop::SchedulerSnapshot& snapshot, const LiveJob& job) {
  json out = {{"job", live::job::job_number(job.job)}, {"state", stage_name(shown_stage(job))}};
  if (!job.managed && job.stage != JobStage::Done) {
    std::string text = "it is in the cluster's own queue and is not scheduled by goban";
    if (!job.blocked.empty()) text += ": " + job.blocked;
    out["text"] = std::move(text);
    return out;
  }
  switch (job.stage) {
    case JobStage::Held:
      out["text"] = kHeld;
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
    case JobStage::Suspended:
      explain_place(snapshot, job, out);
      break;
    case JobStage::Done:
      out["text"] =
          fmt::format("{}{}{}", end_words(job), job.detail.empty() ? "" : ": ", job.detail);
      if (const std::string results = live::controller::result_words(job); !results.empty()) {
        out["text"] = out["text"].get<std::string>() + "; " + results;
      }
      break;
  }
  add_pilot(snapshot, job, out);
  return out;
}

}  // namespace goban::serve::api
