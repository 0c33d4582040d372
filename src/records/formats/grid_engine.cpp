// Format `grid-engine`: the accounting file of SGE, Univa/Altair Grid Engine (man 5 accounting).
// Fields with colons between, 43 to 74 of them; `#` begins a comment. Used, by number from 1:
//
//    1 queue (partition)  2 host  3 group  4 owner  6 job  7 account  8 priority
//    9, 10, 11 submission, start, end: seconds, or milliseconds since UGE 8.2 (told by magnitude)
//   12 failed: 37 = a limit was enforced, 100 = killed by a signal, 24, 25 = rescheduled
//   13 exit status: above 128 = signal     14 ru_wallclock is not used: its unit differs
//   32 project (account if not NONE)  34 parallel environment  35 slots (cores)  36 array task
//   37 CPU seconds  40 category: `-l gpu=2,h_rt=3600 -pe mpi 8 -I y`: GPUs, limit, interactive
//   42 pe_taskid: not NONE = a task on another host of a parallel job
//   43 maxvmem  44 reservation  47 qdel_info (who deleted it)
//
// A parallel job has a line for each host if its environment says accounting_summary FALSE: they
// are merged by job and array task, whichever comes first; the job waits kWindow lines for them.
// Further lines of the same job with another start are reruns.
#include <algorithm>
#include <array>
#include <deque>
#include <fmt/format.h>
#include <map>
#include <unordered_map>

#include "base/number.hpp"
#include "records/clock_reader.hpp"
#include "records/gpu_resources.hpp"
#include "records/record_format.hpp"
#include "records/run_counter.hpp"
#include "records/slurm_fields.hpp"

