// The payloads of the last seconds in one file, so that concurrent submissions share one sync. Each
// payload also has its own file, which is synced later; after a power failure the files are
// restored from the pack.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "base/time.hpp"

namespace goban::serve::stores {

/// File name of a payload, in a folder that has the payload's name.
inline constexpr const char* kPayloadFile = "payload.json";

class PayloadPack {
 public:
  /// Passes every payload in the packs of `folder` to `restore`, which writes missing or different
  /// files. Then syncs all files of the folder and removes the packs. Errors: Failed; those of
  /// `restore`; BadData if a pack is damaged.
  using Restore = std::function<base::Status(const std::string& name, std::string_view payload)>;
  [[nodiscard]] static base::Result<std::unique_ptr<PayloadPack>> open(
      const std::string& folder, const Restore& restore,
      base::TimeNs settle_every_ns = base::kSecond);
  /// Syncs the files and removes its pack.
  ~PayloadPack();
  PayloadPack(const PayloadPack&) = delete;
  PayloadPack& operator=(const PayloadPack&) = delete;

  /// Returns when the payload is durable. Its own file must have been written before, but need not
  /// be synced. Thread-safe; concurrent calls share one sync. Errors: Failed (disk full,
  /// read-only).
  [[nodiscard]] base::Status add(std::string_view name, std::string_view payload);
  /// Syncs the files of all payloads added so far and removes their packs. A separate thread does
  /// this periodically. Errors: Failed; then the packs stay.
  [[nodiscard]] base::Status settle();

 private:
  struct Work;
  explicit PayloadPack(std::unique_ptr<Work> work);
  std::unique_ptr<Work> work_;
};

}  // namespace goban::serve::stores
