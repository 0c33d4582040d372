// Format `slurm`: what `sacct --parsable2` (or -p, any --delimiter) prints, by its header line in
// any order of columns, or without one in the 26 columns of XDMoD (slurm_header.hpp).
//
// A job is its allocation line. Step lines (ID.batch, ID.0, ...; left out by -X) follow it and give
// what only they have: batch or interactive, high-water marks, memory. Runs of a requeued job (-D)
// are records of their own, told by their start; a record that comes twice is refused.
//
// GPUs: AllocTRES `gres/gpu` counts, else its typed entries, which name the same GPUs; else
// AllocGRES; else, where the accounting does not count GPUs, SiteOptions::gpus_per_node by
// partition. ReqTRES is only used if there is no AllocTRES at all: --exclusive gives more than was
// asked for. Memory: AllocTRES, else ReqMem (n = a node, c = a core; a high bit marks memory a
// core). Kind: SubmitLine (salloc, srun = interactive; sbatch = batch), else steps, else unknown.
// Names of jobs and submit lines are users' own data: not kept unless asked for.
#include <algorithm>
#include <fmt/format.h>
#include <unordered_map>

#include "base/number.hpp"
#include "records/clock_reader.hpp"
#include "records/formats/slurm_header.hpp"
#include "records/jobstats.hpp"
#include "records/record_format.hpp"
#include "records/run_counter.hpp"
#include "records/slurm_fields.hpp"

namespace goban::records {
namespace {

using enum SlurmColumn;
using base::TimeNs;

/// GPUs of a node by partition, from `name=count`.
using GpusPerNode = std::unordered_map<std::string_view, int64_t>;

base::Result<GpusPerNode> parse_gpus_per_node(const std::vector<std::string>& entries) {
  constexpr int64_t kGpusMax = 1 << 16;
  GpusPerNode table;
  for (const std::string& entry : entries) {
    const size_t equals = entry.rfind('=');
    const auto count = equals == std::string::npos
                           ? std::nullopt
                           : base::parse_int(std::string_view(entry).substr(equals + 1));
    if (!count || *count < 0 || *count > kGpusMax) {
      return base::usage_error("\"" + entry + "\" does not tell the GPUs of a node",
                               "write PARTITION=GPUS, such as gpu=4");
    }
    table[std::string_view(entry).substr(0, equals)] = *count;
  }
  return table;
}

class SlurmParser final : public LineParser {
 public:
  SlurmParser(std::optional<SlurmHeader> header, base::TimeZone zone, GpusPerNode gpus_per_node,
              const SiteOptions& site)
      : has_header_line_(header.has_value()),
        header_(header ? std::move(*header) : SlurmHeader::xdmod()),
        clock_(std::move(zone)),
        gpus_per_node_(std::move(gpus_per_node)),
        site_(site) {
    // Views into a text stay valid when two are swapped, unless they are short enough to lie in the
    // string itself.
    text_.reserve(kTextBytes);
    next_text_.reserve(kTextBytes);
  }

  void take(const base::Line& line, RecordOutput& out) override {
    if (has_header_line_) {
      has_header_line_ = false;
      return;
    }
    if (const std::string_view first = line.text.substr(0, 8);
        first.starts_with("JobID") && SlurmHeader::parse(line.text)) {
      return;  // the header again, between dumps put behind each other
    }
    if (line.too_long) {
      flush(out);
      out.count_record();
      return out.reject(line.number, "the line is longer than 1 MiB", line.text);
    }
    // The record waits for its steps, so it needs its text.
    next_text_.assign(line.text);
    const std::string problem = header_.split(next_text_);
    if (!problem.empty()) {
      flush(out);
      out.count_record();
      return out.reject(line.number, problem, line.text);
    }
    const std::string_view id_text = header_.field(header_.has(JobId) ? JobId : JobIdRaw);
    const auto id = parse_slurm_job_id(id_text);
    if (id && !id->step.empty()) return take_step(*id);
    flush(out);
    out.count_record();
    if (!id) {
      return out.reject(line.number,
                        fmt::format("JobID \"{}\" is none of Slurm's", id_text.substr(0, 40)),
                        line.text);
    }
    const std::string refusal = parse_job(*id, line.number);
    if (!refusal.empty()) return out.reject(line.number, refusal, line.text);
    text_.swap(next_text_);
    waiting_ = true;
  }