namespace goban::records {
namespace {

using base::TimeNs;

enum Field : size_t {
  kQueue = 0,
  kHost = 1,
  kGroup = 2,
  kOwner = 3,
  kJobName = 4,
  kJob = 5,
  kAccount = 6,
  kPriority = 7,
  kSubmit = 8,
  kStart = 9,
  kEnd = 10,
  kFailed = 11,
  kExit = 12,
  kProject = 31,
  kPe = 33,
  kSlots = 34,
  kTask = 35,
  kCpu = 36,
  kCategory = 39,
  kPeTask = 41,
  kMaxVmem = 42,
  kReservation = 43,
  kQdelInfo = 46,
  kMaxRss = 47,
  kSubmitCommand = 51,
};
constexpr size_t kFieldsMin = 43;
constexpr size_t kFieldsUge = 46;

using Fields = std::vector<std::string_view>;

/// What follows the category, `shift` fields further back, is as it should be: iow, pe_taskid,
/// maxvmem.
bool fits_behind_category(const Fields& fields, size_t shift) {
  if (kMaxVmem + shift >= fields.size()) return false;
  const std::string_view task = fields[kPeTask + shift];
  const bool is_task = task == "NONE" || task == "none" ||
                       (task.find('.') != task.npos && task.find(' ') == task.npos);
  return is_task && base::parse_double(fields[kCategory + 1 + shift]) &&
         base::parse_double(fields[kMaxVmem + shift]);
}

void split(std::string_view line, Fields& fields) {
  fields.clear();
  size_t begin = 0;
  for (size_t colon = line.find(':'); colon != line.npos; colon = line.find(':', begin)) {
    fields.push_back(line.substr(begin, colon - begin));
    begin = colon + 1;
  }
  fields.push_back(line.substr(begin));
  // A colon in the category (h_rt=1:00:00) is not masked by every version.
  constexpr size_t kColonsMax = 16;
  size_t shift = 0;
  while (shift <= kColonsMax && !fits_behind_category(fields, shift)) ++shift;
  if (shift == 0 || shift > kColonsMax) return;
  const char* const first = fields[kCategory].data();
  const std::string_view last = fields[kCategory + shift];
  fields[kCategory] = {first, static_cast<size_t>(last.data() + last.size() - first)};
  const auto behind = fields.begin() + kCategory + 1;
  fields.erase(behind, behind + static_cast<std::ptrdiff_t>(shift));
}

bool is_digits(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == text.npos;
}

std::string_view unless_none(std::string_view text) {
  return text == "NONE" || text == "none" ? std::string_view() : text;
}

/// What the category says: `-l a=1,b=2 -pe mpi 8 -I y -q gpu.q`.
struct Category {
  int64_t gpus = 0;
  bool has_gpus = false;
  CountedBy counted_by = CountedBy::Job;
  std::string_view resource_type;
  int64_t instances = 0;
  std::optional<TimeNs> limit_ns;
  bool interactive = false;
};

void take_resources(std::string_view list, const GpuResources& known, Category& out) {
  while (!list.empty()) {
    const size_t comma = std::min(list.find(','), list.size());
    const std::string_view item = list.substr(0, comma);
    list.remove_prefix(std::min(comma + 1, list.size()));
    const size_t equals = std::min(item.find('='), item.size());
    const std::string_view name = item.substr(0, equals);
    const std::string_view value = equals < item.size() ? item.substr(equals + 1) : "1";
    if (name == "h_rt") out.limit_ns = parse_slurm_span(value.substr(0, value.find('.')));
    const GpuResource* const resource = known.find(name);
    if (resource == nullptr) continue;
    constexpr double kAmountMax = 1e6;
    const auto amount = base::parse_double(value);
    if (!amount || !(*amount > 0 && *amount <= kAmountMax)) continue;
    const auto whole = static_cast<int64_t>(*amount);
    out.gpus += whole * resource->gpus;
    out.has_gpus = true;
    out.counted_by = resource->counted_by;
    if (resource->resource_type.empty()) continue;
    out.resource_type = resource->resource_type;
    out.instances = whole;
  }
}

Category parse_category(std::string_view text, const GpuResources& known) {
  Category out;
  std::string_view option;
  while (!text.empty()) {
    const size_t blank = std::min(text.find(' '), text.size());
    const std::string_view word = text.substr(0, blank);
    text.remove_prefix(std::min(blank + 1, text.size()));
    if (word.empty()) continue;
    if (word.front() == '-') {
      option = word;
      if (word == "-soft") break;
      continue;
    }
    if (option == "-l") take_resources(word, known, out);
    if (option == "-I") out.interactive = word == "y";
  }
  return out;
}

JobState state_of(int64_t failed, int64_t exit, TimeNs run_ns, std::optional<TimeNs> limit_ns,
                  bool deleted) {
  constexpr int64_t kLimitEnforced = 37;
  constexpr int64_t kBySignal = 100;
  constexpr int64_t kKilled = 128 + 9;
  constexpr int64_t kTerminated = 128 + 15;
  if (failed == 0) return exit == 0 ? JobState::Completed : JobState::Failed;
  if (failed == kLimitEnforced) return JobState::TimedOut;
  if (failed == 24 || failed == 25) return JobState::Requeued;
  if (failed != kBySignal) return JobState::Failed;
  if (limit_ns && run_ns >= *limit_ns) return JobState::TimedOut;
  return deleted || exit == kKilled || exit == kTerminated ? JobState::Cancelled : JobState::Failed;
}

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
    const bool is_task = fields_.size() >= kFieldsMin && !unless_none(fields_[kPeTask]).empty();
    if (!is_task) out.count_record();
    if (std::string problem = check(); !problem.empty()) {
      if (is_task) out.count_record();
      return out.reject(line.number, problem, line.text);
    }
    const Key key = key_of(fields_);
    const Span span{clock_.read(fields_[kStart]).ns, clock_.read(fields_[kEnd]).ns};
    if (is_task) return take_task(key, span, line.number);
    if (Waiting* same = find_waiting(key, span, true); same != nullptr) {
      // Another host of the same run; the same host again is a record that came twice.
      if (std::ranges::find(same->hosts, fields_[kHost]) != same->hosts.end()) {
        return out.reject(line.number,
                          fmt::format("job {} with this start was used before", id_of(key)),
                          line.text);
      }
      same->hosts.emplace_back(fields_[kHost]);
      return;
    }
    Waiting job;
    job.line = line.number;
    job.text = line.text;
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

  void finish(RecordOutput& out) override {
    while (!waiting_.empty()) put_first(out);
    for (const auto& [key, tasks] : lone_tasks_) {
      for (const Task& task : tasks) {
        out.count_record();
        out.reject(task.line,
                   fmt::format("a task of job {} on {}, whose own record is missing", id_of(key),
                               task.host),
                   "");
      }
    }
  }

