// Format `grid-engine`: the accounting file of SGE, Univa/Altair Grid Engine (man 5 accounting).
// 43 to 74 fields separated by colons; `#` starts a comment. Fields used, numbered from 1:
//
//    1 queue (partition)  2 host  3 group  4 owner  6 job  7 account  8 priority
//    9, 10, 11 submission, start, end: seconds, or milliseconds since UGE 8.2 (by magnitude)
//   12 failed: 37 = a limit was enforced, 100 = killed by a signal, 24, 25 = rescheduled
//   13 exit status: above 128 = signal     14 ru_wallclock: only if the site states its unit
//   32 project (account if not NONE)  34 parallel environment  35 slots (cores)  36 array task
//   37 CPU seconds  40 category: `-l gpu=2,h_rt=3600 -pe mpi 8 -I y`: GPUs, limit, interactive
//   42 pe_taskid: not NONE = a task on another host of a parallel job
//   43 maxvmem  44 reservation  47 qdel_info (user who deleted it)
//
// A parallel job has a line for each host if its environment has accounting_summary FALSE. These
// lines are merged by job and array task, in any order; a job waits for them for kWindow lines.
// Further lines of the same job with another start are reruns.
//
// Damaged lines are rejected: more than 74 fields (two lines in one), a text where a number must
// be, a task or host line of another owner or name than its job, and a line with fewer fields than
// the lines before and after it (torn; only below 52 fields, as submit commands may contain
// colons).
#include <algorithm>
#include <array>
#include <deque>
#include <fmt/format.h>
#include <map>

#include "base/counted.hpp"
#include "base/number.hpp"
#include "site/records/clock_reader.hpp"
#include "site/records/formats/grid_engine_fields.hpp"
#include "site/records/gpu_resources.hpp"
#include "site/records/record_format.hpp"
#include "site/records/run_counter.hpp"

namespace goban::site::records {
namespace {

using base::TimeNs;
using namespace formats;  // the fields

class GridEngineParser final : public LineParser {
 public:
  GridEngineParser(base::TimeZone zone, GpuResources resources, const SiteOptions& site)
      : clock_(std::move(zone)), resources_(std::move(resources)), site_(site) {}

  void take(const base::Line& line, RecordOutput& out) override {
    if (line.text.size() <= 1 || line.text.front() == '#') return;
    flush_old(out);
    ++lines_;
    if (line.too_long) {
      out.count_record();
      return out.reject(line.number, "the line is longer than 1 MiB", line.text);
    }
    split(line.text, fields_);
    const size_t count = fields_.size();
    settle_short(count, out);
    if (std::string problem = damage_of(fields_); !problem.empty()) {
      out.count_record();
      return out.reject(line.number, problem, line.text);
    }
    if (count < num_fields_ && count <= kSubmitCommand) {
      short_ = {line.number, std::string(line.text), count};
      return;
    }
    num_fields_ = count;
    take_line(line.number, line.text, out);
  }

  void finish(RecordOutput& out) override {
    settle_short(0, out);
    while (!waiting_.empty()) put_first(out);
    for (const auto& [key, tasks] : lone_tasks_) {
      for (const Task& task : tasks) {
        out.count_record();
        out.reject(
            task.line,
            fmt::format("a task of job {} on {}, but the job has no record", id_of(key), task.host),
            "");
      }
    }
  }

  bool has_walltimes() const override { return true; }
  std::vector<std::string> notes() const override {
    std::vector<std::string> out;
    if (merged_ > 0) {
      out.push_back(base::counted(merged_, "line of another host was merged into its job",
                                  "lines of other hosts were merged into their jobs"));
    }
    if (!any_gpus_) {
      out.emplace_back(
          "no record requests a GPU resource (gpu, gpus, ngpus, rt_F, ...): "
          "name those of the site with --gpu-resource");
    }
    return out;
  }

 private:
  static constexpr int64_t kWindow = 10'000;
  static constexpr double kWallclockMax = 1e12;  // 30 years in milliseconds
  using Key = std::pair<int64_t, int64_t>;       ///< job, array task

  struct Span {
    TimeNs start_ns;
    TimeNs end_ns;
  };
  struct Task {
    int64_t line;
    std::string host;
    std::string whose;
    Span span;
  };
  /// A job to which lines of other hosts may still be added.
  struct Waiting {
    int64_t line = 0;
    std::string text;
    std::string whose;
    Span span{};
    std::vector<std::string> hosts;
    Key key;
    int64_t until = 0;
  };
  /// A line with fewer fields than the one before it; the line after it shows whether it is torn.
  struct Short {
    int64_t line = 0;
    std::string text;
    size_t count = 0;
  };

