#include "live/machine/cgroup.hpp"

#include <cerrno>
#include <csignal>
#include <fcntl.h>
#include <fmt/format.h>
#include <string_view>
#include <sys/stat.h>
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

/// Mount point of the version 2 hierarchy; empty: not mounted.
std::string mount_point() {
  std::string out;
  each_line(read_or_empty("/proc/self/mountinfo"), [&](const auto& fields) {
    for (size_t i = 6; i + 1 < fields.size(); ++i) {
      if (fields[i] == "-" && fields[i + 1] == "cgroup2" && out.empty()) out = fields[4];
    }
  });
  return out;
}

std::string own_cgroup() {
  std::string out;
  each_line(read_or_empty("/proc/self/cgroup"), [&](const auto& fields) {
    if (fields[0].starts_with("0::")) out = fields[0].substr(3);
  });
  return out;
}

std::string found_root() {
  const std::string mount = mount_point();
  if (mount.empty()) return {};
  if (::geteuid() == 0) return mount + "/goban";
  const std::string own = own_cgroup();
  return own.empty() || own == "/" ? std::string{} : mount + own + "/goban";
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

std::optional<Cgroup> Cgroup::make(const std::string& root, const std::string& name) {
  if (root == "-") return std::nullopt;
  const std::string parent = root.empty() ? found_root() : root;
  if (parent.empty()) return std::nullopt;
  if (::mkdir(parent.c_str(), 0755) != 0 && errno != EEXIST) return std::nullopt;
  // Fails if the controller is missing or the parent contains processes: then the supervisor
  // watches the memory.
  static_cast<void>(put(parent + "/../cgroup.subtree_control", "+memory"));
  static_cast<void>(put(parent + "/cgroup.subtree_control", "+memory"));
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
