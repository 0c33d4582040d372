// Who may write to the cluster: the holder of a Lease (coordination.k8s.io/v1). It is left in time
// by the steady clock and waited out by the next, so that no two clocks are compared. Pure.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "base/time.hpp"

namespace goban::live::engine::kubernetes {

using base::TimeNs;

inline constexpr std::string_view kHolderPrefix = "goban_";  ///< of the names of our daemons

struct LeaseRecord {
  std::string holder{};      ///< empty: nobody
  int64_t duration_s = 0;    ///< for programs other than ours: free if not renewed for so long
  int64_t transitions = 0;   ///< changes of the holder
  std::string version{};     ///< resourceVersion; empty: it does not exist yet
  std::string book{};        ///< the jobs of the holder: the id of its state folder and of copies
  std::string home{};        ///< the place of that folder, as it is now
  uint64_t epoch = 0;        ///< of the marks that the holder writes
  uint64_t first_epoch = 0;  ///< marks of lower epochs are of another state folder
};

/// nullopt: it is no Lease. Texts are bounded, numbers in range.
[[nodiscard]] std::optional<LeaseRecord> read_lease(const nlohmann::json& object);
/// Body of POST or PUT. `place`: NAMESPACE/NAME.
[[nodiscard]] std::string lease_body(std::string_view place, const LeaseRecord& lease,
                                     TimeNs wall_ns);

struct LeaseTerms {
  std::string holder{};  ///< this process, with kHolderPrefix
  std::string book{};    ///< as in LeaseRecord
  std::string home{};    ///< likewise; empty: unknown
  uint64_t epoch = 0;    ///< of its journal
  /// A stand-by of ours takes over when the Lease was not renewed for so long. We write for two
  /// thirds of it after a renewal; other programs wait for four times as long.
  TimeNs takeover_ns = 15 * base::kSecond;
  /// No other process works in `home`: what an earlier one there held is taken at once.
  bool is_alone = false;
};

class Leadership {
 public:
  explicit Leadership(LeaseTerms terms) : terms_(std::move(terms)) {}

  /// The Lease as the API server has it; nullopt: there is none.
  void saw(const std::optional<LeaseRecord>& lease, TimeNs now_ns);
  /// What to write in its place; nullopt: nothing now. `beat_ns`: when the last commit cycle was
  /// completed; -1: none was. Only a later one than the last renewal renews.
  [[nodiscard]] std::optional<LeaseRecord> next(TimeNs beat_ns, TimeNs now_ns) const;
  /// The API server took what next() made, in a request that was sent at `sent_ns`.
  void wrote(const LeaseRecord& lease, TimeNs sent_ns);

  [[nodiscard]] bool may_write(TimeNs now_ns) const;
  /// The Lease was ours, and another of our daemons has taken it.
  [[nodiscard]] bool is_lost() const { return is_lost_; }
  [[nodiscard]] bool is_ours() const { return known_ && known_->holder == terms_.holder; }
  /// The Lease was ours at some time.
  [[nodiscard]] bool was_ours() const { return was_ours_; }
  /// Of the marks to write; of the journal, as long as the Lease was never ours.
  [[nodiscard]] uint64_t epoch() const { return was_ours_ ? epoch_ : terms_.epoch; }
  [[nodiscard]] uint64_t first_epoch() const { return was_ours_ ? first_epoch_ : 0; }

 private:
  [[nodiscard]] bool may_take(TimeNs now_ns) const;
  void took(const LeaseRecord& lease, TimeNs now_ns);

  LeaseTerms terms_;
  std::optional<LeaseRecord> known_;
  TimeNs changed_ns_ = -1;  ///< when `known_` was first seen so
  TimeNs sent_ns_ = -1;     ///< of the last renewal
  TimeNs quiet_ns_ = -1;    ///< until then a program that is not ours may still write
  int64_t stranger_s_ = 0;  ///< the patience of the last such holder
  bool was_ours_ = false;
  bool is_lost_ = false;
  uint64_t epoch_ = 0;
  uint64_t first_epoch_ = 0;
};

}  // namespace goban::live::engine::kubernetes
