#include "serve/agent/job_scan.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <filesystem>
#include <fmt/format.h>
#include <set>
#include <sys/stat.h>
#include <unistd.h>

#include "base/field_splitter.hpp"
#include "base/files.hpp"
#include "base/number.hpp"

namespace goban::serve::agent {

using base::TimeNs;
using site::telemetry::AgentJob;
using site::telemetry::kAgentSoftwareMax;
using site::telemetry::kAgentWordMax;

namespace {

constexpr TimeNs kKept = 600 * base::kSecond;
constexpr size_t kFileBytesMax = size_t{8} << 20;
constexpr int32_t kGpusMax = 256;
/// Jobs of one user: processes can say that they belong to any number of them.
constexpr size_t kJobsUserMax = 256;

/// The uid of a pod in the path of a cgroup, ".../kubepods-burstable-pod<uid>.slice/..." with '-'
/// or '_' in the uid; empty: there is none.
std::string pod_of(std::string_view cgroup) {
  constexpr size_t kUidLetters = 36;
  if (cgroup.find("kubepods") == cgroup.npos) return {};
  for (size_t at = cgroup.find("pod"); at != cgroup.npos; at = cgroup.find("pod", at + 1)) {
    std::string uid(cgroup.substr(at + 3, kUidLetters));
    std::ranges::replace(uid, '_', '-');
    const bool fits = uid.size() == kUidLetters && std::ranges::all_of(uid, [](char c) {
                        return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || c == '-';
                      });
    if (fits && std::ranges::count(uid, '-') == 4) return uid;
  }
  return {};
}

bool is_number(std::string_view text) {
  return !text.empty() && text.size() < 20 &&
         std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
}

/// As Goban's engine names Slurm's jobs.
std::string slurm_id(const std::map<std::string_view, std::string_view>& variables) {
  const auto value = [&](std::string_view name) {
    const auto found = variables.find(name);
    return found == variables.end() ? std::string_view{} : found->second;
  };
  const std::string_view array = value("SLURM_ARRAY_JOB_ID");
  const std::string_view task = value("SLURM_ARRAY_TASK_ID");
  if (is_number(array) && is_number(task)) return fmt::format("{}_{}", array, task);
  const std::string_view job = value("SLURM_JOB_ID");
  return is_number(job) ? std::string(job) : std::string{};
}

/// Names that a report may carry.
bool is_name(std::string_view text) {
  return !text.empty() && text.size() <= kAgentWordMax && std::ranges::all_of(text, [](char c) {
    return c > ' ' && c < '\x7f' && c != ';' && c != '"';
  });
}

struct ProcessStat {
  int64_t start_ticks = 0;
  double cpu_s = 0;
  int64_t mem_bytes = 0;
};

/// The fields of /proc/PID/stat after the name, which may contain anything.
std::optional<ProcessStat> parse_stat(std::string_view text) {
  // Counted from the state, which is 0.
  constexpr size_t kUser = 11, kSystem = 12, kStart = 19, kPages = 21;
  const size_t end = text.rfind(')');
  if (end == text.npos) return std::nullopt;
  base::FieldSplitter fields;
  fields.split_blanks(text.substr(end + 1));
  if (fields.fields().size() <= kPages) return std::nullopt;
  const auto value = [&](size_t at) { return base::parse_int(fields.fields()[at]).value_or(0); };
  const auto ticks = static_cast<double>(::sysconf(_SC_CLK_TCK));
  return ProcessStat{.start_ticks = value(kStart),
                     .cpu_s = static_cast<double>(value(kUser) + value(kSystem)) / ticks,
                     .mem_bytes = value(kPages) * ::sysconf(_SC_PAGESIZE)};
}

void add_names(std::vector<std::string>& to, const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    if (to.size() >= kAgentSoftwareMax) return;
    if (is_name(name) && std::ranges::find(to, name) == to.end()) to.push_back(name);
  }
}

}  // namespace

std::vector<int32_t> gpu_indices(std::string_view text) {
  std::array<bool, kGpusMax> named{};  // a hostile environment names them a million times
  while (!text.empty()) {
    const std::string_view part = text.substr(0, text.find(','));
    text.remove_prefix(std::min(part.size() + 1, text.size()));
    const size_t dash = part.find('-');
    const auto first = base::parse_int(part.substr(0, dash));
    const auto last = dash == part.npos ? first : base::parse_int(part.substr(dash + 1));
    if (!first || !last || *first < 0 || *last >= kGpusMax) continue;
    for (int64_t i = *first; i <= *last; ++i) named.at(static_cast<size_t>(i)) = true;
  }
  std::vector<int32_t> out;
  for (int32_t i = 0; i < kGpusMax; ++i) {
    if (named.at(static_cast<size_t>(i))) out.push_back(i);
  }
  return out;
}

