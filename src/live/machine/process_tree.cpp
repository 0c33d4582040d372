#include "live/machine/process_tree.hpp"

#include <algorithm>
#include <charconv>
#include <dirent.h>
#include <fmt/format.h>
#include <memory>
#include <string_view>
#include <sys/syscall.h>
#include <unistd.h>
#include <unordered_map>

#include "base/field_splitter.hpp"
#include "base/files.hpp"
#include "base/number.hpp"

namespace goban::live::machine {
namespace {

constexpr size_t kProcFileMax = size_t{1} << 20;

pid_t number(std::string_view text) {
  pid_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc{} && end == text.data() + text.size() ? value : 0;
}

/// Names in a folder that are numbers.
std::vector<pid_t> numbers_in(const std::string& folder) {
  std::vector<pid_t> out;
  struct Close {
    void operator()(DIR* open) const { ::closedir(open); }
  };
  const std::unique_ptr<DIR, Close> open(::opendir(folder.c_str()));
  if (!open) return out;
  while (const dirent* entry = ::readdir(open.get())) {
    if (const pid_t pid = number(std::string_view(entry->d_name)); pid > 0) out.push_back(pid);
  }
  return out;
}

std::string proc_text(pid_t process, const char* name) {
  auto text = base::read_small_file(fmt::format("/proc/{}/{}", process, name), kProcFileMax);
  return text ? std::move(*text) : std::string{};
}

/// Adds the children listed by the kernel; false if the kernel has no such list.
bool add_children(pid_t process, std::vector<pid_t>& out) {
  bool listed = false;
  for (const pid_t thread : numbers_in(fmt::format("/proc/{}/task", process))) {
    const auto text =
        base::read_small_file(fmt::format("/proc/{}/task/{}/children", process, thread));
    if (!text) continue;
    listed = true;
    base::FieldSplitter fields;
    fields.split_blanks(*text);
    for (const std::string_view field : fields.fields()) {
      if (const pid_t pid = number(field); pid > 0) out.push_back(pid);
    }
  }
  return listed;
}

/// Fields of /proc/PID/stat from the third one (state) on; empty if the process has exited.
std::string stat_after_name(pid_t process) {
  std::string stat = proc_text(process, "stat");
  const size_t name_end = stat.rfind(')');  // the name may contain any characters
  return name_end == std::string::npos ? std::string{} : stat.substr(name_end + 1);
}

pid_t parent_of(pid_t process) {
  const std::string stat = stat_after_name(process);
  base::FieldSplitter fields;
  fields.split_blanks(stat);
  return fields.fields().size() < 2 ? 0 : number(fields.fields()[1]);
}

/// CPU time of a process and of the children it waited for, in clock ticks; -1 = it has exited.
struct CpuTicks {
  int64_t own = -1;
  int64_t waited_for = -1;
};

CpuTicks cpu_ticks(pid_t process) {
  constexpr size_t kUserTime = 11;  // counted from the state: proc(5), fields 14 to 17
  const std::string stat = stat_after_name(process);
  base::FieldSplitter fields;
  fields.split_blanks(stat);
  if (fields.fields().size() < kUserTime + 4) return {};
  const auto ticks = [&](size_t at) { return base::parse_int(fields.fields()[at]).value_or(0); };
  return {.own = ticks(kUserTime) + ticks(kUserTime + 1),
          .waited_for = ticks(kUserTime + 2) + ticks(kUserTime + 3)};
}

std::vector<pid_t> descendants_by_scan(pid_t root) {
  std::unordered_map<pid_t, std::vector<pid_t>> children;
  for (const pid_t process : all_processes()) children[parent_of(process)].push_back(process);
  std::vector<pid_t> out = children[root];
  for (size_t i = 0; i < out.size(); ++i) {
    const std::vector<pid_t> more = children[out[i]];
    out.insert(out.end(), more.begin(), more.end());
  }
  return out;
}

/// The value of a `Name: 123 kB` line, in its unit; 0 if it is missing.
int64_t line_value(std::string_view text, std::string_view name, int base = 10) {
  const size_t at = text.find(name);
  if (at == std::string_view::npos) return 0;
  text.remove_prefix(at + name.size());
  text.remove_prefix(std::min(text.find_first_not_of(" \t"), text.size()));
  uint64_t value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value, base);
  return static_cast<int64_t>(value);
}

}  // namespace

std::vector<pid_t> all_processes() { return numbers_in("/proc"); }

std::vector<pid_t> descendants_of(pid_t root) {
  std::vector<pid_t> out;
  if (!add_children(root, out)) return descendants_by_scan(root);
  for (size_t i = 0; i < out.size(); ++i) add_children(out[i], out);
  return out;
}

int64_t resident_bytes(const std::vector<pid_t>& processes) {
  static const int64_t page_bytes = ::sysconf(_SC_PAGESIZE);
  int64_t own = 0;
  int64_t shared_max = 0;
  for (const pid_t process : processes) {
    const std::string text = proc_text(process, "statm");
    base::FieldSplitter fields;
    fields.split_blanks(text);
    if (fields.fields().size() < 3) continue;
    const int64_t resident = base::parse_int(fields.fields()[1]).value_or(0);
    const int64_t shared = base::parse_int(fields.fields()[2]).value_or(0);
    own += std::max<int64_t>(resident - shared, 0);
    shared_max = std::max(shared_max, shared);
  }
  return (own + shared_max) * page_bytes;
}

int64_t proportional_bytes(const std::vector<pid_t>& processes) {
  int64_t kibibytes = 0;
  for (const pid_t process : processes) {
    kibibytes += line_value(proc_text(process, "smaps_rollup"), "\nPss:");
  }
  return kibibytes * 1024;
}

double tree_cpu_s(pid_t root) {
  static const auto ticks_per_s = static_cast<double>(::sysconf(_SC_CLK_TCK));
  const CpuTicks of_root = cpu_ticks(root);
  if (of_root.own < 0) return -1;
  int64_t sum = of_root.waited_for;
  for (const pid_t process : descendants_of(root)) {
    const CpuTicks ticks = cpu_ticks(process);
    if (ticks.own >= 0) sum += ticks.own + ticks.waited_for;
  }
  return static_cast<double>(sum) / ticks_per_s;
}

bool catches(pid_t process, int signal) {
  const auto mask =
      static_cast<uint64_t>(line_value(proc_text(process, "status"), "\nSigCgt:", 16));
  return signal > 0 && signal <= 64 && (mask >> static_cast<unsigned>(signal - 1) & 1U) != 0;
}

bool has_environment(pid_t process, const std::string& entry) {
  const std::string text = std::string(1, '\0') + proc_text(process, "environ");
  return text.find('\0' + entry + '\0') != std::string::npos;
}

void close_files(unsigned first, unsigned last) {
  if (first > last || ::syscall(SYS_close_range, first, last, 0U) == 0) return;
  const auto count = static_cast<unsigned>(::sysconf(_SC_OPEN_MAX));  // before Linux 5.9
  for (unsigned file = first; file <= last && file < count; ++file) ::close(static_cast<int>(file));
}

}  // namespace goban::live::machine
