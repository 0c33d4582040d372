#include "live/engine/local/core_claims.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sched.h>
#include <sys/stat.h>

namespace goban::live::engine::local {

CoreClaims claim_cores(const std::string& folder, size_t wanted) {
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  if (::sched_getaffinity(0, sizeof allowed, &allowed) != 0) return {};
  if (wanted == 0 || wanted >= static_cast<size_t>(CPU_COUNT(&allowed))) return {};
  static_cast<void>(::mkdir(folder.c_str(), 0700));
  CoreClaims claims;
  for (int32_t cpu = 0; cpu < CPU_SETSIZE && claims.cpus.size() < wanted; ++cpu) {
    if (!CPU_ISSET(cpu, &allowed)) continue;
    const std::string path = fmt::format("{}/{}", folder, cpu);
    base::Descriptor file(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
    struct flock lock{};
    lock.l_type = F_WRLCK;
    lock.l_whence = SEEK_SET;
    if (!file || ::fcntl(file.get(), F_OFD_SETLK, &lock) != 0) continue;
    claims.cpus.push_back(cpu);
    claims.locks.push_back(std::move(file));
  }
  if (claims.cpus.size() < wanted) return {};
  return claims;
}

}  // namespace goban::live::engine::local
