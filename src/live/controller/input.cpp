// Inputs as lines of JSON: `{"at":NS,"take":"cancel","job":7,...}`. Job and GPU numbers are ids,
// from 0. Times are integer nanoseconds. Doubles are exact.
#include "live/controller/input.hpp"

#include <array>
#include <limits>
#include <nlohmann/json.hpp>
#include <type_traits>

#include "base/json_fields.hpp"
#include "base/reports/run_reports_json.hpp"
#include "live/controller/engine_event_json.hpp"
#include "live/controller/id_fields.hpp"
#include "live/controller/reservation_json.hpp"
#include "live/job/job_spec.hpp"
#include "live/staging_json.hpp"

namespace goban::live::controller {

using base::Result;
using nlohmann::json;

namespace {

constexpr std::array<const char*, 23> kInputNames = {
    "submit", "cancel",      "hold",       "release",    "requeue",  "drain",
    "resume", "report",      "accounted",  "scores",     "reserve",  "cancel_reservation",
    "alter",  "suspend",     "continue",   "job_seen",   "job_gone", "cluster_seen",
    "fence",  "pilot_start", "pilot_stop", "pilot_step", "staged"};
static_assert(kInputNames.size() == std::variant_size_v<Input>);
constexpr std::array<const char*, 9> kReportNames = {"started", "ended",    "refused",
                                                     "lost",    "progress", "node_down",
                                                     "node_up", "unable",   "declined"};
constexpr uint32_t kIdMax = std::numeric_limits<uint32_t>::max();

json caller_json(const Caller& by) {
  json out{{"uid", by.uid}, {"user", by.user}, {"operator", by.is_operator}};
  if (!by.realm.empty()) out["realm"] = by.realm;
  return out;
}

void read_caller(base::FieldReader& in, Caller& by) {
  in.object("by", [&](base::FieldReader& part) {
    part.field("uid", by.uid, uint32_t{0}, kIdMax);
    part.field("user", by.user);
    part.field("operator", by.is_operator);
    part.field("realm", by.realm);
  });
}

json report_json(const Report& report) {
  json out{{"kind", kReportNames[static_cast<size_t>(report.kind)]}};
  if (report.run.job.valid()) {
    out["job"] = report.run.job.value;
    out["run"] = report.run.run;
  }
  if (!report.node.empty()) {
    out["node"] = report.node;
  } else if (report.node_id.valid()) {
    out["node"] = report.node_id.value;
  }
  if (report.limited) out["limited"] = true;
  if (report.cancelled) out["cancelled"] = true;
  if (report.ran_ns >= 0) out["ran"] = report.ran_ns;
  if (report.at_ns != 0) out["seen"] = report.at_ns;
  if (report.kind == ReportKind::Ended || report.kind == ReportKind::Refused) {
    out["exit_code"] = report.exit_code;
    out["signal"] = report.signal;
    if (report.out_of_memory) out["out_of_memory"] = true;
    if (report.acknowledged) out["acknowledged"] = true;
    if (report.usage != RunUsage{}) out["usage"] = to_json(report.usage);
    if (!report.ranks.empty()) out["ranks"] = to_json(report.ranks);
    if (report.pace != RunPace{}) out["pace"] = to_json(report.pace);
  }
  if (report.kind == ReportKind::Progress) out["progress"] = to_json(report.progress);
  if (!report.detail.empty()) out["detail"] = report.detail;
  put_parts("parts", report.parts, out);
  return out;
}

void read_report(base::FieldReader& in, Report& report) {
  std::string kind;
  in.field("kind", kind);
  const auto found = std::ranges::find(kReportNames, kind);
  if (found == kReportNames.end())
    return in.fail("kind", "unknown report; this journal was written by a newer release");
  report.kind = static_cast<ReportKind>(found - kReportNames.begin());
  const bool of_node = report.kind == ReportKind::NodeDown || report.kind == ReportKind::NodeUp;
  if (of_node) {
    const json* node = in.find("node");
    if (node != nullptr && node->is_number()) {  // earlier releases named nodes by number
      read_id(in, "node", report.node_id);
    } else {
      in.field("node", report.node);
    }
  } else {
    read_id(in, "job", report.run.job);
    in.field("run", report.run.run, uint32_t{0}, kIdMax);
  }
  in.field("seen", report.at_ns, TimeNs{0}, base::kNever);
  in.field(in.present("exit_code", "exit"), report.exit_code, -1, 255);
  in.field("signal", report.signal, 0, 255);
  in.field(in.present("out_of_memory", "oom"), report.out_of_memory);
  in.field("acknowledged", report.acknowledged);
  in.field("limited", report.limited);
  in.field("cancelled", report.cancelled);
  in.field("ran", report.ran_ns, TimeNs{0}, base::kNever);
  in.object("usage", [&](base::FieldReader& part) { read_fields(part, report.usage); });
  read_ranks(in, report.ranks);
  read_pace(in, report.pace);
  in.object("progress", [&](base::FieldReader& part) { read_fields(part, report.progress); });
  in.field("detail", report.detail);
  read_node_parts(in, "parts", report.parts);
}

struct Writer {
  json& out;
  void operator()(const Submit& each) const {
    json jobs = json::array();
    for (const job::JobSpec& spec : each.jobs) jobs.push_back(to_json(spec));
    out["jobs"] = std::move(jobs);
    for (const job::PredictedRun& run : each.predicted) out["predicted"].push_back(to_json(run));
  }
  template <typename T>
    requires requires(const T& each) { each.by; }
  void operator()(const T& each) const {
    out["job"] = each.job.value;
    out["by"] = caller_json(each.by);
  }
  void operator()(const Cancel& each) const {
    out["job"] = each.job.value;
    out["by"] = caller_json(each.by);
    if (each.now) out["now"] = true;
    if (each.results) out["results"] = true;
  }
  void operator()(const Alter& each) const {
    out["job"] = each.job.value;
    out["by"] = caller_json(each.by);
    if (each.walltime_limit_ns) out["walltime"] = *each.walltime_limit_ns;
    if (each.priority) out["priority"] = *each.priority;
    if (each.array_limit) out["array_limit"] = *each.array_limit;
  }
  void operator()(const Drain& each) const {
    out["node"] = each.node.value;
    out["from"] = each.from_ns;
    if (each.now) out["now"] = true;
    if (!each.reason.empty()) out["reason"] = each.reason;
  }
  void operator()(const Resume& each) const { out["node"] = each.node.value; }
  void operator()(const Fence& each) const { out["node"] = each.node.value; }
  void operator()(const EngineReport& each) const {
    out["report"] = report_json(each.report);
    if (each.expected.known()) out["expected"] = job::to_json(each.expected);
  }
  void operator()(const Accounted& each) const { out["job"] = each.job.value; }
  void operator()(const ScoresMeasured& each) const {
    out["table"] = each.table;
    out["instead_of"] = each.instead_of;
  }
  void operator()(const Reserve& each) const {
    put_plan(each.plan, out);
    out["by"] = caller_json(each.by);
  }
  void operator()(const CancelReservation& each) const {
    out["reservation"] = each.reservation.value;
    out["by"] = caller_json(each.by);
  }
  void operator()(const StartPilot& each) const {
    out["plan"] = core::pilot::to_json(each.plan);
    out["by"] = caller_json(each.by);
  }
  void operator()(const StopPilot& each) const {
    out["by"] = caller_json(each.by);
    if (!each.reason.empty()) out["reason"] = each.reason;
  }
  void operator()(const PilotStep& each) const {
    out["period"] = each.period;
    if (!each.harm.empty()) out["harm"] = each.harm;
  }
  void operator()(const JobSeen& each) const { put_event(each, out); }
  void operator()(const JobGone& each) const { put_event(each, out); }
  void operator()(const ClusterSeen& each) const { put_event(each, out); }
  void operator()(const StageReport& each) const { out["staged"] = to_json(each); }
};

struct Reader {
  base::FieldReader& in;
  void operator()(Submit& each) const {
    const json* jobs = in.find("jobs");
    if (jobs == nullptr || !jobs->is_array()) return in.fail("jobs", "must be an array");
    for (const json& one : *jobs) {
      auto spec = job::job_spec_from_json(one);
      if (!spec) {
        return in.fail("jobs." + spec.error().place.field, spec.error().message);
      }
      each.jobs.push_back(std::move(*spec));
    }
    in.list("predicted",
            [&](base::FieldReader& part) { read_fields(part, each.predicted.emplace_back()); });
  }
  template <typename T>
    requires requires(const T& each) { each.by; }
  void operator()(T& each) const {
    read_id(in, "job", each.job);
    read_caller(in, each.by);
  }
  void operator()(Cancel& each) const {
    read_id(in, "job", each.job);
    read_caller(in, each.by);
    in.field("now", each.now);
    in.field("results", each.results);
  }
  void operator()(Alter& each) const {
    read_id(in, "job", each.job);
    read_caller(in, each.by);
    constexpr int32_t kMost = std::numeric_limits<int32_t>::max();
    read_given("walltime", each.walltime_limit_ns, TimeNs{1}, base::kNever);
    read_given("priority", each.priority, -kMost, kMost);
    read_given("array_limit", each.array_limit, 0, kMost);
  }
  template <typename T>
  void read_given(const char* name, std::optional<T>& value, T low, T high) const {
    if (in.find(name) != nullptr) in.field(name, value.emplace(), low, high);
  }
  void operator()(Drain& each) const {
    read_id(in, "node", each.node);
    in.field("from", each.from_ns, TimeNs{0}, base::kNever);
    in.field("now", each.now);
    in.field("reason", each.reason);
  }
  void operator()(Resume& each) const { read_id(in, "node", each.node); }
  void operator()(Fence& each) const { read_id(in, "node", each.node); }
  void operator()(EngineReport& each) const {
    in.object("report", [&](base::FieldReader& part) { read_report(part, each.report); });
    in.object("expected", [&](base::FieldReader& part) { job::read_fields(part, each.expected); });
  }
  void operator()(Accounted& each) const { read_id(in, "job", each.job); }
  void operator()(ScoresMeasured& each) const {
    in.field("table", each.table);
    in.field("instead_of", each.instead_of);
  }
  void operator()(Reserve& each) const {
    read_plan(in, each.plan);
    read_caller(in, each.by);
  }
  void operator()(CancelReservation& each) const {
    read_id(in, "reservation", each.reservation);
    read_caller(in, each.by);
  }
  void operator()(StartPilot& each) const {
    in.object("plan", [&](base::FieldReader& part) {
      core::pilot::read_fields(part, each.plan);
      const base::Status fits = core::pilot::check(each.plan);
      if (part.good() && !fits) part.fail(fits.error().place.field, fits.error().message);
    });
    if (in.find("plan") == nullptr) in.fail("plan", "is missing");
    read_caller(in, each.by);
  }
  void operator()(StopPilot& each) const {
    read_caller(in, each.by);
    in.field("reason", each.reason);
  }
  void operator()(PilotStep& each) const {
    in.field("period", each.period, -1, std::numeric_limits<int32_t>::max());
    in.field("harm", each.harm);
  }
  void operator()(JobSeen& each) const { read_event(in, each); }
  void operator()(JobGone& each) const { read_event(in, each); }
  void operator()(ClusterSeen& each) const { read_event(in, each); }
  void operator()(StageReport& each) const {
    in.object("staged", [&](base::FieldReader& part) { read_fields(part, each); });
  }
};

template <size_t I = 0>
Input input_of(size_t index) {
  if constexpr (I + 1 < std::variant_size_v<Input>) {
    if (index != I) return input_of<I + 1>(index);
  }
  return Input(std::in_place_index<I>);
}

}  // namespace

std::string to_text(const TimedInput& input) {
  json out{{"at", input.at_ns}, {"take", kInputNames[input.input.index()]}};
  std::visit(Writer{out}, input.input);
  // File names may be any bytes; invalid UTF-8 is replaced.
  return out.dump(-1, ' ', false, json::error_handler_t::replace);
}

Result<TimedInput> parse_input(std::string_view text) {
  const json document = json::parse(text, nullptr, false);
  if (document.is_discarded())
    return base::bad_data({}, "an input of the journal is not valid JSON");
  base::FieldReader in(document, "");
  TimedInput input;
  in.field("at", input.at_ns, TimeNs{0}, base::kNever);
  std::string name;
  in.field("take", name);
  const auto found = std::ranges::find(kInputNames, name);
  if (found == kInputNames.end())
    in.fail("take", "unknown input; this journal was written by a newer release");
  if (in.good()) {
    input.input = input_of(static_cast<size_t>(found - kInputNames.begin()));
    std::visit(Reader{in}, input.input);
  }
  if (auto status = in.status(); !status) return base::failure(status.error());
  return input;
}

}  // namespace goban::live::controller