  /// Takes the short line if the next line has `count` fields too (an older version's part of the
  /// file), and otherwise rejects it.
  void settle_short(size_t count, RecordOutput& out) {
    if (!short_) return;
    const Short held = std::move(*short_);
    short_.reset();
    if (held.count == count) {
      num_fields_ = count;
      Fields next;
      next.swap(fields_);
      split(held.text, fields_);
      take_line(held.line, held.text, out);
      fields_.swap(next);
      return;
    }
    out.count_record();
    out.reject(
        held.line,
        fmt::format("{} fields between lines of {}: the line is torn", held.count, num_fields_),
        held.text);
  }

  /// Takes the line in fields_.
  void take_line(int64_t line, std::string_view text, RecordOutput& out) {
    const bool is_task = !unless_none(fields_[kPeTask]).empty();
    if (!is_task) out.count_record();
    if (std::string problem = check(); !problem.empty()) {
      if (is_task) out.count_record();
      return out.reject(line, problem, text);
    }
    const Key key = key_of(fields_);
    const Span span = span_of_line();
    if (is_task) return take_task(key, span, line, text, out);
    if (Waiting* same = find_waiting(key, span, true); same != nullptr) {
      // Another host of the same run; the same host again is a duplicate record.
      if (same->whose != whose_line()) return out.reject(line, of_another(key), text);
      if (std::ranges::find(same->hosts, fields_[kHost]) != same->hosts.end()) {
        return out.reject(line, fmt::format("job {} with this start was used before", id_of(key)),
                          text);
      }
      same->hosts.emplace_back(fields_[kHost]);
      return;
    }
    Waiting job;
    job.line = line;
    job.text = text;
    job.whose = whose_line();
    job.span = span;
    job.hosts.emplace_back(fields_[kHost]);
    adopt_tasks(key, job);
    const bool may_have_tasks = !unless_none(fields_[kPe]).empty();
    if (!may_have_tasks) return put(job, key, out);
    waiting_by_key_[key].push_back(first_waiting_ + waiting_.size());
    job.key = key;
    job.until = lines_ + kWindow;
    waiting_.push_back(std::move(job));
  }

  /// Owner and name of the job, which all of its lines share.
  [[nodiscard]] std::string whose_line() const {
    return fmt::format("{}:{}", fields_[kOwner], fields_[kJobName]);
  }
  static std::string of_another(const Key& key) {
    return fmt::format("the owner or the name differs from that of job {}: the line is damaged",
                       id_of(key));
  }

  static Key key_of(const Fields& fields) {
    return {base::parse_int(fields[kJob]).value_or(0), base::parse_int(fields[kTask]).value_or(0)};
  }
  static std::string id_of(const Key& key) {
    return key.second == 0 ? fmt::format("{}", key.first)
                           : fmt::format("{}.{}", key.first, key.second);
  }

  [[nodiscard]] std::string check() {
    constexpr std::array kWhole = {
        std::pair{kJob, "job_number"},   std::pair{kFailed, "failed"},
        std::pair{kExit, "exit_status"}, std::pair{kSlots, "slots"},
        std::pair{kTask, "task_number"},
    };
    for (const auto& [field, name] : kWhole) {
      const auto value = base::parse_int(fields_[field]);
      if (!value || *value < 0 || *value > INT32_MAX) {
        return fmt::format("{} \"{}\" is not an integer >= 0", name, fields_[field].substr(0, 40));
      }
    }
    constexpr std::array kTimes = {std::pair{kSubmit, "submission_time"},
                                   std::pair{kStart, "start_time"}, std::pair{kEnd, "end_time"}};
    for (const auto& [field, name] : kTimes) {
      if (clock_.read(fields_[field]).kind == MomentKind::Bad) {
        return fmt::format("{} \"{}\" is not a valid time", name, fields_[field].substr(0, 40));
      }
    }
    if (site_.run_time != GridRunTime::EndMinusStart) {
      const auto wallclock = base::parse_double(fields_[kWallclock]);
      if (!wallclock || !(*wallclock >= 0 && *wallclock <= kWallclockMax)) {
        return fmt::format("ru_wallclock \"{}\" is not a valid run time",
                           fields_[kWallclock].substr(0, 40));
      }
    }
    return {};
  }

  [[nodiscard]] Span span_of_line() {
    Span span{clock_.read(fields_[kStart]).ns, clock_.read(fields_[kEnd]).ns};
    if (site_.run_time != GridRunTime::EndMinusStart && span.start_ns >= 0 && span.end_ns >= 0) {
      const double unit_s = site_.run_time == GridRunTime::WallclockMilliseconds ? 1e-3 : 1;
      span.end_ns =
          span.start_ns +
          base::from_seconds(base::parse_double(fields_[kWallclock]).value_or(0) * unit_s);
    }
    return span;
  }

