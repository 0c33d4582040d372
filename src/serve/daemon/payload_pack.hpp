// Payloads of the last seconds in one file, so that those that come together share one sync. Each
// has a file of its own besides, which is synced later; the pack is what a power failure leaves.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "base/time.hpp"

namespace goban::serve::daemon {

/// Of a payload, in a folder that has its name.
inline constexpr const char* kPayloadFile = "payload.json";

class PayloadPack {
 public:
  /// Gives what the packs in `folder` hold to `restore`, which writes a file where there is none or
  /// another one; then all files of the folder are synced, and the packs go. Errors: Failed; those
  /// of `restore`; BadData if a pack is damaged.
  using Restore = std::function<base::Status(const std::string& name, std::string_view payload)>;
  [[nodiscard]] static base::Result<std::unique_ptr<PayloadPack>> open(
      const std::string& folder, const Restore& restore,
      base::TimeNs settle_every_ns = base::kSecond);
  /// Syncs the files and removes its pack.
  ~PayloadPack();
  PayloadPack(const PayloadPack&) = delete;
  PayloadPack& operator=(const PayloadPack&) = delete;

  /// Returns when it is safe. The payload's own file was written before, if not synced. From any
  /// thread; those that wait together wait for one sync. Errors: Failed (disk full, read-only).
  [[nodiscard]] base::Status add(std::string_view name, std::string_view payload);
  /// Syncs the files of all that was added so far and removes it from the pack. A thread of its own
  /// does that again and again. Errors: Failed; the pack stays as it is.
  [[nodiscard]] base::Status settle();

 private:
  struct Work;
  explicit PayloadPack(std::unique_ptr<Work> work);
  std::unique_ptr<Work> work_;
};

}  // namespace goban::serve::daemon
