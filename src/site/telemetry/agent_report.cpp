#include "site/telemetry/agent_report.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/json_fields.hpp"
#include "base/reports/run_reports_json.hpp"

namespace goban::site::telemetry {

using base::FieldReader;
using nlohmann::json;

namespace {

constexpr double kIntervalMin_s = 0.1;
constexpr double kIntervalMax_s = 3600;
constexpr double kClockMax_s = 1e12;
constexpr int64_t kCountMax = INT64_MAX;
constexpr int32_t kIndexMax = 1023;

/// Visible ASCII without the separator of lists of software.
bool is_word(std::string_view text) {
  return text.size() <= kAgentWordMax && std::ranges::all_of(text, [](char c) {
           return c >= ' ' && c < '\x7f' && c != ';' && c != '"';
         });
}

void read_word(FieldReader& in, const char* name, std::string& value, bool may_be_empty) {
  in.field(name, value);
  if (!in.good()) return;
  if (!is_word(value)) in.fail(name, "is longer than 256 bytes or no plain text");
  if (value.empty() && !may_be_empty) in.fail(name, "is missing");
}

template <typename List>
void bound(FieldReader& in, const char* name, const List& list, size_t most) {
  if (in.good() && list.size() > most) in.fail(name, fmt::format("has more than {} entries", most));
}

void read_gpu(FieldReader& in, AgentGpu& gpu) {
  read_word(in, "index", gpu.index, false);
  read_word(in, "uuid", gpu.uuid, true);
  read_word(in, "name", gpu.name, true);
}

void read_readings(FieldReader& in, AgentSample& sample) {
  if (const json* values = in.find("values"); values != nullptr) {
    if (!values->is_object()) return in.fail("values", "must be an object");
    for (const auto& [name, value] : values->items()) {
      const auto metric = series::parse_metric(name);
      if (!metric || !value.is_number() || !std::isfinite(value.get<double>())) {
        return in.fail("values", "is no metric with a number");
      }
      const double number = value.get<double>();
      const series::MetricInfo& facts = series::info(*metric);
      // What a run used is a sum of them, and stands in the journal: it has bounds, too.
      if (number < 0 || number > facts.quantum * facts.code_max) continue;
      sample.readings.push_back({*metric, {.state = series::State::Value, .value = number}});
    }
  }
  std::vector<std::string> none;
  in.field("not_available", none);
  bound(in, "not_available", none, series::metrics().size());
  for (const std::string& name : none) {
    const auto metric = series::parse_metric(name);
    if (!metric) return in.fail("not_available", "is no metric");
    sample.readings.push_back({*metric, {.state = series::State::NotAvailable, .value = 0}});
  }
}

void read_job(FieldReader& in, AgentJob& job) {
  read_word(in, "id", job.id, false);
  in.field("uid", job.uid, uint32_t{0}, UINT32_MAX);
  in.field("gpus", job.gpus, 0, kIndexMax);
  in.field("software", job.software);
  bound(in, "gpus", job.gpus, kAgentGpusMax);
  bound(in, "software", job.software, kAgentSoftwareMax);
  for (const std::string& name : job.software) {
    if (in.good() && (name.empty() || !is_word(name))) in.fail("software", "is no plain name");
  }
  in.object("progress", [&](FieldReader& part) {
    base::reports::RunProgress progress;
    base::reports::read_fields(part, progress);
    bound(part, "ranks", progress.ranks, base::reports::kRanksMax);
    std::erase_if(progress.ranks, [](const base::reports::RankTimes& each) {
      return each.rank >= each.ranks || each.ranks > base::reports::kRanksMax;
    });
    if (part.good()) job.progress = std::move(progress);
  });
}

json sample_json(const AgentSample& sample) {
  json out = {{"age_s", sample.age_s}};
  if (!sample.gpu.empty()) out["gpu"] = sample.gpu;
  for (const auto& [metric, reading] : sample.readings) {
    const std::string name(series::info(metric).name);
    if (reading.state == series::State::Value) out["values"][name] = reading.value;
    if (reading.state == series::State::NotAvailable) out["not_available"].push_back(name);
  }
  return out;
}

json job_json(const AgentJob& job) {
  json out = {{"id", job.id}, {"uid", job.uid}};
  if (!job.gpus.empty()) out["gpus"] = job.gpus;
  if (!job.software.empty()) out["software"] = job.software;
  if (job.progress) out["progress"] = base::reports::to_json(*job.progress);
  return out;
}

}  // namespace

std::string to_json(const AgentReport& report) {
  json out = {
      {"agent", report.agent},     {"sequence", report.sequence}, {"interval_s", report.interval_s},
      {"clock_s", report.clock_s}, {"gpus", json::array()},       {"samples", json::array()},
      {"jobs", json::array()}};
  if (report.dropped > 0) out["dropped"] = report.dropped;
  if (!report.problem.empty()) out["problem"] = report.problem.substr(0, kAgentWordMax);
  for (const AgentGpu& gpu : report.gpus) {
    out["gpus"].push_back({{"index", gpu.index}, {"uuid", gpu.uuid}, {"name", gpu.name}});
  }
  for (const AgentSample& sample : report.samples) out["samples"].push_back(sample_json(sample));
  for (const AgentJob& job : report.jobs) out["jobs"].push_back(job_json(job));
  return out.dump(-1, ' ', true, json::error_handler_t::replace);
}

base::Result<AgentReport> parse_agent_report(std::string_view text) {
  const auto document = base::parse_json(text, "the report of an agent");
  if (!document) return base::failure(document.error());
  AgentReport report;
  FieldReader in(*document, "");
  read_word(in, "agent", report.agent, false);
  in.field("sequence", report.sequence, int64_t{0}, kCountMax);
  in.field("interval_s", report.interval_s, kIntervalMin_s, kIntervalMax_s);
  in.field("clock_s", report.clock_s, 0.0, kClockMax_s);
  in.field("dropped", report.dropped, int64_t{0}, kCountMax);
  // A driver's own words: anything printable.
  in.field("problem", report.problem);
  report.problem.resize(std::min(report.problem.size(), kAgentWordMax));
  std::ranges::replace_if(report.problem, [](char c) { return c < ' ' || c == '\x7f'; }, ' ');
  in.list("gpus", [&](FieldReader& part) { read_gpu(part, report.gpus.emplace_back()); });
  in.list("samples", [&](FieldReader& part) {
    AgentSample& sample = report.samples.emplace_back();
    read_word(part, "gpu", sample.gpu, true);
    part.field("age_s", sample.age_s, 0.0, kAgentAgeMax_s);
    read_readings(part, sample);
  });
  in.list("jobs", [&](FieldReader& part) { read_job(part, report.jobs.emplace_back()); });
  bound(in, "gpus", report.gpus, kAgentGpusMax);
  bound(in, "samples", report.samples, kAgentSamplesMax);
  bound(in, "jobs", report.jobs, kAgentJobsMax);
  // Fields of a later agent are ignored: node and daemon are not renewed at the same time.
  if (auto status = in.status("the report of an agent"); !status) {
    return base::failure(status.error());
  }
  return report;
}

}  // namespace goban::site::telemetry