  void take_task(const Key& key, const Span& span, int64_t line, std::string_view text,
                 RecordOutput& out) {
    Waiting* job = find_waiting(key, span, false);
    const std::string host(fields_[kHost]);
    if (job == nullptr) {
      lone_tasks_[key].push_back({line, host, whose_line(), span});
      return;
    }
    if (job->whose != whose_line()) {
      out.count_record();
      return out.reject(line, of_another(key), text);
    }
    ++merged_;
    add_host(*job, host);
  }

  static void add_host(Waiting& job, const std::string& host) {
    if (std::ranges::find(job.hosts, host) == job.hosts.end()) job.hosts.push_back(host);
  }

  /// The waiting job with that key whose run contains the start of the span (or has the same
  /// start).
  Waiting* find_waiting(const Key& key, const Span& span, bool same_start) {
    const auto found = waiting_by_key_.find(key);
    if (found == waiting_by_key_.end()) return nullptr;
    for (const size_t number : found->second) {
      Waiting& job = waiting_[number - first_waiting_];
      if (same_start ? job.span.start_ns == span.start_ns : contains(job.span, span)) return &job;
    }
    return nullptr;
  }
  static bool contains(const Span& job, const Span& task) {
    return task.start_ns >= job.start_ns && task.start_ns <= job.end_ns;
  }

  void adopt_tasks(const Key& key, Waiting& job) {
    const auto found = lone_tasks_.find(key);
    if (found == lone_tasks_.end()) return;
    std::erase_if(found->second, [&](const Task& task) {
      if (!contains(job.span, task.span) || task.whose != job.whose) return false;
      ++merged_;
      add_host(job, task.host);
      return true;
    });
    if (found->second.empty()) lone_tasks_.erase(found);
  }

  void flush_old(RecordOutput& out) {
    while (!waiting_.empty() && waiting_.front().until <= lines_) put_first(out);
  }
  void put_first(RecordOutput& out) {
    const Waiting job = std::move(waiting_.front());
    const auto found = waiting_by_key_.find(job.key);
    std::erase(found->second, first_waiting_);
    if (found->second.empty()) waiting_by_key_.erase(found);
    waiting_.pop_front();
    ++first_waiting_;
    put(job, job.key, out);
  }

  void put(const Waiting& job, const Key& key, RecordOutput& out);
  void set_end(const Category& category, AccountingRecord& record) const;
  void set_size(const Category& category, const Waiting& job, AccountingRecord& record);

