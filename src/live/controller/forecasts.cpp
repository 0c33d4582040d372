#include "live/controller/forecasts.hpp"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "base/gzip.hpp"

namespace goban::live::controller {

using core::knowledge::DurationForecast;
using core::knowledge::DurationTraits;
using nlohmann::json;

namespace {

/// Below, nothing is predicted; a restart reads the history again.
constexpr uint64_t kRunsMin = 20;
/// Names are never removed from memory; jobs with names beyond are predicted from others.
constexpr size_t kNamesMax = 100'000;
constexpr const char* kField = "forecasts";
constexpr const char* kFormatField = "forecasts_format";
constexpr int32_t kFormat = core::knowledge::kDurationFormat;
constexpr std::array kTables = {&Forecasts::Names::users, &Forecasts::Names::accounts,
                                &Forecasts::Names::partitions, &Forecasts::Names::runs};

/// What jobs that do the same have in common: the model, else the name without its counters
/// ("train_17" is "train_#"), else the program.
std::string run_name(const job::JobSpec& spec) {
  if (!spec.model.empty()) return spec.model;
  if (spec.name.empty()) return spec.application;
  std::string out;
  for (const char c : spec.name) {
    const bool is_digit = c >= '0' && c <= '9';
    if (!is_digit) out += c;
    if (is_digit && (out.empty() || out.back() != '#')) out += '#';
  }
  return out;
}

template <typename NumberOf>
DurationTraits traits_with(const job::JobSpec& spec, const NumberOf& number) {
  DurationTraits out{.num_gpus = spec.num_gpus,
                     .limit_s = base::to_seconds(spec.walltime_limit_ns),
                     .script = spec.script_hash};
  out.user = core::model::UserId(number(&Forecasts::Names::users, job::full_name(spec.owner)));
  out.account = core::model::AccountId(number(&Forecasts::Names::accounts, spec.account));
  out.partition = core::model::PartitionId(number(&Forecasts::Names::partitions, spec.partition));
  out.name = core::model::ModelId(number(&Forecasts::Names::runs, run_name(spec)));
  return out;
}

bool has_run_time(const LiveJob& job) {
  return job.managed && job.held_ns > 0 && job.result != JobResult::NodeFailed &&
         job.result != JobResult::NeverRuns;
}

void put_names(std::string& out, const base::NameTable& names) {
  base::put_varint(out, names.size());
  for (size_t i = 0; i < names.size(); ++i) base::put_text(out, names[i]);
}

void get_names(base::ByteReader& in, base::NameTable& names) {
  const uint64_t count = in.varint();
  for (uint64_t i = 0; i < count && in.good(); ++i) names.intern(in.text());
}

}  // namespace

DurationTraits Forecasts::known_traits(const job::JobSpec& spec) const {
  return traits_with(spec, [this](auto names, const std::string& name) {
    // A stranger's number is one that no run has.
    return name.empty() ? UINT32_MAX : (names_.*names).find(name, UINT32_MAX - 1);
  });
}

DurationTraits Forecasts::traits(const job::JobSpec& spec) {
  return traits_with(spec, [this](auto names, const std::string& name) {
    base::NameTable& table = names_.*names;
    if (name.empty()) return UINT32_MAX;
    return table.size() < kNamesMax ? table.intern(name) : table.find(name);
  });
}

DurationForecast Forecasts::forecast(const job::JobSpec& spec) const {
  return open_.predict(known_traits(spec));
}

std::vector<job::PredictedRun> Forecasts::predict(const std::vector<job::JobSpec>& jobs) const {
  std::vector<job::PredictedRun> out;
  if (needs_past()) return out;
  DurationTraits before;
  for (const job::JobSpec& spec : jobs) {
    const DurationTraits known = known_traits(spec);
    if (!out.empty() && known == before) {
      out.push_back(out.back());
      continue;
    }
    before = known;
    const DurationForecast forecast = open_.predict(known);
    out.push_back({.run = forecast.for_core(), .basis = forecast.basis});
  }
  const bool alike =
      std::ranges::all_of(out, [&](const auto& each) { return each == out.front(); });
  if (alike && !out.empty()) out.resize(1);
  return out;
}

void Forecasts::submitted(const LiveJob& job) { open_.submitted(job.job, traits(job.spec)); }

void Forecasts::ended(const LiveJob& job) {
  if (!has_run_time(job)) return open_.withdrawn(job.job);
  open_.ended(job.job, base::to_seconds(job.held_ns));
}

bool Forecasts::needs_past() const { return open_.learned() < kRunsMin; }

void Forecasts::teach(const std::vector<EarlierJob>& past, const JobBook& book) {
  *this = {};
  std::vector<core::knowledge::EndedRun> runs;
  runs.reserve(past.size());
  for (const EarlierJob& each : past) {
    runs.push_back({.traits = traits(each.spec),
                    .submit_ns = each.submit_ns,
                    .end_ns = each.end_ns,
                    .run_s = base::to_seconds(each.held_ns)});
  }
  for (const auto& [id, job] : book.jobs) {
    if (job.stage != JobStage::Done || job.accounted || !has_run_time(job)) continue;
    runs.push_back({.traits = traits(job.spec),
                    .submit_ns = job.submit_ns,
                    .end_ns = job.end_ns,
                    .run_s = base::to_seconds(job.held_ns)});
  }
  open_.learn_past(std::move(runs));
  for (const auto& [id, job] : book.jobs) {
    if (job.stage != JobStage::Done && job.managed) submitted(job);
  }
}

void Forecasts::write(json& snapshot) const {
  std::string bytes;
  for (const auto names : kTables) put_names(bytes, names_.*names);
  bytes += open_.bytes();
  snapshot[kField] = base::base64(bytes);
  snapshot[kFormatField] = kFormat;
}

void Forecasts::read(base::FieldReader& snapshot) {
  if (snapshot.find(kField) == nullptr) return;  // of a release that predicted nothing
  std::string text;
  int32_t format = 1;
  snapshot.field(kField, text);
  snapshot.field(kFormatField, format, 1, kFormat);
  const std::string bytes = base::from_base64(text).value_or("");
  base::ByteReader in({reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()});
  for (const auto names : kTables) get_names(in, names_.*names);
  if (!in.good() || !open_.read(in, format)) snapshot.fail(kField, "is damaged");
}

}  // namespace goban::live::controller
