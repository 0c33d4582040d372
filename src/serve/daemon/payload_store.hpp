// Payloads of jobs (script, arguments, environment) on disk, safe before the scheduler hears of
// the job: a job in the journal always has its payload, and a payload without a job is swept away
// at the next start. Each lies as payload.json in a folder of its own, whose name the JobSpec has.
#pragma once

#include <memory>
#include <set>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "serve/api/daemon_parts.hpp"
#include "serve/daemon/payload_pack.hpp"

namespace goban::serve::daemon {

class PayloadStore final : public api::Payloads {
 public:
  /// Creates the folder (mode 0700) if it is missing, and brings back what a power failure left in
  /// its pack only. Errors: Failed; BadData if that is damaged.
  [[nodiscard]] static base::Result<PayloadStore> open(const std::string& folder);
  PayloadStore(PayloadStore&& other) noexcept;
  PayloadStore& operator=(PayloadStore&&) = delete;
  ~PayloadStore() override;

  /// Writes it so that it survives a power failure; returns the name of its folder, which nobody
  /// can guess. Those that come at the same time share a sync. Errors: Failed (disk full,
  /// read-only); nothing is left then.
  [[nodiscard]] base::Result<std::string> write(std::string_view payload) const override;
  /// Removes one; names that are none of ours are ignored.
  void discard(const std::string& name) const override;
  /// Removes all but those; call it before the API opens. Returns how many it removed.
  size_t sweep(const std::set<std::string>& used) const;

 private:
  explicit PayloadStore(std::string folder, int descriptor)
      : folder_(std::move(folder)), descriptor_(descriptor) {}
  std::string folder_;
  int descriptor_ = -1;
  std::unique_ptr<PayloadPack> pack_;
};

}  // namespace goban::serve::daemon