  void finish(RecordOutput& out) override { flush(out); }

  bool has_walltimes() const override {
    return header_.has(TimeLimit) || header_.has(TimeLimitRaw);
  }
  std::vector<std::string> ignored_columns() const override { return header_.ignored(); }
  std::vector<std::string> notes() const override;

 private:
  static constexpr size_t kTextBytes = 1024;

  /// Gives on the job that waited for its steps.
  void flush(RecordOutput& out) {
    if (!waiting_) return;
    waiting_ = false;
    if (job_.kind == JobKind::Unknown && has_steps_) job_.kind = JobKind::Interactive;
    out.put(job_, text_);
  }

  std::string parse_job(const SlurmJobId& id, int64_t line);
  std::string parse_names();
  std::string parse_times();
  std::string parse_moment(SlurmColumn column, std::string_view name, Moment& moment);
  std::string parse_sizes();
  std::string parse_limits();
  void parse_gpus();
  void parse_memory();
  void parse_kind();
  void parse_extras();
  void take_step(const SlurmJobId& id);
  void take_usage();

  bool has_header_line_;
  SlurmHeader header_;
  ClockReader clock_;
  GpusPerNode gpus_per_node_;
  const SiteOptions& site_;
  RunCounter runs_;
  Jobstats jobstats_;
  SlurmTres tres_;
  std::string gpu_type_;  ///< of the job that waits

  AccountingRecord job_;
  std::string text_;  ///< of the job that waits; its views look into it
  std::string next_text_;
  bool waiting_ = false;
  bool has_steps_ = false;
  std::array<std::string_view, 1> software_;

