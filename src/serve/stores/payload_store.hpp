// Payloads of jobs (script, arguments, environment) on disk. A payload is durable before the
// scheduler gets the job, so a job in the journal always has its payload; a payload without a job
// is removed at the next start. Each is a payload.json in its own folder, named in the JobSpec.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "live/job/job_spec.hpp"
#include "serve/stores/disk_reserve.hpp"
#include "serve/stores/payload_pack.hpp"
#include "serve/stores/payload_use.hpp"

namespace goban::serve::stores {

class PayloadStore {
 public:
  /// Creates the folder (mode 0700) if it is missing, and restores payloads that survived a power
  /// failure only in a pack. `use` counts the payloads from now on; `guard` keeps space free, null
  /// = none. Errors: Failed; BadData if a pack is damaged.
  [[nodiscard]] static base::Result<PayloadStore> open(
      const std::string& folder, std::shared_ptr<PayloadUse> use = std::make_shared<PayloadUse>(0),
      std::shared_ptr<DiskGuard> guard = {});
  PayloadStore(PayloadStore&& other) noexcept;
  PayloadStore& operator=(PayloadStore&&) = delete;
  ~PayloadStore();

  /// Writes a payload durably; returns the name of its folder, which cannot be guessed. Concurrent
  /// calls share a sync. Errors: Usage if the owner has reached the limit of bytes; Failed (disk
  /// full or nearly so, read-only). Then nothing is left behind.
  [[nodiscard]] base::Result<std::string> write(std::string_view payload,
                                                const live::job::Owner& owner) const;
  /// Removes a payload; names that write() does not produce are ignored.
  void discard(const std::string& name) const;
  /// Removes all payloads except `used`, which it counts for their users; call it before the API
  /// opens. Returns the number removed.
  size_t sweep(const std::map<std::string, uint32_t>& used) const;

 private:
  PayloadStore(std::string folder, int descriptor, std::shared_ptr<PayloadUse> use)
      : folder_(std::move(folder)), descriptor_(descriptor), use_(std::move(use)) {}
  /// Counts the stored payload of this name.
  void count(const std::string& name, uint32_t uid) const;
  std::string folder_;
  int descriptor_ = -1;
  std::shared_ptr<PayloadUse> use_;
  std::shared_ptr<DiskGuard> guard_;  ///< null: none
  std::unique_ptr<PayloadPack> pack_;
};

}  // namespace goban::serve::stores
