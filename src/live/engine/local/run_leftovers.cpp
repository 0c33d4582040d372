#include "live/engine/local/run_leftovers.hpp"

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <fmt/format.h>

#include "live/engine/local/job_environment.hpp"
#include "live/engine/local/run_status.hpp"
#include "live/machine/cgroup.hpp"
#include "live/machine/process_tree.hpp"

namespace goban::live::engine::local {

bool end_leftovers(const RunFolder& folder) {
  bool none = true;
  if (const auto text = base::read_small_file(folder.file("running"))) {
    const auto note = parse_note(*text, folder.file("running"));
    if (note && !note->cgroup.empty()) {
      const machine::Cgroup cgroup = machine::Cgroup::at(note->cgroup);
      none = cgroup.processes().empty();
      if (!none) cgroup.kill();
      cgroup.remove();
    }
    if (note && !note->device_cgroup.empty()) machine::Cgroup::at(note->device_cgroup).remove();
  }
  const std::string mark = fmt::format("{}={}", kKeyVariable, folder.key());
  for (const pid_t process : machine::all_processes()) {
    if (!machine::has_environment(process, mark)) continue;
    none = false;
    ::kill(process, SIGKILL);
  }
  return none;
}

void remove_sockets(const RunFolder& folder) {
  std::error_code error;
  const std::filesystem::path sockets =
      std::filesystem::read_symlink(folder.file("sockets"), error);
  if (!error) std::filesystem::remove_all(sockets, error);
}

std::string tail_of_log(const RunFolder& folder) {
  auto text = base::read_small_file(folder.file("supervisor.log"));
  if (!text || text->empty()) return {};
  constexpr size_t kTail = 500;
  return ": " + text->substr(text->size() - std::min(text->size(), kTail));
}

}  // namespace goban::live::engine::local