  int64_t lone_steps_ = 0;
  int64_t damaged_jobstats_ = 0;
  int64_t bad_tres_ = 0;
  int64_t inferred_gpus_ = 0;
  bool any_gpus_ = false;
};

std::string SlurmParser::parse_job(const SlurmJobId& id, int64_t line) {
  job_ = AccountingRecord{};
  has_steps_ = false;
  job_.line = line;
  job_.id = id.job;
  job_.job_number = id.number;
  job_.array_task = id.array_task;
  job_.het_part = id.het_part;
  if (std::string problem = parse_names(); !problem.empty()) return problem;
  if (std::string problem = parse_times(); !problem.empty()) return problem;
  if (std::string problem = parse_sizes(); !problem.empty()) return problem;
  if (std::string problem = parse_limits(); !problem.empty()) return problem;
  parse_kind();
  parse_extras();
  job_.run = runs_.add(job_.cluster, job_.id, job_.start_ns);
  if (job_.run == RunCounter::kSeenBefore) {
    return fmt::format("job_id {} with this start was used before", job_.id);
  }
  return {};
}

std::string SlurmParser::parse_names() {
  job_.cluster = header_.field(Cluster);
  job_.partition = header_.field(Partition);
  job_.qos = header_.field(Qos);
  job_.account = header_.field(Account);
  job_.group = header_.field(Group);
  job_.user = header_.field(User);
  job_.reservation = header_.field(Reservation);
  if (site_.keep_job_names) job_.job_name = header_.field(JobName);
  if (site_.keep_command_lines) job_.command_line = header_.field(SubmitLine);
  const std::string_view word = header_.field(State);
  const auto state = parse_job_state(word);
  if (!state && (!word.empty() || header_.has(State))) {
    return fmt::format("State \"{}\" is not known", word.substr(0, 40));
  }
  job_.state = state.value_or(JobState::Unknown);
  return {};
}

std::string SlurmParser::parse_moment(SlurmColumn column, std::string_view name, Moment& moment) {
  moment = clock_.read(header_.field(column));
  const std::string_view text = header_.field(column).substr(0, 40);
  if (moment.kind == MomentKind::Bad)
    return fmt::format("{} \"{}\" is no date and time", name, text);
  if (moment.kind == MomentKind::Skipped) {
    return fmt::format("{} \"{}\" does not exist in the zone {}: the clock was put forward", name,
                       text, site_.zone);
  }
  return {};
}

std::string SlurmParser::parse_times() {
  Moment submit;
  Moment eligible;
  Moment start;
  Moment end;
  if (auto problem = parse_moment(Submit, "Submit", submit); !problem.empty()) return problem;
  if (auto problem = parse_moment(Eligible, "Eligible", eligible); !problem.empty()) return problem;
  if (auto problem = parse_moment(Start, "Start", start); !problem.empty()) return problem;
  if (auto problem = parse_moment(End, "End", end); !problem.empty()) return problem;
  std::optional<TimeNs> elapsed_ns;
  if (header_.has(Elapsed)) elapsed_ns = parse_slurm_span(header_.field(Elapsed));
  // Where the clock was put back the run time tells which of two moments is meant.
  if (start.second_ns >= 0 || end.second_ns >= 0) {
    const TimeNs span_ns = elapsed_ns.value_or(-1);
    if (start.second_ns >= 0 && start.ns < submit.ns) start.ns = start.second_ns;
    const auto fits = [&](TimeNs from_ns, TimeNs to_ns) { return to_ns - from_ns == span_ns; };
    if (!fits(start.ns, end.ns)) {
      const bool later_end = end.second_ns >= 0 && fits(start.ns, end.second_ns);
      const bool later_start = start.second_ns >= 0 && fits(start.second_ns, end.ns);
      if (!later_end && later_start) {
        start.ns = start.second_ns;
      } else if (later_end || (end.ns < start.ns && end.second_ns >= 0)) {
        end.ns = end.second_ns;
      }
    }
  }
  job_.submit_ns = submit.ns;
  job_.eligible_ns = eligible.ns;
  job_.start_ns = start.ns;
  if (has_ended(job_.state) || job_.state == JobState::Requeued ||
      job_.state == JobState::Unknown) {
    job_.end_ns = end.ns;
  }
  if (job_.state == JobState::Pending) job_.start_ns = -1;
  // A job cancelled in the queue may show the moment of that as its start.
  const std::string_view nodes = header_.field(NodeList);
  if (nodes == "None assigned" && job_.state == JobState::Cancelled) job_.start_ns = -1;
  if (job_.start_ns >= 0 && job_.start_ns < job_.submit_ns) {
    return "the job started before it was submitted";
  }
  if (job_.end_ns >= 0 && job_.end_ns < job_.start_ns) return "the job ended before it started";
  return {};
}

std::string SlurmParser::parse_sizes() {
  const auto whole = [this](SlurmColumn column, int64_t& out) {
    const std::string_view text = header_.field(column);
    if (text.empty()) return true;
    const auto value = base::parse_int(text);
    if (value && *value >= 0 && *value <= INT32_MAX) out = *value;
    return value.has_value() && *value >= 0 && *value <= INT32_MAX;
  };
  if (!whole(NumNodes, job_.num_nodes)) return "NNodes is no count";
  if (!whole(NumCpus, job_.cpu_cores)) return "NCPUS is no count";
  int64_t restarts = -1;
  if (!whole(Restarts, restarts)) return "Restarts is no count";
  job_.restarts = static_cast<int32_t>(restarts);
  const std::string_view nodes = header_.field(NodeList);
  if (nodes != "None assigned" && nodes != "None" && nodes != "Unknown") job_.node_list = nodes;
  const std::string_view tres = header_.field(header_.has(AllocTres) ? AllocTres : ReqTres);
  if (!parse_slurm_tres(tres, tres_)) {
    return fmt::format("{} \"{}\" is no list of resources",
                       header_.has(AllocTres) ? "AllocTRES" : "ReqTRES", tres.substr(0, 80));
  }
  parse_gpus();
  parse_memory();
  if (job_.cpu_cores == 0 && tres_.cpus > 0) job_.cpu_cores = tres_.cpus;
  if (job_.num_nodes < 0) job_.num_nodes = tres_.nodes;
  return {};
}

void SlurmParser::parse_gpus() {
  gpu_type_.swap(tres_.gpu_type);
  job_.gpu_type = gpu_type_;
  job_.gpu_share = tres_.has_mig || (tres_.gpus < 0 && tres_.gpu_shards > 0);
  if (tres_.gpus >= 0) {
    job_.num_gpus = tres_.gpus;
  } else if (tres_.gpu_shards > 0) {
    job_.num_gpus = 1;
  } else if (header_.has(AllocGres)) {
    // Counted by node.
    job_.num_gpus =
        parse_slurm_gres_gpus(header_.field(AllocGres)) * std::max<int64_t>(job_.num_nodes, 1);
  } else if (const auto found = gpus_per_node_.find(job_.partition);
             found != gpus_per_node_.end()) {
    job_.num_gpus = found->second * std::max<int64_t>(job_.num_nodes, 1);
    ++inferred_gpus_;
  } else if (header_.has(AllocTres) || header_.has(ReqTres)) {
    job_.num_gpus = 0;
  }
  any_gpus_ |= job_.num_gpus.value_or(0) > 0;
}

void SlurmParser::parse_memory() {
  job_.mem_bytes = tres_.mem_bytes;
  std::string_view text = header_.field(ReqMem);
  if (job_.mem_bytes >= 0 || text.empty()) return;
  constexpr int64_t kPerCore = int64_t{1} << 31;  // MiB; a bit of Slurm's own tables
  bool by_core = text.ends_with('c');
  bool by_node = text.ends_with('n');
  if (by_core || by_node) text.remove_suffix(1);
  const auto bytes = parse_slurm_bytes(text, 'M');
  if (!bytes) return;
  int64_t mib = *bytes >> 20;
  if (mib >= kPerCore && mib < 2 * kPerCore) {
    mib -= kPerCore;
    by_core = true;
    by_node = false;
  }
  const int64_t parts = by_core   ? job_.cpu_cores
                        : by_node ? std::max<int64_t>(job_.num_nodes, 1)
                                  : 1;
  if (mib < int64_t{1} << 30) job_.mem_bytes = (mib << 20) * std::clamp<int64_t>(parts, 0, 8000);
}

std::string SlurmParser::parse_limits() {
  if (const std::string_view raw = header_.field(TimeLimitRaw); !raw.empty()) {
    const auto minutes = base::parse_int(raw);
    constexpr int64_t kUnlimited = UINT32_MAX;
    if (minutes && *minutes > 0 && *minutes < static_cast<int64_t>(base::kMaxSeconds) / 60 &&
        *minutes != kUnlimited) {
      job_.walltime_limit_ns = *minutes * 60 * base::kSecond;
    }
  } else if (const std::string_view text = header_.field(TimeLimit);
             !text.empty() && text[0] >= '0' && text[0] <= '9') {
    // Partition_Limit and UNLIMITED tell no limit.
    const auto span_ns = parse_slurm_span(text);
    if (!span_ns) return fmt::format("Timelimit \"{}\" is no time span", text.substr(0, 40));
    job_.walltime_limit_ns = *span_ns;
  }
  if (const std::string_view text = header_.field(ExitCode); !text.empty()) {
    const auto exit = parse_slurm_exit(text);
    if (!exit) return fmt::format("ExitCode \"{}\" is not code:signal", text.substr(0, 40));
    job_.exit_code = exit->code;
    job_.signal = exit->signal;
  }
  if (const auto priority = base::parse_int(header_.field(Priority))) {
    job_.priority = static_cast<int32_t>(std::clamp<int64_t>(*priority, INT32_MIN, INT32_MAX));
  }
  return {};
}

void SlurmParser::parse_kind() {
  std::string_view command = header_.field(SubmitLine);
  command = command.substr(0, command.find(' '));
  if (const size_t slash = command.rfind('/'); slash != command.npos) {
    command.remove_prefix(slash + 1);
  }
  if (command == "salloc" || command == "srun") job_.kind = JobKind::Interactive;
  if (command == "sbatch") job_.kind = JobKind::Batch;
}

void SlurmParser::parse_extras() {
  if (header_.has(AdminComment)) {
    const auto outcome = jobstats_.parse(header_.field(AdminComment));
    damaged_jobstats_ += outcome == Jobstats::Outcome::Damaged ? 1 : 0;
    if (outcome == Jobstats::Outcome::Read) {
      job_.gpus = jobstats_.gpus();
      job_.usage.mem_bytes_max = jobstats_.mem_bytes_max();
      job_.usage.cpu_s = jobstats_.cpu_s();
    }
  }
  if (const std::string_view container = header_.field(Container); !container.empty()) {
    software_[0] = container;
    job_.software = software_;
  }
  if (const auto cpu_ns = parse_slurm_span(header_.field(TotalCpu))) {
    job_.usage.cpu_s = base::to_seconds(*cpu_ns);
  }
  take_usage();
}

void SlurmParser::take_usage() {
  UsageMarks& usage = job_.usage;
  const auto raise = [](auto& mark, auto value) { mark = std::max(mark, value); };
  if (const std::string_view max = header_.field(UsageInMax); !max.empty()) {
    bad_tres_ += parse_slurm_tres(max, tres_) ? 0 : 1;
    raise(usage.gpu_util_pct_max, tres_.gpu_util_pct);
    raise(usage.gpu_mem_bytes_max, tres_.gpu_mem_bytes);
  }
  const auto add_disk = [&](SlurmColumn column, int64_t& total) {
    const std::string_view text = header_.field(column);
    if (text.empty()) return;
    bad_tres_ += parse_slurm_tres(text, tres_) ? 0 : 1;
    if (tres_.disk_bytes >= 0) {
      total = std::min(std::max<int64_t>(total, 0) + tres_.disk_bytes, int64_t{1} << 62);
    }
  };
  add_disk(UsageInTot, usage.read_bytes);
  add_disk(UsageOutTot, usage.write_bytes);
  if (const auto rss = parse_slurm_bytes(header_.field(MaxRss), 'B')) {
    raise(usage.mem_bytes_max, *rss);
  }
}

void SlurmParser::take_step(const SlurmJobId& id) {
  if (!waiting_ || id.job != job_.id) {
    ++lone_steps_;
    return;
  }
  if (id.step == "interactive") job_.kind = JobKind::Interactive;
  if (id.step == "batch" && job_.kind == JobKind::Unknown) job_.kind = JobKind::Batch;
  has_steps_ = true;
  take_usage();
}

std::vector<std::string> SlurmParser::notes() const {
  std::vector<std::string> out;
  if (clock_.used_zone() && site_.zone.empty()) {
    out.emplace_back(
        "times have no zone and were read as UTC (right for TZ=UTC sacct; else name the zone)");
  }
  if (clock_.ambiguous() > 0) {
    out.push_back(fmt::format(
        "{} times came twice as the clock was put back; Elapsed decided, else the earlier one",
        clock_.ambiguous()));
  }
  if (lone_steps_ > 0) {
    out.push_back(fmt::format("{} steps do not follow their job and were not used", lone_steps_));
  }
  if (damaged_jobstats_ > 0) {
    out.push_back(fmt::format("{} JS1 comments are damaged and were not used", damaged_jobstats_));
  }
  if (bad_tres_ > 0) {
    out.push_back(fmt::format("{} TRESUsage fields cannot be read", bad_tres_));
  }
  if (inferred_gpus_ > 0) {
    out.push_back(
        fmt::format("{} jobs got their GPUs from the partition's GPUs a node", inferred_gpus_));
  }
  if (!any_gpus_) {
    out.emplace_back(
        "no record counts GPUs: AccountingStorageTRES has to list gres/gpu (else give the GPUs of "
        "a "
        "node by partition)");
  }
  return out;
}

base::Result<std::unique_ptr<LineParser>> open(const FormatInput& input, std::string_view line) {
  auto zone = base::TimeZone::load(input.options.site.zone);
  if (!zone) return base::failure(zone.error());
  auto gpus_per_node = parse_gpus_per_node(input.options.site.gpus_per_node);
  if (!gpus_per_node) return base::failure(gpus_per_node.error());
  auto header = SlurmHeader::parse(line);
  if (!header && !SlurmHeader::is_xdmod_line(line)) {
    return base::bad_data(input.place, "the first line is no header of sacct, nor 26 columns",
                          "dump with sacct --parsable2 and without --noheader");
  }
  return std::make_unique<SlurmParser>(std::move(header), std::move(*zone),
                                       std::move(*gpus_per_node), input.options.site);
}

}  // namespace

const RecordFormat kSlurm = {
    .name = "slurm",
    .header =
        "JobID|...|State|... as sacct --parsable2 prints it, or XDMoD's 26 columns without header",
    .layout = Layout::Lines,
    .recognises_text =
        [](std::string_view line) {
          return SlurmHeader::parse(line).has_value() || SlurmHeader::is_xdmod_line(line);
        },
    .open_lines = open,
};

}  // namespace goban::records
