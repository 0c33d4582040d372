// An allocation line of sacct.
//
// GPUs: AllocTRES `gres/gpu` if present, otherwise its typed entries, which count the same GPUs;
// otherwise AllocGRES; otherwise, where the accounting does not count GPUs,
// SiteOptions::gpus_per_node by partition. ReqTRES is only used if there is no AllocTRES column:
// --exclusive allocates more than was requested. Memory: AllocTRES, otherwise ReqMem (n = per node,
// c = per core; a high bit also marks memory per core). Kind: SubmitLine (salloc, srun =
// interactive; sbatch = batch), otherwise from the steps, otherwise unknown.
#include "site/records/formats/slurm_allocation.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

#include "base/counted.hpp"
#include "base/number.hpp"

namespace goban::site::records {
namespace {

using enum SlurmColumn;
using base::TimeNs;

std::string parse_limits(const SlurmHeader& header, AccountingRecord& job) {
  if (const std::string_view raw = header.field(TimeLimitRaw); !raw.empty()) {
    const auto minutes = base::parse_int(raw);
    constexpr int64_t kUnlimited = UINT32_MAX;
    if (minutes && *minutes > 0 && *minutes < static_cast<int64_t>(base::kMaxSeconds) / 60 &&
        *minutes != kUnlimited) {
      job.walltime_limit_ns = *minutes * 60 * base::kSecond;
    }
  } else if (const std::string_view text = header.field(TimeLimit);
             !text.empty() && text[0] >= '0' && text[0] <= '9') {
    // Partition_Limit and UNLIMITED give no limit.
    const auto span_ns = parse_slurm_span(text);
    // A limit beyond all times is none.
    const bool is_span = text.find_first_not_of("0123456789:-.") == text.npos;
    if (!span_ns && !is_span)
      return fmt::format("Timelimit \"{}\" is not a valid duration", text.substr(0, 40));
    job.walltime_limit_ns = span_ns.value_or(0);
  }
  if (const std::string_view text = header.field(ExitCode); !text.empty()) {
    const auto exit = parse_slurm_exit(text);
    if (!exit) return fmt::format("ExitCode \"{}\" is not code:signal", text.substr(0, 40));
    job.exit_code = exit->code;
    job.signal = exit->signal;
  }
  if (const auto priority = base::parse_int(header.field(Priority))) {
    job.priority = static_cast<int32_t>(std::clamp<int64_t>(*priority, INT32_MIN, INT32_MAX));
  }
  return {};
}

void parse_kind(const SlurmHeader& header, AccountingRecord& job) {
  std::string_view command = header.field(SubmitLine);
  command = command.substr(0, command.find(' '));
  if (const size_t slash = command.rfind('/'); slash != command.npos) {
    command.remove_prefix(slash + 1);
  }
  if (command == "salloc" || command == "srun") job.kind = JobKind::Interactive;
  if (command == "sbatch") job.kind = JobKind::Batch;
}

/// Time in which the job was suspended: the column Suspended; Elapsed does not contain it, and
/// shows it where the column is absent. At most the time from start to end.
TimeNs suspended_in(const SlurmHeader& header, const AccountingRecord& job,
                    std::optional<TimeNs> elapsed_ns) {
  const TimeNs span_ns = job.end_ns - job.start_ns;
  const auto stated = parse_slurm_span(header.field(Suspended));
  constexpr TimeNs kRounding = 2 * base::kSecond;
  if (stated) return std::min(*stated, span_ns);
  if (elapsed_ns && *elapsed_ns + kRounding < span_ns) return span_ns - *elapsed_ns;
  return 0;
}

}  // namespace

base::Result<GpusPerNode> parse_gpus_per_node(const std::vector<std::string>& entries) {
  constexpr int64_t kGpusMax = 1 << 16;
  GpusPerNode table;
  for (const std::string& entry : entries) {
    const size_t equals = entry.rfind('=');
    const auto count = equals == std::string::npos
                           ? std::nullopt
                           : base::parse_int(std::string_view(entry).substr(equals + 1));
    if (!count || *count < 0 || *count > kGpusMax) {
      return base::usage_error("invalid number of GPUs per node \"" + entry + "\"",
                               "it must be PARTITION=GPUS, such as gpu=4");
    }
    table[std::string_view(entry).substr(0, equals)] = *count;
  }
  return table;
}

std::string SlurmAllocation::parse(const SlurmHeader& header, const SlurmJobId& id,
                                   AccountingRecord& job) {
  job.id = id.job;
  job.job_number = id.number;
  job.array_task = id.array_task;
  job.het_part = id.het_part;
  if (std::string problem = parse_names(header, job); !problem.empty()) return problem;
  if (std::string problem = parse_times(header, job); !problem.empty()) return problem;
  if (std::string problem = parse_sizes(header, job); !problem.empty()) return problem;
  if (std::string problem = parse_limits(header, job); !problem.empty()) return problem;
  parse_kind(header, job);
  return {};
}

std::string SlurmAllocation::parse_names(const SlurmHeader& header, AccountingRecord& job) {
  job.cluster = header.field(Cluster);
  job.partition = header.field(Partition);
  job.qos = header.field(Qos);
  job.account = header.field(Account);
  job.group = header.field(Group);
  job.user = header.field(User);
  job.reservation = header.field(Reservation);
  if (site_.keep_job_names) job.job_name = header.field(JobName);
  if (site_.keep_command_lines) job.command_line = header.field(SubmitLine);
  const std::string_view word = header.field(State);
  const auto state = parse_job_state(word);
  if (!state && (!word.empty() || header.has(State))) {
    return fmt::format("State \"{}\" is unknown", word.substr(0, 40));
  }
  job.state = state.value_or(RecordedState::Unknown);
  return {};
}

std::string SlurmAllocation::parse_moment(const SlurmHeader& header, SlurmColumn column,
                                          std::string_view name, Moment& moment) {
  moment = clock_.read(header.field(column));
  const std::string_view text = header.field(column).substr(0, 40);
  if (moment.kind == MomentKind::Bad)
    return fmt::format("{} \"{}\" is not a valid date and time", name, text);
  if (moment.kind == MomentKind::Skipped) {
    return fmt::format("{} \"{}\" does not exist in time zone {}: the clock was set forward", name,
                       text, site_.zone);
  }
  return {};
}

std::string SlurmAllocation::parse_times(const SlurmHeader& header, AccountingRecord& job) {
  Moment submit;
  Moment eligible;
  Moment start;
  Moment end;
  if (auto problem = parse_moment(header, Submit, "Submit", submit); !problem.empty())
    return problem;
  if (auto problem = parse_moment(header, Eligible, "Eligible", eligible); !problem.empty())
    return problem;
  if (auto problem = parse_moment(header, Start, "Start", start); !problem.empty()) return problem;
  if (auto problem = parse_moment(header, End, "End", end); !problem.empty()) return problem;
  std::optional<TimeNs> elapsed_ns;
  if (header.has(Elapsed)) elapsed_ns = parse_slurm_span(header.field(Elapsed));
  // Where the clock was set back, the run time selects one of the two possible times.
  if (start.second_ns >= 0 || end.second_ns >= 0) {
    const TimeNs span_ns = elapsed_ns.value_or(-1);
    if (start.second_ns >= 0 && start.ns < submit.ns) start.ns = start.second_ns;
    const auto fits = [&](TimeNs from_ns, TimeNs to_ns) { return to_ns - from_ns == span_ns; };
    if (!fits(start.ns, end.ns)) {
      const bool later_end = end.second_ns >= 0 && fits(start.ns, end.second_ns);
      const bool later_start = start.second_ns >= 0 && fits(start.second_ns, end.ns);
      if (!later_end && later_start) {
        start.ns = start.second_ns;
      } else if (later_end || (end.ns < std::max(start.ns, submit.ns) && end.second_ns >= 0)) {
        end.ns = end.second_ns;
      }
    }
  }
  job.submit_ns = submit.ns;
  job.eligible_ns = eligible.ns;
  job.start_ns = start.ns;
  if (has_ended(job.state) || job.state == RecordedState::Requeued ||
      job.state == RecordedState::Unknown) {
    job.end_ns = end.ns;
  }
  if (job.state == RecordedState::Pending) job.start_ns = -1;
  // A job cancelled while pending may have the time of the cancellation as its start.
  const std::string_view nodes = header.field(NodeList);
  if (nodes == "None assigned" && job.state == RecordedState::Cancelled) job.start_ns = -1;
  if (job.start_ns >= 0 && job.start_ns < job.submit_ns) {
    return "the job started before it was submitted";
  }
  if (job.end_ns >= 0 && job.end_ns < job.start_ns) return "the job ended before it started";
  if (job.start_ns >= 0 && job.end_ns >= 0)
    job.suspended_ns = suspended_in(header, job, elapsed_ns);
  return {};
}

std::string SlurmAllocation::parse_sizes(const SlurmHeader& header, AccountingRecord& job) {
  const auto whole = [&header](SlurmColumn column, int64_t& out) {
    const std::string_view text = header.field(column);
    if (text.empty()) return true;
    const auto value = base::parse_int(text);
    if (value && *value >= 0 && *value <= INT32_MAX) out = *value;
    // Slurm writes counts that it did not set as 2^32 - 2 or 2^64 - 2: unknown.
    return text.find_first_not_of("0123456789") == text.npos;
  };
  if (!whole(NumNodes, job.num_nodes)) return "NNodes is not an integer >= 0";
  if (!whole(NumCpus, job.cpu_cores)) return "NCPUS is not an integer >= 0";
  int64_t restarts = -1;
  if (!whole(Restarts, restarts)) return "Restarts is not an integer >= 0";
  job.restarts = static_cast<int32_t>(restarts);
  const std::string_view nodes = header.field(NodeList);
  if (nodes != "None assigned" && nodes != "None" && nodes != "Unknown") job.node_list = nodes;
  const std::string_view tres = header.field(header.has(AllocTres) ? AllocTres : ReqTres);
  if (!parse_slurm_tres(tres, tres_)) {
    return fmt::format("{} \"{}\" is not a list of resources",
                       header.has(AllocTres) ? "AllocTRES" : "ReqTRES", tres.substr(0, 80));
  }
  parse_gpus(header, job);
  parse_memory(header, job);
  if (job.cpu_cores == 0 && tres_.cpus > 0) job.cpu_cores = tres_.cpus;
  if (job.num_nodes < 0) job.num_nodes = tres_.nodes;
  return {};
}

void SlurmAllocation::parse_gpus(const SlurmHeader& header, AccountingRecord& job) {
  gpu_type_.swap(tres_.gpu_type);
  job.gpu_type = gpu_type_;
  job.gpu_share = tres_.has_mig || (tres_.gpus < 0 && tres_.gpu_shards > 0);
  if (tres_.gpus >= 0) {
    job.num_gpus = tres_.gpus;
  } else if (tres_.gpu_shards > 0) {
    job.num_gpus = 1;
  } else if (header.has(AllocGres)) {
    // Counted per node.
    job.num_gpus =
        parse_slurm_gres_gpus(header.field(AllocGres)) * std::max<int64_t>(job.num_nodes, 1);
  } else if (const auto found = gpus_per_node_.find(job.partition); found != gpus_per_node_.end()) {
    job.num_gpus = found->second * std::max<int64_t>(job.num_nodes, 1);
    ++inferred_gpus_;
  } else if (header.has(AllocTres) || header.has(ReqTres)) {
    job.num_gpus = 0;
  }
  // MIG instances: the mean share of the job's parts.
  if (tres_.has_mig && tres_.gpus > 0 && tres_.held_gpus > 0) {
    constexpr double kMilli = 1000;
    const double share = tres_.held_gpus / static_cast<double>(tres_.gpus);
    job.gpu_milli = std::max(1, static_cast<int32_t>(std::lround(kMilli * std::min(share, 1.0))));
  }
  any_gpus_ |= job.num_gpus.value_or(0) > 0;
}

void SlurmAllocation::parse_memory(const SlurmHeader& header, AccountingRecord& job) {
  job.mem_bytes = tres_.mem_bytes;
  std::string_view text = header.field(ReqMem);
  if (job.mem_bytes >= 0 || text.empty()) return;
  constexpr int64_t kPerCore = int64_t{1} << 31;  // MiB; a flag bit in Slurm's tables
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
  const int64_t parts = by_core ? job.cpu_cores : by_node ? std::max<int64_t>(job.num_nodes, 1) : 1;
  if (mib < int64_t{1} << 30) job.mem_bytes = (mib << 20) * std::clamp<int64_t>(parts, 0, 8000);
}

void SlurmAllocation::note_times(std::vector<std::string>& out) const {
  if (clock_.used_zone() && site_.zone.empty()) {
    out.emplace_back(
        "times have no time zone and were read as UTC (correct for TZ=UTC sacct; otherwise set "
        "--zone)");
  }
  if (clock_.ambiguous() > 0) {
    out.push_back(fmt::format(
        "{} occurred twice, as the clock was set back; resolved by Elapsed, otherwise the "
        "earlier one was used",
        base::counted(clock_.ambiguous(), "time")));
  }
}

void SlurmAllocation::note_gpus(std::vector<std::string>& out) const {
  if (inferred_gpus_ > 0) {
    out.push_back(
        fmt::format("the GPUs of {} were derived from the GPUs per node of their partition",
                    base::counted(inferred_gpus_, "job")));
  }
  if (!any_gpus_) {
    out.emplace_back(
        "no record counts GPUs: add gres/gpu to AccountingStorageTRES, or set --gpus-per-node");
  }
}

}  // namespace goban::site::records
