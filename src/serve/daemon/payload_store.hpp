// Payloads of jobs (script, arguments, environment) on disk. A payload is durable before the
// scheduler gets the job, so a job in the journal always has its payload; a payload without a job
// is removed at the next start. Each is a payload.json in its own folder, named in the JobSpec.
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
  /// Creates the folder (mode 0700) if it is missing, and restores payloads that survived a power
  /// failure only in a pack. Errors: Failed; BadData if a pack is damaged.
  [[nodiscard]] static base::Result<PayloadStore> open(const std::string& folder);
  PayloadStore(PayloadStore&& other) noexcept;
  PayloadStore& operator=(PayloadStore&&) = delete;
  ~PayloadStore() override;

  /// Writes a payload durably; returns the name of its folder, which cannot be guessed. Concurrent
  /// calls share a sync. Errors: Failed (disk full, read-only); then nothing is left behind.
  [[nodiscard]] base::Result<std::string> write(std::string_view payload) const override;
  /// Removes a payload; names that write() does not produce are ignored.
  void discard(const std::string& name) const override;
  /// Removes all payloads except `used`; call it before the API opens. Returns the number removed.
  size_t sweep(const std::set<std::string>& used) const;

 private:
  explicit PayloadStore(std::string folder, int descriptor)
      : folder_(std::move(folder)), descriptor_(descriptor) {}
  std::string folder_;
  int descriptor_ = -1;
  std::unique_ptr<PayloadPack> pack_;
};

}  // namespace goban::serve::daemon