  bool has_walltimes() const override { return true; }
  std::vector<std::string> notes() const override {
    std::vector<std::string> out;
    if (merged_ > 0) {
      out.push_back(fmt::format("{} lines of other hosts were merged into their jobs", merged_));
    }
    if (!any_gpus_) {
      out.emplace_back(
          "no record asks for a resource that means GPUs (gpu, gpus, ngpus, rt_F, ...): name the "
          "site's");
    }
    return out;
  }

 private:
  static constexpr int64_t kWindow = 10'000;
  using Key = std::pair<int64_t, int64_t>;  ///< job, array task

  struct Span {
    TimeNs start_ns;
    TimeNs end_ns;
  };
  struct Task {
    int64_t line;
    std::string host;
    Span span;
  };
  /// A job that lines of other hosts may still belong to.
  struct Waiting {
    int64_t line = 0;
    std::string text;
    Span span{};
    std::vector<std::string> hosts;
    Key key;
    int64_t until = 0;
  };

  static Key key_of(const Fields& fields) {
    return {base::parse_int(fields[kJob]).value_or(0), base::parse_int(fields[kTask]).value_or(0)};
  }
  static std::string id_of(const Key& key) {
    return key.second == 0 ? fmt::format("{}", key.first)
                           : fmt::format("{}.{}", key.first, key.second);
  }

  [[nodiscard]] std::string check() {
    if (fields_.size() < kFieldsMin) {
      return fmt::format("{} fields instead of {} or more", fields_.size(), kFieldsMin);
    }
    constexpr std::array kWhole = {
        std::pair{kJob, "job_number"},   std::pair{kFailed, "failed"},
        std::pair{kExit, "exit_status"}, std::pair{kSlots, "slots"},
        std::pair{kTask, "task_number"},
    };
    for (const auto& [field, name] : kWhole) {
      const auto value = base::parse_int(fields_[field]);
      if (!value || *value < 0 || *value > INT32_MAX) {
        return fmt::format("{} \"{}\" is no count", name, fields_[field].substr(0, 40));
      }
    }
    constexpr std::array kTimes = {std::pair{kSubmit, "submission_time"},
                                   std::pair{kStart, "start_time"}, std::pair{kEnd, "end_time"}};
    for (const auto& [field, name] : kTimes) {
      if (clock_.read(fields_[field]).kind == MomentKind::Bad) {
        return fmt::format("{} \"{}\" is no time", name, fields_[field].substr(0, 40));
      }
    }
    return {};
  }

  void take_task(const Key& key, const Span& span, int64_t line) {
    Waiting* job = find_waiting(key, span, false);
    const std::string host(fields_[kHost]);
    if (job == nullptr) {
      lone_tasks_[key].push_back({line, host, span});
      return;
    }
    ++merged_;
    add_host(*job, host);
  }

  static void add_host(Waiting& job, const std::string& host) {
    if (std::ranges::find(job.hosts, host) == job.hosts.end()) job.hosts.push_back(host);
  }

  /// The waiting job of that key in whose run the span lies (or that started in the same moment).
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
      if (!contains(job.span, task.span)) return false;
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
  int64_t lines_ = 0;
  std::deque<Waiting> waiting_;
  size_t first_waiting_ = 0;  ///< number of the first one; numbers go on
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
  record.run = runs_.add({}, record.id, record.start_ns);
  if (record.run == RunCounter::kSeenBefore) {
    return out.reject(job.line, fmt::format("job {} with this start was used before", id),
                      job.text);
  }
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
  if (!has_run && record.state == JobState::Completed) record.state = JobState::Cancelled;
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

bool recognises(std::string_view line) {
  if (line.starts_with("# Version")) return true;
  Fields fields;
  split(line, fields);
  return fields.size() >= kFieldsMin && is_digits(fields[kJob]) && is_digits(fields[kSubmit]) &&
         is_digits(fields[kStart]) && is_digits(fields[kEnd]) && is_digits(fields[kFailed]);
}

base::Result<std::unique_ptr<LineParser>> open(const FormatInput& input, std::string_view) {
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
    .header = "no header line: 43 to 74 fields with colons between, comments behind #",
    .layout = Layout::Lines,
    .recognises_text = recognises,
    .open_lines = open,
};

}  // namespace goban::records
