// Format `philly-json`: cluster_job_log of Microsoft's Philly traces (msr-fiddle/philly-traces),
// according to its README: an array of {status, vc, jobid, user, submitted_time, attempts:
// [{start_time, end_time, detail: [{ip, gpus: [gpu0, ...]}]}]}. Not tested on the original file.
//
// One record per attempt: attempt k is run k of the job, submitted when the previous one ended; all
// but the last end as requeued. A job without attempts never started. A last attempt without an end
// was still running. Times are Pacific time without a time zone: set the zone to
// America/Los_Angeles, otherwise they are read as UTC. vc = account and partition.
#include <algorithm>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "site/records/clock_reader.hpp"
#include "site/records/record_format.hpp"

namespace goban::site::records {
namespace {

using nlohmann::json;

/// The text of a member; empty if it is missing, null or not a string.
std::string_view text_of(const json& object, const char* key) {
  const auto found = object.find(key);
  if (found == object.end() || !found->is_string()) return {};
  return found->get_ref<const std::string&>();
}

class PhillyParser final : public ObjectParser {
 public:
  PhillyParser(base::TimeZone zone, const SiteOptions& site)
      : clock_(std::move(zone)), zone_is_named_(!site.zone.empty()) {}

  void take(std::string_view object, int64_t line, RecordOutput& out) override {
    const json job = json::parse(object, nullptr, false);
    const std::string problem =
        job.is_discarded() ? "not a JSON object" : take_job(job, object, line, out);
    if (problem.empty()) return;
    out.count_record();
    out.reject(line, problem, object);
  }
  std::vector<std::string> notes() const override {
    if (zone_is_named_) return {};
    return {"times have no time zone and were read as UTC (Philly uses America/Los_Angeles)"};
  }

 private:
  struct Attempt {
    base::TimeNs start_ns = -1;
    base::TimeNs end_ns = -1;
    std::optional<int64_t> num_gpus;  ///< none = the attempt does not list its GPUs
    std::string nodes;
    int64_t num_nodes = -1;
    std::vector<HeldGpu> gpus;
  };

  /// Returns what is wrong; in that case nothing was put.
  std::string take_job(const json& job, std::string_view text, int64_t line, RecordOutput& out) {
    AccountingRecord record;
    record.line = line;
    record.id = text_of(job, "jobid");
    record.user = text_of(job, "user");
    record.account = record.partition = text_of(job, "vc");
    record.kind = JobKind::Batch;
    if (record.id.empty()) return "jobid is missing";
    const std::string_view word = text_of(job, "status");
    const auto state = parse_job_state(word);
    if (!state) return fmt::format("status \"{}\" is unknown", word.substr(0, 40));
    if (auto problem = read_time(job, "submitted_time", record.submit_ns); !problem.empty()) {
      return problem;
    }
    if (record.submit_ns < 0) return "submitted_time is missing";
    std::vector<Attempt> attempts;
    if (const auto list = job.find("attempts"); list != job.end() && list->is_array()) {
      for (const json& each : *list) {
        auto problem = read_attempt(each, attempts.emplace_back());
        if (!problem.empty()) return problem;
      }
    }
    record.restarts = static_cast<int32_t>(attempts.size()) - (attempts.empty() ? 0 : 1);
    if (attempts.empty()) {
      record.state = *state;
      out.count_record();
      out.put(record, text);
    }
    for (size_t i = 0; i < attempts.size(); ++i) {
      const Attempt& attempt = attempts[i];
      const bool is_last = i + 1 == attempts.size();
      record.run = static_cast<int32_t>(i);
      // The clocks of two attempts may differ slightly.
      if (i > 0 && attempt.start_ns >= 0) {
        record.submit_ns = std::min(record.submit_ns, attempt.start_ns);
      }
      record.start_ns = attempt.start_ns;
      record.end_ns = attempt.end_ns;
      record.state = !is_last                                      ? RecordedState::Requeued
                     : attempt.start_ns >= 0 && attempt.end_ns < 0 ? RecordedState::Running
                                                                   : *state;
      record.num_gpus = attempt.num_gpus;
      record.num_nodes = attempt.num_nodes;
      record.node_list = attempt.nodes;
      record.gpus = attempt.gpus;
      out.count_record();
      out.put(record, text);
      if (attempt.end_ns >= 0) record.submit_ns = attempt.end_ns;
    }
    return {};
  }

  std::string read_attempt(const json& object, Attempt& attempt) {
    if (!object.is_object()) return "an attempt is not an object";
    if (auto problem = read_time(object, "start_time", attempt.start_ns); !problem.empty()) {
      return problem;
    }
    if (auto problem = read_time(object, "end_time", attempt.end_ns); !problem.empty()) {
      return problem;
    }
    const auto detail = object.find("detail");
    if (detail == object.end() || !detail->is_array()) return {};
    for (const json& host : *detail) {
      if (!host.is_object()) return "a detail is not an object";
      const std::string_view ip = text_of(host, "ip");
      attempt.nodes += attempt.nodes.empty() ? "" : ",";
      attempt.nodes += ip;
      attempt.num_nodes = std::max<int64_t>(attempt.num_nodes, 0) + 1;
      attempt.num_gpus = attempt.num_gpus.value_or(0);
      const auto gpus = host.find("gpus");
      if (gpus == host.end() || !gpus->is_array()) continue;
      for (const json& gpu : *gpus) {
        if (!gpu.is_string()) return "a GPU is not a string";
        std::string_view name = gpu.get_ref<const std::string&>();
        if (name.starts_with("gpu")) name.remove_prefix(3);
        attempt.gpus.push_back({.node = ip, .gpu = name});
        ++*attempt.num_gpus;
      }
    }
    return {};
  }

  std::string read_time(const json& object, const char* key, base::TimeNs& ns) {
    const std::string_view text = text_of(object, key);
    const Moment moment = clock_.read(text);
    ns = moment.ns;
    if (moment.kind == MomentKind::Bad || moment.kind == MomentKind::Skipped) {
      return fmt::format("{} \"{}\" is not a valid date and time", key, text.substr(0, 40));
    }
    return {};
  }

  ClockReader clock_;
  bool zone_is_named_;
};

bool recognises_philly_json(std::string_view head) {
  const size_t first = head.find_first_not_of(" \t\r\n");
  return first != head.npos && (head[first] == '[' || head[first] == '{') &&
         head.find("\"submitted_time\"") != head.npos && head.find("\"jobid\"") != head.npos;
}

base::Result<std::unique_ptr<ObjectParser>> open_philly_json(const FormatInput& input) {
  auto zone = base::TimeZone::load(input.options.site.zone);
  if (!zone) return base::failure(zone.error());
  return std::make_unique<PhillyParser>(std::move(*zone), input.options.site);
}

}  // namespace

const RecordFormat kPhillyJson = {
    .name = "philly-json",
    .header = "an array of {status, vc, jobid, user, submitted_time, attempts}",
    .layout = Layout::Json,
    .recognises_text = recognises_philly_json,
    .open_objects = open_philly_json,
};

}  // namespace goban::site::records
