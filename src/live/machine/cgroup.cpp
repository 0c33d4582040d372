#include "live/machine/cgroup.hpp"

#include <cerrno>
#include <csignal>
#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <string_view>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "base/field_splitter.hpp"
#include "base/files.hpp"
#include "base/number.hpp"

namespace goban::live::machine {
namespace {

/// Calls `see` with the fields of each line, split at blanks.
template <typename See>
void each_line(const std::string& text, See see) {
  base::FieldSplitter fields;
  size_t at = 0;
  while (at < text.size()) {
    const size_t end = std::min(text.find('\n', at), text.size());
    fields.split_blanks(std::string_view(text).substr(at, end - at));
    if (!fields.fields().empty()) see(fields.fields());
    at = end + 1;
  }
}

std::string read_or_empty(const std::string& path) {
  auto text = base::read_small_file(path);
  return text ? std::move(*text) : std::string{};
}

bool put(const std::string& path, std::string_view text) {
  const base::Descriptor file(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
  return file && base::write_all(file.get(), text);
}

/// Mount point of a hierarchy: `cgroup2`, or `cgroup` with one of its options. Empty: not mounted.
std::string mount_point(std::string_view type, std::string_view option = {}) {
  std::string out;
  each_line(read_or_empty("/proc/self/mountinfo"), [&](const auto& fields) {
    for (size_t i = 6; i + 3 < fields.size(); ++i) {
      if (fields[i] != "-" || fields[i + 1] != type || !out.empty()) continue;
      const std::string options = "," + std::string(fields[i + 3]) + ",";
      if (option.empty() || options.find(fmt::format(",{},", option)) != std::string::npos) {
        out = fields[4];
      }
    }
  });
  return out;
}

/// The cgroup of this process in the hierarchy of a controller; version 2: in that without a name.
std::string own_cgroup(std::string_view controller = {}) {
  std::string out;
  each_line(read_or_empty("/proc/self/cgroup"), [&](const auto& fields) {
    const std::string_view line = fields[0];
    const size_t names = line.find(':') + 1;
    const size_t path = line.find(':', names) + 1;
    if (names == 0 || path == 0) return;
    if (line.substr(names, path - 1 - names) == controller) out = line.substr(path);
  });
  return out;
}

/// systemd marks the cgroups that it leaves to others.
bool is_delegated(const std::string& cgroup) {
  const char* mark = ::geteuid() == 0 ? "trusted.delegate" : "user.delegate";
  char value = 0;
  return ::getxattr(cgroup.c_str(), mark, &value, 1) == 1 && value == '1';
}

/// For the children of a cgroup. Fails for a controller that is missing, and for all if the cgroup
/// contains processes: then the supervisor watches memory and cores.
void enable_controllers(const std::string& cgroup) {
  for (const char* controller : {"+memory", "+cpuset"}) {
    static_cast<void>(put(cgroup + "/cgroup.subtree_control", controller));
  }
}

/// Moves the processes of a delegated unit to a leaf, so that it can enable controllers.
void clear_inner(const std::string& cgroup) {
  const std::string leaf = cgroup + "/unit";
  static_cast<void>(::mkdir(leaf.c_str(), 0755));
  for (const pid_t process : Cgroup::at(cgroup).processes()) {
    static_cast<void>(put(leaf + "/cgroup.procs", fmt::format("{}", process)));
  }
}

/// The value of a `name value` line; -1 if it is missing.
int64_t value_of(const std::string& path, std::string_view name) {
  int64_t out = -1;
  each_line(read_or_empty(path), [&](const auto& fields) {
    if (fields.size() == 2 && fields[0] == name) out = base::parse_int(fields[1]).value_or(-1);
  });
  return out;
}

}  // namespace

std::string find_cgroup_root() {
  const std::string mount = mount_point("cgroup2");
  if (mount.empty()) return {};
  const std::string own = own_cgroup();
  const std::string cgroup = own == "/" ? mount : mount + own;
  constexpr std::string_view kUnit = ".service";
  if (own.ends_with(kUnit)) {
    std::string jobs = cgroup.substr(0, cgroup.size() - kUnit.size()) + "-jobs.service";
    if (is_delegated(jobs)) {
      clear_inner(jobs);
      enable_controllers(jobs);
      return jobs;
    }
  }
  const bool is_root = ::geteuid() == 0;
  if (is_root && !is_delegated(cgroup)) {
    enable_controllers(mount);
    return mount + "/goban";
  }
  return own.empty() || own == "/" ? std::string{} : cgroup + "/goban";
}

std::string find_device_cgroup_root() {
  const std::string mount = mount_point("cgroup", "devices");
  if (mount.empty()) return {};
  const std::string own = own_cgroup("devices");
  return mount + (own == "/" ? "" : own) + "/goban";
}

std::optional<Cgroup> Cgroup::make(const std::string& root, const std::string& name) {
  if (root == "-") return std::nullopt;
  const std::string parent = root.empty() ? find_cgroup_root() : root;
  if (parent.empty()) return std::nullopt;
  if (::mkdir(parent.c_str(), 0755) != 0 && errno != EEXIST) return std::nullopt;
  enable_controllers(parent);
  std::string path = parent + "/" + name;
  if (::mkdir(path.c_str(), 0755) != 0 && errno != EEXIST) return std::nullopt;
  Cgroup out(std::move(path));
  if (::access(out.procs_file().c_str(), W_OK) != 0) {
    out.remove();
    return std::nullopt;
  }
  return out;
}

std::vector<pid_t> Cgroup::processes() const {
  std::vector<pid_t> out;
  each_line(read_or_empty(procs_file()), [&](const auto& fields) {
    if (const auto pid = base::parse_int(fields[0]); pid && *pid > 0) {
      out.push_back(static_cast<pid_t>(*pid));
    }
  });
  return out;
}

bool Cgroup::limit_memory(int64_t bytes) const {
  if (!put(path_ + "/memory.max", fmt::format("{}", bytes))) return false;
  static_cast<void>(put(path_ + "/memory.swap.max", "0"));
  // Kill all processes of the run together, as the remainder of a job that lost a process hangs.
  static_cast<void>(put(path_ + "/memory.oom.group", "1"));
  return true;
}

bool Cgroup::limit_cores(const std::vector<int32_t>& cpus) const {
  return put(path_ + "/cpuset.cpus", fmt::format("{}", fmt::join(cpus, ",")));
}
bool Cgroup::freeze(bool frozen) const { return put(path_ + "/cgroup.freeze", frozen ? "1" : "0"); }

void Cgroup::kill() const {
  if (put(path_ + "/cgroup.kill", "1")) return;
  for (const pid_t process : processes()) ::kill(process, SIGKILL);  // before Linux 5.14
}

double Cgroup::cpu_s() const {
  const int64_t usec = value_of(path_ + "/cpu.stat", "usage_usec");
  return usec < 0 ? -1 : static_cast<double>(usec) / 1e6;
}

int64_t Cgroup::memory_bytes_max() const {
  std::string text = read_or_empty(path_ + "/memory.peak");
  if (!text.empty() && text.back() == '\n') text.pop_back();
  return base::parse_int(text).value_or(-1);
}

int64_t Cgroup::memory_kills() const {
  return std::max<int64_t>(0, value_of(path_ + "/memory.events", "oom_kill"));
}

void Cgroup::remove() const { ::rmdir(path_.c_str()); }

}  // namespace goban::live::machine
