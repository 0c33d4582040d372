#include "live/controller/book_json.hpp"

#include <limits>
#include <nlohmann/json.hpp>

#include "base/reports/run_reports_json.hpp"
#include "live/controller/engine_event_json.hpp"
#include "live/controller/id_fields.hpp"
#include "live/controller/reservation_json.hpp"
#include "live/job/job_spec.hpp"

namespace goban::live::controller {

using nlohmann::json;

namespace {

constexpr uint32_t kCountMax = std::numeric_limits<uint32_t>::max();

template <typename Enum>
void read_enum(base::FieldReader& in, const char* name, Enum& value, Enum last) {
  auto number = static_cast<uint32_t>(value);
  in.field(name, number, uint32_t{0}, static_cast<uint32_t>(last));
  value = static_cast<Enum>(number);
}

void read_time(base::FieldReader& in, const char* name, TimeNs& value) {
  in.field(name, value, TimeNs{-1}, base::kNever);
}

json past_json(const PastRun& run) {
  json out = {{"run", run.run},
              {"start", run.start_ns},
              {"end", run.end_ns},
              {"gpus", numbers_of(run.gpus)},
              {"usage", to_json(run.usage)}};
  if (!run.ranks.empty()) out["ranks"] = to_json(run.ranks);
  if (run.pace != RunPace{}) out["pace"] = to_json(run.pace);
  if (run.shared) out["shared"] = true;
  if (run.suspended_ns > 0) out["suspended"] = run.suspended_ns;
  return out;
}

void read_past(base::FieldReader& in, PastRun& run) {
  in.field("run", run.run, uint32_t{0}, kCountMax);
  read_time(in, "start", run.start_ns);
  read_time(in, "end", run.end_ns);
  read_ids(in, "gpus", run.gpus);
  in.object("usage", [&](base::FieldReader& part) { read_fields(part, run.usage); });
  read_ranks(in, run.ranks);
  read_pace(in, run.pace);
  in.field("shared", run.shared);
  read_time(in, "suspended", run.suspended_ns);
}

void read_why(base::FieldReader& in, core::model::PlacementReason& why) {
  constexpr uint8_t kMost = std::numeric_limits<uint8_t>::max();
  constexpr double kFactorMax = 1e12;
  in.field("level", why.level, uint8_t{0}, kMost);
  in.field("bin", why.bin_value, 0, kFactorMax);
  in.field("product", why.product, 0, kFactorMax);
  in.field("prediction", why.prediction, uint8_t{0}, kMost);
}

json staging_json(const JobStaging& staging) {
  const JobStaging normal;
  json object = json::object();
  object["stage"] = static_cast<int>(staging.stage);
  base::FieldWriter out(object);
  out.field("ordered", staging.is_ordered, false);
  out.field("keeps", staging.keeps, false);
  out.field("folder", staging.has_folder, false);
  if (!staging.sources.empty()) object["sources"] = staging.sources;
  for (const core::staging::DataItem& item : staging.items) {
    object["items"].push_back({{"key", item.key}, {"bytes", item.bytes}});
  }
  out.field("done", staging.done_bytes, normal.done_bytes);
  out.field("all", staging.all_bytes, normal.all_bytes);
  out.field("copied", staging.copied_bytes, normal.copied_bytes);
  out.field("begun", staging.begun_ns, normal.begun_ns);
  out.field("ready", staging.ready_ns, normal.ready_ns);
  out.field("seen", staging.seen_run, normal.seen_run);
  out.field("out_done", staging.out_done_ns, normal.out_done_ns);
  out.field("gave_up", staging.gave_up, normal.gave_up);
  out.field("failures", staging.failures, normal.failures);
  out.field("retry", staging.retry_ns, normal.retry_ns);
  out.field("problem", staging.problem, normal.problem);
  out.field("sha256", staging.sha256, normal.sha256);
  out.field("out_sha256", staging.out_sha256, normal.out_sha256);
  return object;
}

void read_staging(base::FieldReader& in, JobStaging& staging) {
  constexpr int64_t kBytesMax = int64_t{1} << 62;
  read_enum(in, "stage", staging.stage, JobStaging::Stage::OutDone);
  in.field("ordered", staging.is_ordered);
  in.field("keeps", staging.keeps);
  in.field("folder", staging.has_folder);
  in.field("sources", staging.sources);
  in.list("items", [&](base::FieldReader& part) {
    core::staging::DataItem& item = staging.items.emplace_back();
    part.field("key", item.key);
    part.field("bytes", item.bytes, int64_t{0}, kBytesMax);
  });
  in.field("done", staging.done_bytes, int64_t{0}, kBytesMax);
  in.field("all", staging.all_bytes, int64_t{0}, kBytesMax);
  in.field("copied", staging.copied_bytes, int64_t{0}, kBytesMax);
  read_time(in, "begun", staging.begun_ns);
  read_time(in, "ready", staging.ready_ns);
  in.field("seen", staging.seen_run, uint32_t{0}, kCountMax);
  read_time(in, "out_done", staging.out_done_ns);
  in.field("gave_up", staging.gave_up);
  in.field("failures", staging.failures, uint32_t{0}, kCountMax);
  read_time(in, "retry", staging.retry_ns);
  in.field("problem", staging.problem);
  in.field("sha256", staging.sha256);
  in.field("out_sha256", staging.out_sha256);
  using Stage = JobStaging::Stage;
  const bool has_places = staging.stage == Stage::Copying || staging.stage == Stage::Ready;
  if (has_places && staging.items.size() != staging.sources.size()) {
    in.fail("items", "must have one entry for each of sources");
  }
}

}  // namespace

json to_json(const LiveJob& job) {
  json past = json::array();
  for (const PastRun& run : job.past) past.push_back(past_json(run));
  json out{{"job", job.job.value},
           {"spec", to_json(job.spec)},
           {"stage", static_cast<int>(job.stage)},
           {"result", static_cast<int>(job.result)},
           {"submit", job.submit_ns},
           {"first_start", job.first_start_ns},
           {"run_start", job.run_start_ns},
           {"end", job.end_ns},
           {"held", job.held_ns},
           {"runs", job.runs},
           {"gpus", numbers_of(job.gpus)},
           {"shares", job.shares},
           {"why",
            {{"level", job.why.level},
             {"bin", job.why.bin_value},
             {"product", job.why.product},
             {"prediction", job.why.prediction}}},
           {"exit_code", job.exit_code},
           {"signal", job.signal},
           {"preemptions", job.preemptions},
           {"breakages", job.breakages},
           {"progress", to_json(job.progress)},
           {"progress_at", job.progress_ns},
           {"usage", to_json(job.usage)},
           {"past", std::move(past)},
           {"detail", job.detail},
           {"accounted", job.accounted}};
  if (job.reservation.valid()) out["reservation"] = job.reservation.value;
  if (job.unable > 0) out["unable"] = job.unable;
  if (job.resizes > 0) out["resizes"] = job.resizes;
  if (!job.engine_id.empty()) out["engine_id"] = job.engine_id;
  if (!job.array_id.empty()) out["array_id"] = job.array_id;
  if (!job.managed) out["managed"] = false;
  if (job.withdrawn) out["withdrawn"] = true;
  if (job.delayed) out["delayed"] = true;
  if (job.is_gone) out["is_gone"] = true;
  if (!job.blocked.empty()) out["blocked"] = job.blocked;
  if (!job.misfit.empty()) out["misfit"] = job.misfit;
  put_parts("found", job.found, out);
  if (job.staging != JobStaging{}) out["staging"] = staging_json(job.staging);
  if (job.predicted != job::PredictedRun{}) out["predicted"] = to_json(job.predicted);
  if (job.expected.known()) out["expected"] = job::to_json(job.expected);
  return out;
}

void read_job(base::FieldReader& in, LiveJob& job) {
  read_id(in, "job", job.job);
  if (const json* spec = in.find("spec")) {
    auto read = job::job_spec_from_json(*spec);
    if (!read) return in.fail("spec." + read.error().place.field, read.error().message);
    job.spec = std::move(*read);
  }
  in.field("reservation", job.reservation.value, uint32_t{0}, kCountMax);
  read_enum(in, "stage", job.stage, JobStage::Suspended);
  read_enum(in, "result", job.result, JobResult::NeverRuns);
  read_time(in, "submit", job.submit_ns);
  read_time(in, "first_start", job.first_start_ns);
  read_time(in, "run_start", job.run_start_ns);
  read_time(in, "end", job.end_ns);
  read_time(in, "held", job.held_ns);
  in.field("runs", job.runs, uint32_t{0}, kCountMax);
  in.field("unable", job.unable, uint32_t{0}, job.runs);
  read_ids(in, "gpus", job.gpus);
  in.field("shares", job.shares);
  in.object("why", [&](base::FieldReader& part) { read_why(part, job.why); });
  in.field(in.present("exit_code", "exit"), job.exit_code, -1, 255);
  in.field("signal", job.signal, 0, 255);
  in.field("preemptions", job.preemptions, uint32_t{0}, kCountMax);
  in.field("resizes", job.resizes, uint32_t{0}, kCountMax);
  in.field("breakages", job.breakages, uint32_t{0}, kCountMax);
  in.object("progress", [&](base::FieldReader& part) { read_fields(part, job.progress); });
  read_time(in, "progress_at", job.progress_ns);
  in.object("usage", [&](base::FieldReader& part) { read_fields(part, job.usage); });
  in.list("past", [&](base::FieldReader& part) { read_past(part, job.past.emplace_back()); });
  in.field("detail", job.detail);
  in.field("accounted", job.accounted);
  in.field("delayed", job.delayed);
  in.field("engine_id", job.engine_id);
  in.field("array_id", job.array_id);
  in.field("managed", job.managed);
  in.field("withdrawn", job.withdrawn);
  in.field("is_gone", job.is_gone);
  in.field("blocked", job.blocked);
  in.field("misfit", job.misfit);
  read_node_parts(in, "found", job.found);
  in.object("staging", [&](base::FieldReader& part) { read_staging(part, job.staging); });
  in.object("predicted", [&](base::FieldReader& part) { read_fields(part, job.predicted); });
  in.object("expected", [&](base::FieldReader& part) { job::read_fields(part, job.expected); });
}

namespace {

json run_json(const LiveRun& run) {
  json out = {{"job", run.run.job.value},
              {"run", run.run.run},
              {"stage", static_cast<int>(run.stage)},
              {"stop", static_cast<int>(run.stop)},
              {"gpus", numbers_of(run.gpus)},
              {"ordered", run.ordered_ns},
              {"started", run.started_ns}};
  if (run.shared) out["shared"] = true;
  if (run.found) out["found"] = true;
  if (run.urgency != StopUrgency::Ask) out["urgency"] = static_cast<int>(run.urgency);
  if (run.suspensions != Suspensions{}) {
    out["suspensions"] = {{"count", run.suspensions.count},
                          {"since", run.suspensions.since_ns},
                          {"ended", run.suspensions.ended_ns}};
  }
  return out;
}

void read_run(base::FieldReader& in, LiveRun& run) {
  read_id(in, "job", run.run.job);
  in.field("run", run.run.run, uint32_t{0}, kCountMax);
  read_enum(in, "stage", run.stage, LiveRun::Stage::Stopping);
  read_enum(in, "stop", run.stop, StopReason::Broken);
  read_enum(in, "urgency", run.urgency, StopUrgency::Kill);
  read_ids(in, "gpus", run.gpus);
  read_time(in, "ordered", run.ordered_ns);
  read_time(in, "started", run.started_ns);
  in.field("shared", run.shared);
  in.field("found", run.found);
  in.object("suspensions", [&](base::FieldReader& part) {
    part.field("count", run.suspensions.count, uint32_t{0}, kCountMax);
    read_time(part, "since", run.suspensions.since_ns);
    read_time(part, "ended", run.suspensions.ended_ns);
  });
}

}  // namespace

json to_json(const JobBook& book) {
  json jobs = json::array();
  for (const auto& [id, job] : book.jobs) jobs.push_back(to_json(job));
  json runs = json::array();
  for (const auto& [id, run] : book.runs) runs.push_back(run_json(run));
  json out{{"next_job", book.next_job}, {"jobs", std::move(jobs)}, {"runs", std::move(runs)}};
  if (book.pilot) out["pilot"] = to_json(*book.pilot);
  if (book.next_reservation == 0) return out;
  out["next_reservation"] = book.next_reservation;
  json reservations = json::array();
  for (const auto& [id, each] : book.reservations) reservations.push_back(to_json(each));
  out["reservations"] = std::move(reservations);
  return out;
}

void read_book(base::FieldReader& in, JobBook& book) {
  in.field("next_job", book.next_job, uint32_t{0}, kCountMax);
  in.list("jobs", [&](base::FieldReader& part) {
    LiveJob job;
    read_job(part, job);
    if (!part.good()) return;
    if (job.job.value >= book.next_job) return part.fail("job", "must be less than next_job");
    book.jobs.emplace(job.job, std::move(job));
  });
  in.list("runs", [&](base::FieldReader& part) {
    LiveRun run;
    read_run(part, run);
    if (!part.good()) return;
    if (!book.jobs.contains(run.run.job)) return part.fail("job", "is not in the job table");
    book.runs.emplace(run.run, std::move(run));
  });
  in.field("next_reservation", book.next_reservation, uint32_t{0}, kCountMax);
  in.list("reservations", [&](base::FieldReader& part) {
    LiveReservation each;
    read_reservation(part, each);
    if (!part.good()) return;
    if (each.id.value >= book.next_reservation) {
      return part.fail("reservation", "must be less than next_reservation");
    }
    book.reservations.emplace(each.id, std::move(each));
  });
  in.object("pilot", [&](base::FieldReader& part) { read_pilot(part, book.pilot.emplace()); });
}

json to_json(const ProgressObserver& observer) {
  json out = json::array();
  for (const auto& [job, track] : observer.tracks()) {
    out.push_back({{"job", job.value},
                   {"unit", static_cast<int>(track.unit)},
                   {"epochs", track.epochs},
                   {"at", track.at_ns},
                   {"base", track.base_epochs},
                   {"base_at", track.base_ns},
                   {"alone_epoch_s", track.alone_epoch_s},
                   {"until", track.until_ns}});
  }
  return out;
}

void read_observer(base::FieldReader& in, const char* name, ProgressObserver& observer) {
  constexpr double kMost = 1e300;
  in.list(name, [&](base::FieldReader& part) {
    JobId job;
    ProgressObserver::Track track;
    read_id(part, "job", job);
    read_enum(part, "unit", track.unit, PaceUnit::BusyMinutes);
    part.field("epochs", track.epochs, -1, kMost);
    read_time(part, "at", track.at_ns);
    part.field("base", track.base_epochs, -1, kMost);
    read_time(part, "base_at", track.base_ns);
    part.field("alone_epoch_s", track.alone_epoch_s, -1, kMost);
    read_time(part, "until", track.until_ns);
    if (part.good()) observer.put(job, track);
  });
}

json paces_json(const ProgressObserver& observer) {
  json out = json::array();
  for (const auto& [key, epoch_s] : observer.paces()) {
    out.push_back({{"app", key.app.value},
                   {"gpus", key.num_gpus},
                   {"unit", static_cast<int>(key.unit)},
                   {"epoch_s", epoch_s}});
  }
  return out;
}

void read_paces(base::FieldReader& in, const char* name, std::span<const core::model::AppId> apps,
                ProgressObserver& observer) {
  in.list(name, [&](base::FieldReader& part) {
    PaceKey key;
    double epoch_s = -1;
    read_id(part, "app", key.app);
    part.field("gpus", key.num_gpus, 0, INT32_MAX);
    read_enum(part, "unit", key.unit, PaceUnit::BusyMinutes);
    part.field("epoch_s", epoch_s, 0, 1e300);
    if (!part.good() || key.app.index() >= apps.size()) return;
    key.app = apps[key.app.index()];
    observer.put(key, epoch_s);
  });
}

}  // namespace goban::live::controller
