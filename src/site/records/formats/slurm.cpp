// Format `slurm`: output of `sacct --parsable2` (or -p, any --delimiter): with a header line and
// columns in any order, or without one in the 26 columns of XDMoD (slurm_header.hpp).
//
// A job is its allocation line. Step lines (ID.batch, ID.0, ...; omitted by -X) follow it and add
// what only they contain: batch or interactive, high-water marks, memory. Runs of a requeued job
// (-D) are separate records, distinguished by their start; a duplicate of a finished run is
// rejected. Unfinished runs are left to the sinks: their end may follow in a later dump of the same
// input.
//
// The allocation line is parsed by slurm_allocation.hpp. Job names and submit lines are personal
// data and kept only on request.

#include <algorithm>
#include <array>
#include <fmt/format.h>

#include "base/counted.hpp"
#include "site/records/formats/slurm_allocation.hpp"
#include "site/records/formats/slurm_header.hpp"
#include "site/records/jobstats.hpp"
#include "site/records/record_check.hpp"
#include "site/records/record_format.hpp"
#include "site/records/run_counter.hpp"
#include "site/records/slurm_fields.hpp"
#include "site/records/software_name.hpp"

namespace goban::site::records {
namespace {

using enum SlurmColumn;

class SlurmParser final : public LineParser {
 public:
  SlurmParser(std::optional<SlurmHeader> header, base::TimeZone zone, GpusPerNode gpus_per_node,
              const SiteOptions& site)
      : has_header_line_(header.has_value()),
        header_(header ? std::move(*header) : SlurmHeader::xdmod()),
        allocation_(std::move(zone), std::move(gpus_per_node), site) {
    // Swapping two strings keeps views into their texts valid only if they are not short enough for
    // the string's inline buffer, so reserve.
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
      return;  // a header between concatenated dumps
    }
    if (line.too_long) {
      flush(out);
      out.count_record();
      return out.reject(line.number, "the line is longer than 1 MiB", line.text);
    }
    // The record waits for its steps, so its text is copied.
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
                        fmt::format("JobID \"{}\" is not a Slurm job id", id_text.substr(0, 40)),
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

  /// Puts the job that waited for its steps.
  void flush(RecordOutput& out) {
    if (!waiting_) return;
    waiting_ = false;
    if (job_.kind == JobKind::Unknown && has_steps_) job_.kind = JobKind::Interactive;
    out.put(job_, text_);
  }

  std::string parse_job(const SlurmJobId& id, int64_t line);
  void parse_extras();
  void take_step(const SlurmJobId& id);
  void take_usage();

  bool has_header_line_;
  SlurmHeader header_;
  SlurmAllocation allocation_;
  RunCounter runs_;
  Jobstats jobstats_;
  SlurmTres tres_;

  AccountingRecord job_;
  std::string text_;  ///< of the waiting job, which has views into it
  std::string next_text_;
  bool waiting_ = false;
  bool has_steps_ = false;
  std::array<std::string_view, 1> software_;

  int64_t lone_steps_ = 0;
  int64_t damaged_jobstats_ = 0;
  int64_t bad_tres_ = 0;
};

std::string SlurmParser::parse_job(const SlurmJobId& id, int64_t line) {
  job_ = AccountingRecord{};
  has_steps_ = false;
  job_.line = line;
  if (std::string problem = allocation_.parse(header_, id, job_); !problem.empty()) return problem;
  parse_extras();
  if (!is_over(job_)) return {};
  const int32_t run = runs_.add(job_.cluster, job_.id, std::max(job_.start_ns, job_.submit_ns));
  if (run == RunCounter::kSeenBefore) {
    return fmt::format("job_id {} with this start was used before", job_.id);
  }
  if (job_.start_ns >= 0) job_.run = run;
  return {};
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
  if (const auto container = without_folders(header_.field(Container)); !container.empty()) {
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
  allocation_.note_times(out);
  if (lone_steps_ > 0) {
    out.push_back(base::counted(lone_steps_, "step does not follow its job and was not used",
                                "steps do not follow their job and were not used"));
  }
  if (damaged_jobstats_ > 0) {
    out.push_back(fmt::format("{} JS1 comments are damaged and were not used", damaged_jobstats_));
  }
  if (bad_tres_ > 0) {
    out.push_back(base::counted(bad_tres_, "TRESUsage field") + " cannot be read");
  }
  allocation_.note_gpus(out);
  return out;
}

base::Result<std::unique_ptr<LineParser>> open_slurm(const FormatInput& input,
                                                     std::string_view line) {
  auto zone = base::TimeZone::load(input.options.site.zone);
  if (!zone) return base::failure(zone.error());
  auto gpus_per_node = parse_gpus_per_node(input.options.site.gpus_per_node);
  if (!gpus_per_node) return base::failure(gpus_per_node.error());
  auto header = SlurmHeader::parse(line);
  if (!header && !SlurmHeader::is_xdmod_line(line)) {
    return base::bad_data(input.place,
                          "the first line is neither a header of sacct nor a record of 26 columns",
                          "dump with sacct --parsable2 and without --noheader");
  }
  return std::make_unique<SlurmParser>(std::move(header), std::move(*zone),
                                       std::move(*gpus_per_node), input.options.site);
}

}  // namespace

const RecordFormat kSlurm = {
    .name = "slurm",
    .header =
        "JobID|...|State|... as printed by sacct --parsable2, or XDMoD's 26 columns without header",
    .layout = Layout::Lines,
    .recognises_text =
        [](std::string_view line) {
          return SlurmHeader::parse(line).has_value() || SlurmHeader::is_xdmod_line(line);
        },
    .open_lines = open_slurm,
};

}  // namespace goban::site::records
