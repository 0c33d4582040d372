#include "serve/stores/disk_reserve.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <sys/statvfs.h>

#include "base/files.hpp"

namespace goban::serve::stores {
namespace {

constexpr int64_t kFilesOfAJob = 16;  ///< more than a submission and its first run create

double mib(int64_t bytes) { return static_cast<double>(bytes) / (1 << 20); }

}  // namespace

std::string shortage(const DiskSpace& space, const DiskReserve& reserve, int64_t more) {
  const auto part = [&](int64_t all) {
    return static_cast<int64_t>(static_cast<double>(all) * reserve.share);
  };
  const int64_t kept = std::min(reserve.bytes, part(space.bytes));
  if (kept > 0 && space.bytes_free - more < kept) {
    return fmt::format("{:.1f} MiB are free, and submissions leave {:.1f} MiB to the journal",
                       mib(space.bytes_free), mib(kept));
  }
  const int64_t files_kept = reserve.bytes > 0 ? part(space.files) : 0;
  if (files_kept > 0 && space.files_free - kFilesOfAJob < files_kept) {
    return fmt::format("{} files are free, and submissions leave {} to the daemon",
                       space.files_free, files_kept);
  }
  return {};
}

DiskGuard::DiskGuard(std::string folder, DiskReserve reserve,
                     std::function<void(const std::string&)> say)
    : folder_(std::move(folder)), reserve_(reserve), say_(std::move(say)) {}

base::Status DiskGuard::check(size_t more) {
  struct statvfs facts{};
  if (::statvfs(folder_.c_str(), &facts) != 0) {
    return base::system_error("cannot query the free space of", folder_);
  }
  const auto block = static_cast<int64_t>(facts.f_frsize);
  const std::string why = shortage({.bytes = static_cast<int64_t>(facts.f_blocks) * block,
                                    .bytes_free = static_cast<int64_t>(facts.f_bavail) * block,
                                    .files = static_cast<int64_t>(facts.f_files),
                                    .files_free = static_cast<int64_t>(facts.f_favail)},
                                   reserve_, static_cast<int64_t>(more));
  if (is_short_.exchange(!why.empty()) == why.empty()) {
    say_(why.empty() ? fmt::format("the disk of {} has space again; submissions are taken", folder_)
                     : fmt::format("the disk of {} is nearly full: {}; submissions are refused, "
                                   "and jobs continue",
                                   folder_, why));
  }
  if (why.empty()) return {};
  return base::failed(fmt::format("the disk of {} is nearly full: {}", folder_, why),
                      "an operator must free space on that disk, or lower disk_reserve");
}

}  // namespace goban::serve::stores