  ClockReader clock_;
  GpuResources resources_;
  const SiteOptions& site_;
  RunCounter runs_;
  Fields fields_;
  size_t num_fields_ = 0;  ///< of the last complete line
  std::optional<Short> short_;
  int64_t lines_ = 0;
  std::deque<Waiting> waiting_;
  size_t first_waiting_ = 0;  ///< number of waiting_.front(); numbers keep increasing
  std::map<Key, std::vector<size_t>> waiting_by_key_;
  std::map<Key, std::vector<Task>> lone_tasks_;
  int64_t merged_ = 0;
  bool any_gpus_ = false;
};

void GridEngineParser::put(const Waiting& job, const Key& key, RecordOutput& out) {
  split(job.text, fields_);
  const Category category = parse_category(fields_[kCategory], resources_);
  const std::string id = id_of(key);
  AccountingRecord record;
  record.line = job.line;
  record.id = id;
  record.job_number = key.first;
  record.array_task = key.second == 0 ? -1 : key.second;
  record.partition = fields_[kQueue];
  record.group = fields_[kGroup];
  record.user = fields_[kOwner];
  record.account = unless_none(fields_[kProject]);
  if (record.account.empty()) record.account = unless_none(fields_[kAccount]);
  record.submit_ns = clock_.read(fields_[kSubmit]).ns;
  record.start_ns = job.span.start_ns;
  record.end_ns = job.span.end_ns;
  record.walltime_limit_ns = category.limit_ns.value_or(0);
  const std::string_view name = fields_[kJobName];
  const bool is_login = name == "QLOGIN" || name == "QRLOGIN" || name == "INTERACTIVE";
  record.kind = category.interactive || is_login ? JobKind::Interactive : JobKind::Batch;
  if (site_.keep_job_names) record.job_name = name;
  if (site_.keep_command_lines && fields_.size() > kSubmitCommand) {
    record.command_line = fields_[kSubmitCommand];
  }
  if (const auto priority = base::parse_int(fields_[kPriority])) {
    record.priority = static_cast<int32_t>(std::clamp<int64_t>(*priority, INT32_MIN, INT32_MAX));
  }
  if (fields_.size() > kReservation && fields_[kReservation] != "0") {
    record.reservation = unless_none(fields_[kReservation]);
  }
  std::string hosts;
  for (const std::string& host : job.hosts) hosts += (hosts.empty() ? "" : ",") + host;
  record.node_list = hosts;
  set_end(category, record);
  set_size(category, job, record);
  const int32_t run = runs_.add({}, record.id, std::max(record.start_ns, record.submit_ns));
  if (run == RunCounter::kSeenBefore) {
    return out.reject(job.line, fmt::format("job {} with this start was used before", id),
                      job.text);
  }
  if (record.start_ns >= 0) record.run = run;
  out.put(record, job.text);
}

void GridEngineParser::set_end(const Category& category, AccountingRecord& record) const {
  const int64_t failed = base::parse_int(fields_[kFailed]).value_or(0);
  const int64_t exit = base::parse_int(fields_[kExit]).value_or(0);
  constexpr int64_t kSignals = 128;
  record.failed_code = static_cast<int32_t>(failed);
  record.exit_code = static_cast<int32_t>(exit);
  record.signal = exit > kSignals ? static_cast<int32_t>(exit - kSignals) : 0;
  const bool has_run = record.start_ns >= 0 && record.end_ns >= 0;
  const TimeNs run_ns = has_run ? record.end_ns - record.start_ns : 0;
  const bool deleted = fields_.size() > kQdelInfo && !unless_none(fields_[kQdelInfo]).empty() &&
                       fields_.size() >= kFieldsUge;
  record.state = state_of(failed, exit, run_ns, category.limit_ns, deleted);
  if (!has_run && record.state == RecordedState::Completed) record.state = RecordedState::Cancelled;
}

void GridEngineParser::set_size(const Category& category, const Waiting& job,
                                AccountingRecord& record) {
  const int64_t slots = base::parse_int(fields_[kSlots]).value_or(0);
  const auto hosts = static_cast<int64_t>(job.hosts.size());
  const bool one_host = unless_none(fields_[kPe]).empty() || slots <= 1;
  record.cpu_cores = slots;
  record.resource_type = category.resource_type;
  record.type_may_be_left_out = true;
  record.instances = category.instances;
  if (hosts > 1 || one_host) record.num_nodes = hosts;
  if (record.num_nodes < category.instances && !category.resource_type.empty()) {
    record.num_nodes = category.instances;
  }
  const int64_t factor = category.counted_by == CountedBy::Slot   ? std::max<int64_t>(slots, 1)
                         : category.counted_by == CountedBy::Host ? hosts
                                                                  : 1;
  record.num_gpus = category.gpus * factor;
  any_gpus_ |= category.gpus > 0;
  if (const auto cpu_s = base::parse_double(fields_[kCpu]); cpu_s && *cpu_s >= 0) {
    record.usage.cpu_s = *cpu_s;
  }
  const bool has_rss = fields_.size() > kMaxRss;
  const auto mem = base::parse_double(fields_[has_rss ? kMaxRss : kMaxVmem]);
  constexpr double kMemMax = 1e18;
  if (mem && *mem > 0 && *mem < kMemMax) record.usage.mem_bytes_max = static_cast<int64_t>(*mem);
}

bool is_digits(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == text.npos;
}

bool recognises_grid_engine(std::string_view line) {
  if (line.starts_with("# Version")) return true;
  Fields fields;
  split(line, fields);
  return fields.size() >= kFieldsMin && is_digits(fields[kJob]) && is_digits(fields[kSubmit]) &&
         is_digits(fields[kStart]) && is_digits(fields[kEnd]) && is_digits(fields[kFailed]);
}

base::Result<std::unique_ptr<LineParser>> open_grid_engine(const FormatInput& input,
                                                           std::string_view) {
  auto zone = base::TimeZone::load(input.options.site.zone);
  if (!zone) return base::failure(zone.error());
  auto resources = GpuResources::parse(input.options.site.gpu_resources);
  if (!resources) return base::failure(resources.error());
  return std::make_unique<GridEngineParser>(std::move(*zone), std::move(*resources),
                                            input.options.site);
}

}  // namespace

const RecordFormat kGridEngine = {
    .name = "grid-engine",
    .header = "no header line: 43 to 74 fields separated by colons, comments after #",
    .layout = Layout::Lines,
    .recognises_text = recognises_grid_engine,
    .open_lines = open_grid_engine,
};

}  // namespace goban::site::records