std::optional<ProcessJob> job_of(std::string_view cgroup, std::string_view environment,
                                 std::string_view node) {
  std::map<std::string_view, std::string_view> variables;
  while (!environment.empty()) {
    const std::string_view each = environment.substr(0, environment.find('\0'));
    environment.remove_prefix(std::min(each.size() + 1, environment.size()));
    const size_t equals = each.find('=');
    if (equals != each.npos) variables.emplace(each.substr(0, equals), each.substr(equals + 1));
  }
  ProcessJob out{.id = pod_of(cgroup)};
  if (out.id.empty()) {
    const auto runs_on = variables.find("SLURMD_NODENAME");
    if (runs_on != variables.end() && runs_on->second != node) return std::nullopt;
    out.id = slurm_id(variables);
  }
  if (out.id.empty()) return std::nullopt;
  // Slurm gives the indices of a step on its own node; those of a job are of its first node.
  for (const char* name : {"SLURM_STEP_GPUS", "SLURM_JOB_GPUS"}) {
    const auto found = variables.find(name);
    if (found == variables.end() || found->second.empty()) continue;
    out.gpus = gpu_indices(found->second);
    break;
  }
  if (const auto loaded = variables.find("LOADEDMODULES"); loaded != variables.end()) {
    std::string_view rest = loaded->second;
    while (!rest.empty()) {
      const std::string_view name = rest.substr(0, rest.find(':'));
      rest.remove_prefix(std::min(name.size() + 1, rest.size()));
      if (is_name(name)) out.modules.emplace_back(name);
    }
  }
  return out;
}

std::vector<std::string> known_libraries(std::string_view maps) {
  constexpr std::array<std::string_view, 12> kWords = {
      "cuda", "cudnn", "nccl",        "cublas", "torch",  "tensorflow",
      "jax",  "xla",   "onnxruntime", "mxnet",  "amdhip", "rccl"};
  std::vector<std::string> out;
  std::string_view last;
  while (!maps.empty()) {
    const std::string_view line = maps.substr(0, maps.find('\n'));
    maps.remove_prefix(std::min(line.size() + 1, maps.size()));
    const size_t slash = line.rfind('/');
    if (slash == line.npos) continue;
    const std::string_view name = line.substr(slash + 1);
    if (name == last || name.find(".so") == name.npos) continue;  // a library has several lines
    last = name;
    const bool is_known = std::ranges::any_of(
        kWords, [&](std::string_view word) { return name.find(word) != name.npos; });
    if (is_known) add_names(out, {std::string(name)});
  }
  return out;
}

std::optional<AgentJob> JobScan::job_of_process(pid_t process) const {
  const std::string folder = fmt::format("{}/{}", proc_, process);
  struct stat facts{};
  if (::stat(folder.c_str(), &facts) != 0) return std::nullopt;
  const auto environment = base::read_small_file(folder + "/environ", kFileBytesMax);
  const auto cgroup = base::read_small_file(folder + "/cgroup", kFileBytesMax);
  const auto found =
      job_of(cgroup ? *cgroup : std::string{}, environment ? *environment : std::string{}, node_);
  if (!found) return std::nullopt;
  AgentJob out{.id = found->id, .uid = facts.st_uid, .gpus = found->gpus};
  add_names(out.software, found->modules);
  return out;
}

void JobScan::visit(pid_t id, TimeNs now_ns) {
  const std::string folder = fmt::format("{}/{}", proc_, id);
  const auto text = base::read_small_file(folder + "/stat", kFileBytesMax);
  const auto stat = text ? parse_stat(*text) : std::nullopt;
  if (!stat) return;
  Process& process = processes_[id];
  if (process.start_ticks != stat->start_ticks) process = {.start_ticks = stat->start_ticks};
  process.seen = true;
  ++process.scans;
  // Environment and libraries change as a program loads them: looked at often while it is young.
  if (std::has_single_bit(process.scans)) {
    const auto found = job_of_process(id);
    process.job = {};
    if (ScannedJob* const of = found ? entry({found->id, found->uid}) : nullptr) {
      process.job = {found->id, found->uid};
      AgentJob& job = of->job;
      if (!found->gpus.empty()) job.gpus = found->gpus;
      add_names(job.software, found->software);
      const auto maps = base::read_small_file(folder + "/maps", kFileBytesMax);
      if (maps) add_names(job.software, known_libraries(*maps));
    }
  }
  if (process.job.first.empty()) return;
  ScannedJob& job = jobs_[process.job];
  job.job.id = process.job.first;
  job.job.uid = process.job.second;
  job.seen_ns = now_ns;
  job.use.mem_bytes += stat->mem_bytes;
  job.use.cpu_s += process.cpu_s < 0 ? 0 : std::max(0.0, stat->cpu_s - process.cpu_s);
  process.cpu_s = stat->cpu_s;
}

ScannedJob* JobScan::entry(const std::pair<std::string, uint32_t>& key) {
  if (const auto known = jobs_.find(key); known != jobs_.end()) return &known->second;
  size_t count = 0;
  auto oldest = jobs_.end();  // of those that have ended
  for (auto each = jobs_.begin(); each != jobs_.end(); ++each) {
    if (each->first.second != key.second) continue;
    ++count;
    if (each->second.seen_ns >= last_ns_) continue;
    if (oldest == jobs_.end() || each->second.seen_ns < oldest->second.seen_ns) oldest = each;
  }
  if (count >= kJobsUserMax) {
    if (oldest == jobs_.end()) return nullptr;
    jobs_.erase(oldest);
  }
  return &jobs_[key];
}

void JobScan::scan(TimeNs now_ns) {
  for (auto& [id, job] : jobs_) job.use = {};
  for (auto& [id, process] : processes_) process.seen = false;
  std::error_code error;
  for (std::filesystem::directory_iterator each(proc_, error);
       !error && each != std::filesystem::directory_iterator(); each.increment(error)) {
    const auto id = base::parse_int(each->path().filename().string());
    if (id && *id > 0) visit(static_cast<pid_t>(*id), now_ns);
  }
  last_ns_ = now_ns;
  std::erase_if(processes_, [](const auto& each) { return !each.second.seen; });
  std::erase_if(jobs_, [&](const auto& each) { return now_ns - each.second.seen_ns > kKept; });
}

}  // namespace goban::serve::agent
