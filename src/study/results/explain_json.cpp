#include <nlohmann/json.hpp>

#include "study/results/explain_text.hpp"
#include "study/results/explain_words.hpp"

namespace goban::study::results {
namespace {

using nlohmann::ordered_json;

ordered_json names(const core::model::JobHistory& history,
                   const std::vector<core::model::JobId>& jobs) {
  ordered_json out = ordered_json::array();
  for (const core::model::JobId job : jobs) out.push_back(job_name(history, job));
  return out;
}

ordered_json seconds(base::TimeNs time_ns) {
  return time_ns == base::kNever ? ordered_json(nullptr) : ordered_json(base::to_seconds(time_ns));
}

ordered_json wait_json(const core::model::JobHistory& history, const simulator::WaitSpan& span) {
  ordered_json out = {{"from_s", seconds(span.from_ns)},
                      {"to_s", seconds(span.to_ns)},
                      {"cause", cause_key(span.why.cause)},
                      {"free_gpus_min", span.free_min},
                      {"free_gpus_max", span.free_max},
                      {"jobs_before", span.ahead},
                      {"first_jobs_before", names(history, span.first_ahead)}};
  out["blocking_job"] = nullptr;
  out["blocking_job_starts_by_s"] = nullptr;
  if (span.why.is_behind) {
    out["blocking_job"] = job_name(history, span.why.head);
    out["blocking_job_starts_by_s"] = seconds(span.why.head_start_ns);
  }
  return out;
}

ordered_json launch_json(const ExplainContext& context, const simulator::Launch& launch) {
  const auto level = [&](size_t index) { return context.cluster->levels()[index].name; };
  ordered_json gpus = ordered_json::array();
  for (const core::model::GpuId gpu : launch.allocation.gpus) gpus.push_back(gpu.value);
  ordered_json out = {{"at_s", seconds(launch.at_ns)},
                      {"gpus", std::move(gpus)},
                      {"same_gpus", launch.same_gpus},
                      {"spans", level(launch.span_level)},
                      {"score", launch.score},
                      {"penalty", launch.penalty},
                      {"slowdown", launch.score * launch.penalty},
                      {"free_gpus", launch.free_gpus},
                      {"free_gpus_one_node", launch.one_node_free},
                      {"placed_before", names(*context.history, launch.before)},
                      {"placed_after", names(*context.history, launch.after)}};
  const core::policy::PalEntry* chosen = chosen_entry(launch);
  ordered_json entries = ordered_json::array();
  for (const core::policy::PalEntry& entry : launch.entries) {
    entries.push_back({{"level", level(entry.level)},
                       {"bin", entry.bin_value},
                       {"penalty", entry.penalty},
                       {"product", entry.product},
                       {"free_gpus", entry.free_gpus},
                       {"chosen", &entry == chosen}});
  }
  out["entries"] = std::move(entries);
  return out;
}

}  // namespace

std::string explain_json(const ExplainContext& context, const simulator::JobStory& story) {
  const core::model::JobHistory& history = *context.history;
  const core::model::JobRequest& request = history.jobs[context.job.index()].request;
  ordered_json out = {{"job", job_name(history, context.job)},
                      {"policy", context.composition->name},
                      {"num_gpus", request.num_gpus},
                      {"class", std::string(1, request.app_class.letter())},
                      {"submit_s", seconds(request.submit_ns)}};
  out["first_in_line_s"] =
      story.first_in_line_ns ? seconds(*story.first_in_line_ns) : ordered_json(nullptr);
  out["waits"] = ordered_json::array();
  for (const simulator::WaitSpan& span : story.waits)
    out["waits"].push_back(wait_json(history, span));
  out["launches"] = ordered_json::array();
  for (const simulator::Launch& launch : story.launches) {
    out["launches"].push_back(launch_json(context, launch));
  }
  out["stops"] = ordered_json::array();
  for (const simulator::Stop& stop : story.stops) {
    out["stops"].push_back({{"at_s", seconds(stop.at_ns)},
                            {"node_failed", stop.node_failed},
                            {"taken_by", names(history, stop.takers)}});
    if (stop.resized) out["stops"].back()["resized"] = true;
  }
  out["finish_s"] = story.finish_ns < 0 ? ordered_json(nullptr) : seconds(story.finish_ns);
  out["timed_out"] = story.end == simulator::JobEnd::TimedOut;
  return out.dump(1, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace goban::study::results
