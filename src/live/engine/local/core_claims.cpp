#include "live/engine/local/core_claims.hpp"

#include <algorithm>
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

CoreClaims claim_cores(const std::string& folder, const RunOrder& order) {
  return claim_cores(folder, static_cast<size_t>(std::max(0, order.spec.cores)) *
                                 std::max(1U, order.run_instances));
}

std::vector<int32_t> cpus_of(const RunOrder& order, const CoreClaims& claims) {
  std::vector<int32_t> cpus = claims.cpus;
  for (const base::gpus::LocalGpu& gpu : order.gpus) {
    cpus.insert(cpus.end(), gpu.cpus.begin(), gpu.cpus.end());
  }
  std::sort(cpus.begin(), cpus.end());
  cpus.erase(std::unique(cpus.begin(), cpus.end()), cpus.end());
  return cpus;
}

}  // namespace goban::live::engine::local
