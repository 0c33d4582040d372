#include "live/controller/staging.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/units.hpp"
#include "live/job/stage_paths.hpp"

namespace goban::live::controller {

using core::staging::DataItem;
using core::staging::FastTier;
using nlohmann::json;
using Stage = JobStaging::Stage;

namespace {

/// Longer waits differ by nothing that anybody notices.
constexpr uint32_t kDoublingsMax = 20;

int64_t capacity_of(const StagingRules& rules) { return rules.fast ? rules.fast->size_bytes : 0; }

bool is_staging_in(Stage stage) {
  return stage == Stage::Measuring || stage == Stage::NeedsRoom || stage == Stage::Copying;
}

std::string source_of(const LiveJob& job, const std::string& path) {
  return job::stage_path(path, job.spec.work_folder, job.job, job.spec);
}

/// Jobs of equal sources are measured once.
using Sources = std::pair<job::OwnerKey, std::vector<std::string>>;

Sources sources_of(const LiveJob& job) {
  Sources out{job::key_of(job.spec.owner), {}};
  for (const std::string& path : job.spec.stage_in) out.second.push_back(source_of(job, path));
  return out;
}

}  // namespace

Staging::Staging(JobBook& book, StagingRules rules, std::vector<Order>& orders)
    : book_(book), rules_(std::move(rules)), orders_(orders), tier_(capacity_of(rules_)) {}

const job::Owner* Staging::actor_of(const LiveJob& job) const {
  if (job.spec.owner.realm.empty()) return &job.spec.owner;
  return rules_.others ? &*rules_.others : nullptr;
}

std::string Staging::folder_of(const job::Owner& actor) const {
  return fmt::format("{}/{}", rules_.fast ? rules_.fast->path : "", actor.uid);
}

std::string Staging::job_folder_of(const LiveJob& job) const {
  const job::Owner* actor = actor_of(job);
  if (actor == nullptr || !rules_.fast) return {};
  // The number alone may have been that of another job, before the state folder was renewed.
  // Jobs of the engine's own queue are known to their scripts by its number. The number alone may
  // have been that of another job, before the state folder was renewed.
  std::string name = job.engine_id;
  std::ranges::replace(name, '/', '_');
  if (name.empty()) {
    name = fmt::format("{}-{}", job::job_number(job.job), job.submit_ns / base::kSecond);
  }
  return fmt::format("{}/jobs/{}", folder_of(*actor), name);
}

bool Staging::prepare(LiveJob& job, TimeNs at) {
  if (!stages(job.spec)) {
    if (job.staging.stage != Stage::None) ended(job, at);
    return true;
  }
  if (job.staging.stage == Stage::Ready && job.staging.sources == job.spec.stage_in) return true;
  if (job.staging.stage != Stage::None && job.staging.sources == job.spec.stage_in) return false;
  begin(job, at);
  return false;
}

void Staging::begin(LiveJob& job, TimeNs at) {
  if (job.staging.is_ordered) {
    StageOrder order = order_of(job);
    order.withdrawn = true;
    orders_.emplace_back(std::move(order));
  }
  release(job, at);
  job.staging = {.stage = job.spec.stage_in.empty() ? Stage::NeedsRoom : Stage::Measuring,
                 .sources = job.spec.stage_in,
                 .begun_ns = at};
  active_.insert(job.job);
  proceed(at, late_);
}

void Staging::release(LiveJob& job, TimeNs at) {
  if (!std::exchange(job.staging.keeps, false)) return;
  std::set<std::string> keys;
  for (const DataItem& item : job.staging.items) keys.insert(item.key);
  for (const std::string& key : keys) tier_.release(key, at);
}

void Staging::ended(LiveJob& job, TimeNs at) {
  JobStaging& staging = job.staging;
  if (staging.stage == Stage::None) return;
  if (is_staging_in(staging.stage) && staging.is_ordered) {
    StageOrder order = order_of(job);
    order.withdrawn = true;
    orders_.emplace_back(std::move(order));
  }
  release(job, at);
  active_.erase(job.job);
  const bool has_results = staging.stage == Stage::Ready && job.first_start_ns >= 0 &&
                           !job.spec.stage_out.empty() &&
                           (job.result == JobResult::Completed || job.spec.stage_out_always);
  staging.is_ordered = false;
  staging.failures = 0;
  staging.retry_ns = -1;
  if (has_results) {
    staging.stage = Stage::Out;
    staging.problem.clear();
    staging.done_bytes = staging.all_bytes = 0;
    active_.insert(job.job);
  } else if (is_staging_in(staging.stage)) {
    staging.stage = Stage::None;
  } else if (staging.stage == Stage::Ready) {
    staging.stage = Stage::OutDone;
    clean_up(job);
  }
  proceed(at, late_);
}

void Staging::clean_up(const LiveJob& job) {
  StageOrder order = order_of(job);
  order.task = StageTask::Out;
  order.paths.clear();
  orders_.emplace_back(std::move(order));
}

void Staging::proceed(TimeNs at, Outcome& out) {
  measure_all(at);
  admit_all(at, out);
  copy_all(at);
}

void Staging::measure_all(TimeNs at) {
  std::set<Sources> asked;
  for (const bool ordered : {true, false}) {
    for (const JobId id : active_) {
      LiveJob& job = book_.jobs.at(id);
      JobStaging& staging = job.staging;
      if (staging.stage != Stage::Measuring || staging.is_ordered != ordered) continue;
      if (!ordered && !is_due(staging, at)) continue;
      if (!asked.insert(sources_of(job)).second || ordered) continue;
      const bool has_relative = std::ranges::any_of(
          job.spec.stage_in, [](const std::string& path) { return !path.starts_with('/'); });
      if (!rules_.fast) {
        staging.problem = "this site has no fast storage tier";
      } else if (actor_of(job) == nullptr) {
        staging.problem = "its user is unknown on this machine, and no other is set for such jobs";
      } else if (has_relative && job.spec.work_folder.empty()) {
        staging.problem = "a relative path to stage needs a work folder; write an absolute one";
      } else {
        give(job);
      }
    }
  }
}

void Staging::admit_all(TimeNs at, Outcome& out) {
  std::vector<LiveJob*> waiting;
  for (const JobId id : active_) {
    LiveJob& job = book_.jobs.at(id);
    if (job.staging.stage == Stage::NeedsRoom) waiting.push_back(&job);
  }
  std::ranges::stable_sort(waiting, [](const LiveJob* one, const LiveJob* other) {
    return one->spec.priority > other->spec.priority;
  });
  bool is_full = false;
  for (LiveJob* job : waiting) {
    if (!rules_.fast || actor_of(*job) == nullptr) continue;
    JobStaging& staging = job->staging;
    // While one waits for room, others only use what is there.
    const bool adds = std::ranges::any_of(
        staging.items, [&](const DataItem& item) { return !tier_.entries().contains(item.key); });
    if (is_full && adds) continue;
    const FastTier::Verdict verdict = tier_.admit(staging.items, at);
    if (verdict.admission == FastTier::Admission::Waits) {
      is_full = true;
      continue;
    }
    if (verdict.admission == FastTier::Admission::TooLarge) {
      fail(*job,
           fmt::format("it is {}, and the fast tier {} holds {}",
                       base::bytes_text(staging.all_bytes), rules_.fast->name,
                       base::bytes_text(tier_.capacity_bytes())),
           true, at, out);
      continue;
    }
    staging.keeps = true;
    staging.stage = Stage::Copying;
    for (const DataItem& item : staging.items) actors_.try_emplace(item.key, *actor_of(*job));
    for (const std::string& key : verdict.leaving) orders_.emplace_back(removal_of(key));
  }
}

void Staging::copy_all(TimeNs at) {
  // What one process copies, the others will find there.
  std::set<std::string> copied;
  for (const JobId id : active_) {
    const JobStaging& staging = book_.jobs.at(id).staging;
    if (staging.stage != Stage::Copying || !staging.is_ordered) continue;
    for (const DataItem& item : staging.items) copied.insert(item.key);
  }
  for (const JobId id : active_) {
    LiveJob& job = book_.jobs.at(id);
    JobStaging& staging = job.staging;
    if (staging.is_ordered || !is_due(staging, at)) continue;
    const bool is_copied = std::ranges::any_of(
        staging.items, [&](const DataItem& item) { return copied.contains(item.key); });
    const bool may_copy = staging.stage == Stage::Copying && tier_.has_room() && !is_copied;
    if (!may_copy && staging.stage != Stage::Out) continue;
    if (may_copy) {
      for (const DataItem& item : staging.items) copied.insert(item.key);
    }
    give(job);
  }
}

void Staging::give(LiveJob& job) {
  job.staging.is_ordered = true;
  job.staging.retry_ns = -1;
  orders_.emplace_back(order_of(job));
}

StageOrder Staging::order_of(const LiveJob& job) const {
  StageOrder order{.job = job.job};
  if (const job::Owner* actor = actor_of(job)) {
    order.owner = *actor;
    order.folder = folder_of(*actor);
  }
  order.job_folder = job_folder_of(job);
  if (rules_.fast) {
    order.gateway = rules_.fast->gateway;
    order.bytes_per_s = rules_.fast->copy_limit_bytes_per_s;
  }
  const JobStaging& staging = job.staging;
  if (staging.stage == Stage::Out) {
    order.task = StageTask::Out;
    for (const job::StageOut& each : job.spec.stage_out) {
      order.paths.push_back(
          {.from = job::stage_path(each.from, order.job_folder, job.job, job.spec),
           .to = job::stage_path(each.to, job.spec.work_folder, job.job, job.spec)});
    }
    return order;
  }
  order.task = staging.stage == Stage::Copying ? StageTask::In : StageTask::Measure;
  for (size_t i = 0; i < staging.sources.size(); ++i) {
    StagePath& path = order.paths.emplace_back();
    path.from = source_of(job, staging.sources[i]);
    if (order.task == StageTask::In) path.to = staging.items[i].key;
  }
  return order;
}

StageOrder Staging::removal_of(const std::string& key) const {
  StageOrder order{.task = StageTask::Remove, .paths = {{.from = {}, .to = key}}};
  const auto actor = actors_.find(key);
  if (actor != actors_.end()) {
    order.owner = actor->second;
    order.folder = folder_of(actor->second);
  }
  if (rules_.fast) order.gateway = rules_.fast->gateway;
  return order;
}

void Staging::fail(LiveJob& job, const std::string& problem, bool is_final, TimeNs at,
                   Outcome& out) {
  JobStaging& staging = job.staging;
  staging.problem = problem;
  staging.is_ordered = false;
  const bool is_out = staging.stage == Stage::Out;
  if (!is_out) {
    release(job, at);
    staging.items.clear();
    staging.stage = Stage::Measuring;
    // A job of the engine's own queue is its user's to end.
    if (is_final && job.engine_id.empty()) {
      active_.erase(job.job);
      out.failed.push_back(job.job);
      return;
    }
  }
  const uint32_t doublings = std::min(staging.failures, kDoublingsMax);
  ++staging.failures;
  TimeNs wait_ns = rules_.retry_ns;
  for (uint32_t i = 0; i < doublings && wait_ns < rules_.retry_max_ns; ++i) wait_ns *= 2;
  // Results are copied as soon as somebody has made room for them, or a folder.
  if (is_final && !is_out) wait_ns = rules_.retry_max_ns;
  staging.retry_ns = base::add_saturating(at, std::min(wait_ns, rules_.retry_max_ns));
}

Staging::Outcome Staging::take(const StageReport& report, TimeNs at) {
  Outcome out;
  if (report.task == StageTask::Remove) {
    const auto found = tier_.entries().find(report.key);
    if (!report.is_over || found == tier_.entries().end() || !found->second.is_leaving) return out;
    if (report.problem.empty()) {
      tier_.left(report.key);
      actors_.erase(report.key);
    } else {
      tier_.stays(report.key, at);
    }
    proceed(at, out);
    return out;
  }
  const auto found = book_.jobs.find(report.job);
  if (found == book_.jobs.end() || !active_.contains(report.job)) return out;
  LiveJob& job = found->second;
  if (!job.staging.is_ordered || order_of(job).task != report.task) return out;
  take_answer(job, report, at, out);
  if (report.is_over) proceed(at, out);
  return out;
}

void Staging::take_answer(LiveJob& job, const StageReport& report, TimeNs at, Outcome& out) {
  JobStaging& staging = job.staging;
  if (!report.is_over) {
    staging.all_bytes = report.all_bytes;
    staging.done_bytes = std::min(report.done_bytes, report.all_bytes);
    return;
  }
  if (report.task == StageTask::Measure) return measured(job, report, at, out);
  if (report.task == StageTask::In) staging.copied_bytes += report.copied_bytes;
  if (!report.problem.empty()) return fail(job, report.problem, report.is_final, at, out);
  staging.is_ordered = false;
  staging.failures = 0;
  staging.problem.clear();
  staging.all_bytes = report.all_bytes;
  staging.done_bytes = report.all_bytes;
  active_.erase(job.job);
  if (report.task == StageTask::In) {
    staging.stage = Stage::Ready;
    staging.ready_ns = at;
    staging.sha256 = report.sha256;
    for (const DataItem& item : staging.items) tier_.arrived(item.key);
    out.ready.push_back(job.job);
  } else {
    staging.stage = Stage::OutDone;
    staging.out_done_ns = at;
    staging.out_sha256 = report.sha256;
    clean_up(job);
    out.settled.push_back(job.job);
  }
}

void Staging::measured(LiveJob& job, const StageReport& report, TimeNs at, Outcome& out) {
  const Sources sources = sources_of(job);
  std::vector<JobId> same;
  for (const JobId id : active_) {
    const LiveJob& other = book_.jobs.at(id);
    if (other.staging.stage != Stage::Measuring || sources_of(other) != sources) continue;
    if (id == job.job || is_due(other.staging, at)) same.push_back(id);
  }
  for (const JobId id : same) {
    LiveJob& each = book_.jobs.at(id);
    JobStaging& staging = each.staging;
    staging.is_ordered = false;
    const bool fits = report.found.size() == staging.sources.size();
    if (!report.problem.empty() || !fits) {
      fail(each, report.problem.empty() ? "the answer is incomplete" : report.problem,
           report.is_final, at, out);
      continue;
    }
    staging.retry_ns = -1;
    staging.problem.clear();
    staging.stage = Stage::NeedsRoom;
    staging.items.clear();
    staging.all_bytes = staging.done_bytes = 0;
    for (size_t i = 0; i < report.found.size(); ++i) {
      const std::string name =
          std::filesystem::path(source_of(each, staging.sources[i])).filename().string();
      staging.items.push_back(
          {.key = fmt::format("{}/in/{}/{}", folder_of(*actor_of(each)), report.found[i].version,
                              name.empty() ? "data" : name),
           .bytes = report.found[i].bytes});
      staging.all_bytes += report.found[i].bytes;
    }
  }
}

Staging::Outcome Staging::follow(TimeNs at) {
  Outcome out = std::exchange(late_, {});
  const TimeNs next = next_ns();
  if (next <= at) proceed(at, out);
  return out;
}

TimeNs Staging::next_ns() const {
  if (!late_.failed.empty()) return 0;
  TimeNs next = base::kNever;
  for (const JobId id : active_) {
    const JobStaging& staging = book_.jobs.at(id).staging;
    if (!staging.is_ordered && staging.retry_ns >= 0) next = std::min(next, staging.retry_ns);
  }
  return next;
}

std::vector<Order> Staging::unanswered() const {
  std::vector<Order> out;
  for (const JobId id : active_) {
    const LiveJob& job = book_.jobs.at(id);
    if (job.staging.is_ordered) out.emplace_back(order_of(job));
  }
  for (const auto& [key, entry] : tier_.entries()) {
    if (entry.is_leaving) out.emplace_back(removal_of(key));
  }
  return out;
}

void Staging::add_places(const LiveJob& job, LaunchOrder& order) const {
  if (job.staging.stage != Stage::Ready) return;
  for (const DataItem& item : job.staging.items) order.staged.push_back(item.key);
  order.fast_folder = job_folder_of(job);
}

void Staging::write(json& snapshot) const {
  if (tier_.entries().empty()) return;
  for (const auto& [key, entry] : tier_.entries()) {
    json one{{"key", key}, {"bytes", entry.bytes}, {"used", entry.used_ns}};
    if (entry.is_there) one["there"] = true;
    if (entry.is_leaving) one["leaving"] = true;
    const auto actor = actors_.find(key);
    if (actor != actors_.end()) {
      one["owner"] = {
          {"uid", actor->second.uid}, {"gid", actor->second.gid}, {"user", actor->second.user}};
    }
    snapshot["staged"].push_back(std::move(one));
  }
}

void Staging::read(base::FieldReader& snapshot) {
  std::map<std::string, uint32_t> users;
  for (const auto& [id, job] : book_.jobs) {
    const JobStaging& staging = job.staging;
    if (is_staging_in(staging.stage) || staging.stage == Stage::Out) active_.insert(id);
    if (!staging.keeps) continue;
    std::set<std::string> keys;
    for (const DataItem& item : staging.items) keys.insert(item.key);
    for (const std::string& key : keys) ++users[key];
  }
  snapshot.list("staged", [&](base::FieldReader& in) {
    constexpr uint32_t kIdMax = std::numeric_limits<uint32_t>::max();
    std::string key;
    FastTier::Entry entry;
    in.field("key", key);
    in.field("bytes", entry.bytes, int64_t{0}, int64_t{1} << 62);
    in.field("used", entry.used_ns, TimeNs{0}, base::kNever);
    in.field("there", entry.is_there);
    in.field("leaving", entry.is_leaving);
    job::Owner actor;
    in.object("owner", [&](base::FieldReader& part) {
      part.field("uid", actor.uid, uint32_t{0}, kIdMax);
      part.field("gid", actor.gid, uint32_t{0}, kIdMax);
      part.field("user", actor.user);
    });
    if (!in.good()) return;
    const auto used = users.find(key);
    if (used != users.end()) entry.users = used->second;
    if (entry.users > 0) entry.is_leaving = false;
    actors_.emplace(key, std::move(actor));
    tier_.restore(key, entry);
  });
}

namespace {

/// "1.23 GB": three digits, in the unit that fits.
std::string rounded(int64_t bytes) {
  constexpr std::array<const char*, 6> kUnits = {"B", "kB", "MB", "GB", "TB", "PB"};
  constexpr double kStep = 1000;
  auto size = static_cast<double>(bytes);
  size_t unit = 0;
  for (; size >= kStep && unit + 1 < kUnits.size(); ++unit) size /= kStep;
  return fmt::format("{:.3g} {}", size, kUnits[unit]);
}

}  // namespace

std::string data_words(const LiveJob& job, const JobBook& book) {
  const JobStaging& staging = job.staging;
  if (!is_staging_in(staging.stage) || job.stage != JobStage::Depends) return {};
  std::string words = "it waits for its data";
  if (!staging.problem.empty()) {
    return fmt::format("{}: {}{}", words, staging.problem,
                       staging.retry_ns >= 0 || staging.is_ordered ? "; it is tried again" : "");
  }
  if (staging.stage == Stage::Measuring) return words + ": its size is being found out";
  if (staging.stage == Stage::Copying) {
    return fmt::format("{}: {} of {} are on the fast tier", words, rounded(staging.done_bytes),
                       rounded(staging.all_bytes));
  }
  constexpr size_t kNamedMax = 5;
  std::vector<std::string> users;
  for (const auto& [id, other] : book.jobs) {
    if (!other.staging.keeps || other.staging.items.empty()) continue;
    if (users.size() == kNamedMax) {
      users.emplace_back("...");
      break;
    }
    users.push_back(job::job_name_of(id, other.spec));
  }
  return fmt::format("{}: the fast tier has no room for {}; it keeps the data of {} {}", words,
                     rounded(staging.all_bytes), users.size() == 1 ? "job" : "jobs",
                     fmt::join(users, ", "));
}

std::string result_words(const LiveJob& job) {
  const JobStaging& staging = job.staging;
  if (staging.stage != Stage::Out) return {};
  if (!staging.problem.empty()) {
    return fmt::format(
        "its results could not be copied yet: {}; it is tried again, and nothing "
        "is deleted before",
        staging.problem);
  }
  return fmt::format("its results are being copied: {} of {}", rounded(staging.done_bytes),
                     rounded(staging.all_bytes));
}

namespace {

/// Results that would take each other's place, or could never be copied. Empty: none.
std::string stage_out_problem(const job::JobSpec& spec) {
  const auto place = [](const job::JobSpec& each, JobId id, const std::string& to) {
    return job::stage_path(to, each.work_folder, id, each);
  };
  const JobId id(0U);
  std::set<std::string> places;
  for (const job::StageOut& each : spec.stage_out) {
    const std::filesystem::path from = std::filesystem::path(each.from + "/").lexically_normal();
    if (!spec.stage_in.empty() && (from == "." || from == "in/")) {
      return fmt::format(
          "'{}' has links to the staged data in it, which are no results; name what "
          "the job writes",
          each.from);
    }
    const std::string to = place(spec, id, each.to);
    for (const std::string& other : places) {
      if (to == other || to.starts_with(other + "/") || other.starts_with(to + "/")) {
        return fmt::format("'{}' and '{}' are the same place, or one lies in the other", other, to);
      }
    }
    places.insert(to);
    if (spec.array_task < 0) continue;
    job::JobSpec next = spec;
    ++next.array_task;
    if (place(next, JobId(1U), each.to) == to) {
      return fmt::format("'{}' is the same place for all tasks of the array: it needs %a or %j",
                         each.to);
    }
  }
  return {};
}

}  // namespace

base::Status check_staging(const job::JobSpec& spec, const Site& site) {
  constexpr size_t kPathsMax = 64;
  const auto refuse = [](const char* field, std::string message, std::string remedy) {
    return base::bad_data({.file = {}, .line = 0, .column = 0, .field = field}, std::move(message),
                          std::move(remedy));
  };
  if (!stages(spec)) return {};
  const char* field = spec.stage_in.empty() ? "stage_out" : "stage_in";
  if (!site.staging.fast) {
    return refuse(field, "this site has no fast storage tier",
                  "omit --stage-in and --stage-out, or ask an operator to set tiers");
  }
  if (!spec.owner.realm.empty() && !site.staging.others) {
    return refuse(field, "its user is unknown on this machine",
                  "ask an operator to set staging.user");
  }
  if (spec.stage_in.size() + spec.stage_out.size() > kPathsMax) {
    return refuse(field, fmt::format("names more than {} paths", kPathsMax),
                  "name folders instead of their files");
  }
  const auto check = [&](const char* name, const std::string& path) -> base::Status {
    const std::string problem = job::stage_path_problem(path);
    if (!problem.empty()) return refuse(name, fmt::format("the path {}", problem), "write another");
    if (path.starts_with('/') || !spec.work_folder.empty()) return {};
    return refuse(name, fmt::format("'{}' is relative, and there is no work folder", path),
                  "write an absolute path");
  };
  for (const std::string& path : spec.stage_in) {
    if (auto status = check("stage_in", path); !status) return status;
  }
  for (const job::StageOut& each : spec.stage_out) {
    if (auto status = check("stage_out", each.to); !status) return status;
    if (const std::string problem = job::stage_path_problem(each.from); !problem.empty()) {
      return refuse("stage_out", fmt::format("the path {}", problem), "write another");
    }
  }
  const std::string problem = stage_out_problem(spec);
  return problem.empty() ? base::Status{}
                         : refuse("stage_out", problem, "give each result a place of its own");
}

}  // namespace goban::live::controller
