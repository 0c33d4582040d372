// GET /v1/jobs: list, show.
#include <algorithm>
#include <fmt/format.h>
#include <functional>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <tuple>
#include <utility>

#include "base/http/reply.hpp"
#include "base/number.hpp"
#include "base/ranges_text.hpp"
#include "base/reports/run_reports_json.hpp"
#include "serve/api/api.hpp"
#include "serve/api/forecast_view.hpp"
#include "serve/api/job_list.hpp"
#include "serve/api/job_requests.hpp"
#include "serve/api/job_view.hpp"

namespace goban::serve::api {

using live::controller::LiveJob;
using nlohmann::json;

namespace {
constexpr int64_t kPageDefault = 1000;
constexpr int64_t kPageMax = 10'000;

/// Which jobs a list contains.
struct Filter {
  std::vector<live::controller::JobStage> stages{};  ///< empty: all
  std::string user{};                                ///< empty: all users
  std::vector<std::string> names{};                  ///< empty: all; see JobListing::named()
  int64_t limit = kPageDefault;
  int64_t after = 0;           ///< job number
  bool running_first = false;  ///< jobs that hold GPUs come before the others
  bool joins_tasks = false;    ///< waiting tasks of an array that look alike share an entry

  [[nodiscard]] bool takes(const ListedJob& job) const {
    return (user.empty() || live::job::full_name(job.owner) == user) &&
           (stages.empty() ||
            std::find(stages.begin(), stages.end(), job.state.stage) != stages.end());
  }
};

base::Status read_stages(std::string_view text, std::vector<live::controller::JobStage>& out) {
  bool known = true;
  each_part(text, [&](std::string_view part) {
    const auto stage = find_stage(part);
    known = known && stage.has_value();
    if (stage) out.push_back(*stage);
  });
  if (known) return {};
  return base::bad_data({.file = {}, .line = 0, .column = 0, .field = "state"}, "unknown state",
                        "held, depends, waiting, starting, running, suspended, stopping or done");
}

base::Result<Filter> filter_of(const Call& call) {
  Filter filter;
  const auto wrong = [](const char* field, const char* what) {
    return base::bad_data({.file = {}, .line = 0, .column = 0, .field = field}, what);
  };
  if (const base::Status read = read_stages(call.query("state"), filter.stages); !read) {
    return base::failure(read.error());
  }
  const std::string_view all = call.query("all");
  if (!all.empty() && all != "1" && all != "0") return wrong("all", "must be 0 or 1");
  for (const char* name : {"from_s", "to_s"}) {
    if (!call.query(name).empty()) return wrong(name, "requires past=1");
  }
  filter.user = call.query("user");
  if (filter.user.empty() && all != "1") filter.user = live::job::full_name(call.who.owner);
  each_part(call.query("job"), [&](std::string_view name) { filter.names.emplace_back(name); });
  const std::string_view first = call.query("first");
  if (!first.empty() && first != "running") return wrong("first", "must be running");
  filter.running_first = !first.empty();
  const std::string_view tasks = call.query("tasks");
  if (!tasks.empty() && tasks != "joined") return wrong("tasks", "must be joined");
  filter.joins_tasks = !tasks.empty();
  const auto number = [&](const char* name, int64_t least, int64_t most, int64_t& out) {
    const std::string_view text = call.query(name);
    if (text.empty()) return true;
    const auto value = base::parse_int(text);
    if (!value || *value < least || *value > most) return false;
    out = *value;
    return true;
  };
  if (!number("limit", 1, kPageMax, filter.limit))
    return wrong("limit", "must be an integer from 1 to 10000");
  if (!number("after", 0, UINT32_MAX, filter.after))
    return wrong("after", "is not a valid job number");
  return filter;
}

/// Indexes of the jobs that the filter takes, ascending.
std::vector<size_t> filtered(const JobListing& listing, const Filter& filter) {
  std::vector<size_t> out;
  if (filter.names.empty()) {
    for (size_t i = 0; i < listing.jobs.size(); ++i) {
      if (filter.takes(*listing.jobs[i])) out.push_back(i);
    }
    return out;
  }
  for (const std::string& name : filter.names) {
    for (const size_t i : listing.named(name)) {
      if (filter.takes(*listing.jobs[i])) out.push_back(i);
    }
  }
  std::sort(out.begin(), out.end());
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

/// An entry of a list: a job, or several tasks of an array, which the first in the queue shows.
struct Entry {
  size_t job = 0;  ///< index into the listing
  std::vector<int32_t> tasks{};
  int64_t num_gpus = 0;  ///< of all of them
};

/// `found`: the jobs to be listed, in this order.
std::vector<Entry> entries_of(const JobListing& listing, const std::vector<size_t>& found,
                              bool joins_tasks) {
  using Alike = std::tuple<core::model::JobId, live::controller::JobStage, std::string_view>;
  std::vector<Entry> out;
  std::map<Alike, size_t> places;
  const auto place_in_queue = [&](size_t job) {
    const int64_t position = listing.positions[job];
    return position > 0 ? position : std::numeric_limits<int64_t>::max();
  };
  for (const size_t i : found) {
    const ListedJob& job = *listing.jobs[i];
    const bool waits = !job.holds_gpus() && job.state.stage != live::controller::JobStage::Done;
    if (joins_tasks && waits && job.array_first.valid()) {
      const Alike alike(job.array_first, job.state.stage, job.state.blocked);
      const auto [place, is_new] = places.emplace(alike, out.size());
      if (!is_new) {
        Entry& entry = out[place->second];
        if (place_in_queue(i) < place_in_queue(entry.job)) entry.job = i;
        entry.tasks.push_back(job.array_task);
        entry.num_gpus += job.state.num_gpus;
        continue;
      }
    }
    out.push_back({.job = i, .tasks = {job.array_task}, .num_gpus = job.state.num_gpus});
  }
  return out;
}

/// `,"start":{...}` of a job that waits; empty if there is no forecast.
std::string start_part(const StartTable& starts, const ListedJob& job) {
  const auto found = starts.starts.find(job.job);
  const bool waits = job.state.stage == live::controller::JobStage::Waiting;
  if (!waits || found == starts.starts.end()) return {};
  const json shown = start_json(found->second);
  return shown.empty() ? std::string{} : R"(,"start":)" + shown.dump();
}

base::http::Response list_jobs(const Call& call, const ApiContext& context, JobList& list) {
  const base::Result<Filter> filter = filter_of(call);
  if (!filter) return base::http::refusal(base::http::kBadRequest, filter.error());
  const std::shared_ptr<const JobListing> listing = list.latest();
  std::vector<size_t> found = filtered(*listing, *filter);
  std::map<std::string_view, int64_t> states;
  int64_t held_gpus = 0;
  for (const size_t i : found) {
    const ListedJob& job = *listing->jobs[i];
    ++states[stage_name(job.state.stage)];
    if (job.holds_gpus()) held_gpus += job.state.num_gpus;
  }
  const size_t total = found.size();
  std::erase_if(found, [&](size_t i) {
    return live::job::job_number(listing->jobs[i]->job) <= static_cast<uint64_t>(filter->after);
  });
  if (filter->running_first) {
    std::stable_partition(found.begin(), found.end(),
                          [&](size_t i) { return listing->jobs[i]->holds_gpus(); });
  }
  std::vector<Entry> entries = entries_of(*listing, found, filter->joins_tasks);
  if (entries.size() > static_cast<size_t>(filter->limit)) {
    entries.resize(static_cast<size_t>(filter->limit));
  }
  base::http::Response response{.body = R"({"jobs":[)"};
  const auto starts = context.parts.starts == nullptr ? nullptr : context.parts.starts->latest();
  for (Entry& entry : entries) {
    const ListedJob& job = *listing->jobs[entry.job];
    if (response.body.back() != '[') response.body += ',';
    response.body += job.summary;
    if (!job.name.empty() && call.who.may_see(job.owner, job.account)) {
      response.body += R"(,"name":)" + job.name;
    }
    const int64_t position = listing->positions[entry.job];
    if (position > 0) response.body += fmt::format(R"(,"position":{})", position);
    if (starts != nullptr) response.body += start_part(*starts, job);
    if (entry.tasks.size() > 1) {
      const size_t count = entry.tasks.size();
      response.body +=
          fmt::format(R"(,"tasks":"{}","num_tasks":{},"tasks_gpus":{})",
                      base::ranges_text(std::move(entry.tasks)), count, entry.num_gpus);
    }
    response.body += '}';
  }
  response.body += fmt::format(R"(],"total":{},"held_gpus":{},"states":{}}})", total, held_gpus,
                               json(states).dump());
  return response;
}

base::http::Response show_job(const Call& call, const ApiContext& context) {
  LiveJob job;
  bool found = false;
  const core::model::Cluster* cluster = nullptr;
  context.scheduler.look([&](const live::loop::SchedulerSnapshot& snapshot) {
    cluster = &snapshot.site.cluster;
    const LiveJob* const named = find_job(snapshot.book, call.names[0]);
    if (named == nullptr) return;
    found = true;
    job = *named;
  });
  if (!found) {
    auto past = find_past_job(context, call.names[0]);
    if (!past) return base::http::refusal(base::http::kUnavailable, past.error());
    if (!*past) {
      return base::http::refusal(base::http::kNotFound, unknown_job_error(call.names[0]));
    }
    job = std::move(**past);
  }
  if (!call.who.may_see(job.spec.owner, job.spec.account)) {
    return base::http::refusal(base::http::kForbidden, "the job belongs to another user",
                               "the job list shows its public fields");
  }
  json details = job_details(job, *cluster);
  put_forecasts(details, job, context.parts.starts);
  if (!found) details["history"] = true;
  // Not every caller who may see a job may attach to its terminal: only its owner and root may.
  const live::job::OwnerKey key = live::job::key_of(call.who.owner);
  const bool is_theirs = key == live::job::key_of(job.spec.owner) || key == live::job::OwnerKey{};
  const bool may_attach = call.who.may_submit() && is_theirs;
  if (job.spec.interactive && job.stage == live::controller::JobStage::Running && may_attach &&
      context.parts.engine != nullptr) {
    const std::string socket =
        context.parts.engine->terminal_socket({.job = job.job, .run = job.runs});
    if (!socket.empty()) details["terminal"] = socket;
  }
  const bool runs = holds_gpus(job.stage) && job.stage != live::controller::JobStage::Starting;
  if (runs && context.parts.engine != nullptr) {
    const auto ranks = context.parts.engine->rank_times({.job = job.job, .run = job.runs});
    if (!ranks.empty()) details["ranks"] = to_json(ranks);
  }
  if (context.parts.profiles != nullptr) {
    const std::string profile = context.parts.profiles->find(job);
    if (!profile.empty()) details["profile"] = json::parse(profile, nullptr, false);
  }
  return base::http::reply(details);
}

}  // namespace

void add_job_routes(Router& router, const ApiContext& context) {
  router.add(
      "GET", "/v1/jobs", Access::Known,
      {"state", "user", "all", "job", "first", "tasks", "limit", "after", "past", "from_s", "to_s"},
      [&context, list = std::make_shared<JobList>(context.scheduler)](const Call& call) {
        const std::string_view past = call.query("past");
        if (past == "1") return list_past_jobs(call, context);
        if (!past.empty() && past != "0") {
          return base::http::refusal(
              base::http::kBadRequest,
              base::bad_data({.file = {}, .line = 0, .column = 0, .field = "past"},
                             "must be 0 or 1")
                  .value());
        }
        return list_jobs(call, context, *list);
      });
  router.add("GET", "/v1/jobs/{}", Access::Known, {},
             [&context](const Call& call) { return show_job(call, context); });
}

}  // namespace goban::serve::api
