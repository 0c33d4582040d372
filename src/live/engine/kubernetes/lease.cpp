#include "live/engine/kubernetes/lease.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/number.hpp"
#include "live/engine/kubernetes/object_fields.hpp"

namespace goban::live::engine::kubernetes {

namespace {

using nlohmann::json;

constexpr const char* kBookNote = "goban.dev/book";
constexpr const char* kHomeNote = "goban.dev/home";
constexpr const char* kEpochNote = "goban.dev/epoch";
constexpr const char* kFirstEpochNote = "goban.dev/first-epoch";
constexpr TimeNs kRenewals = 7;    ///< in the time of a take-over
constexpr int64_t kStrangers = 4;  ///< times as patient as ours

uint64_t epoch_at(const json& notes, const char* name) {
  const auto value = base::parse_int(text_at(notes, name));
  return value && *value > 0 ? static_cast<uint64_t>(*value) : 0;
}

bool is_of_goban(const LeaseRecord& lease) { return lease.holder.starts_with(kHolderPrefix); }

}  // namespace

std::optional<LeaseRecord> read_lease(const json& object) {
  constexpr int64_t kMost = int64_t{1} << 31;
  const json& meta = member(object, "metadata");
  const json& notes = member(meta, "annotations");
  const json& spec = member(object, "spec");
  LeaseRecord out{.holder = text_at(spec, "holderIdentity"),
                  .duration_s = whole_at(spec, "leaseDurationSeconds", 0, kMost, 0),
                  .transitions = whole_at(spec, "leaseTransitions", 0, kMost, 0),
                  .version = text_at(meta, "resourceVersion", kNameMost),
                  .book = text_at(notes, kBookNote),
                  .home = text_at(notes, kHomeNote),
                  .epoch = epoch_at(notes, kEpochNote),
                  .first_epoch = epoch_at(notes, kFirstEpochNote)};
  if (out.version.empty()) return std::nullopt;
  return out;
}

std::string lease_body(std::string_view place, const LeaseRecord& lease, TimeNs wall_ns) {
  const size_t slash = place.find('/');
  json meta{{"namespace", place.substr(0, slash)},
            {"name", place.substr(slash + 1)},
            {"annotations",
             {{kBookNote, lease.book},
              {kHomeNote, lease.home},
              {kEpochNote, std::to_string(lease.epoch)},
              {kFirstEpochNote, std::to_string(lease.first_epoch)}}}};
  if (!lease.version.empty()) meta["resourceVersion"] = lease.version;
  return json{{"apiVersion", "coordination.k8s.io/v1"},
              {"kind", "Lease"},
              {"metadata", std::move(meta)},
              {"spec",
               {{"holderIdentity", lease.holder},
                {"leaseDurationSeconds", lease.duration_s},
                {"leaseTransitions", lease.transitions},
                {"renewTime", time_text(wall_ns)}}}}
      .dump();
}

void Leadership::saw(const std::optional<LeaseRecord>& lease, TimeNs now_ns) {
  const bool is_new = !lease || !known_ || lease->version != known_->version;
  known_ = lease;
  if (!is_new || !lease) return;
  changed_ns_ = now_ns;
  if (lease->holder == terms_.holder) {
    if (!was_ours_) took(*lease, now_ns);  // the answer to our request was lost
    return;
  }
  if (lease->holder.empty()) return;
  if (is_of_goban(*lease)) {
    is_lost_ = is_lost_ || was_ours_;
  } else {
    stranger_s_ = lease->duration_s;
  }
}

bool Leadership::may_take(TimeNs now_ns) const {
  if (!known_ || known_->holder.empty() || !is_of_goban(*known_)) return true;
  if (terms_.is_alone && !terms_.home.empty() && known_->home == terms_.home) return true;
  return now_ns >= changed_ns_ + terms_.takeover_ns;
}

std::optional<LeaseRecord> Leadership::next(TimeNs beat_ns, TimeNs now_ns) const {
  if (is_lost_ || beat_ns < 0 || beat_ns <= sent_ns_) return std::nullopt;
  LeaseRecord out = known_.value_or(LeaseRecord{});
  const TimeNs takeover_s = std::max<TimeNs>(terms_.takeover_ns / base::kSecond, 1);
  out.duration_s = kStrangers * takeover_s;
  if (is_ours()) {
    if (now_ns < sent_ns_ + terms_.takeover_ns / kRenewals) return std::nullopt;
    return out;
  }
  if (!may_take(now_ns)) return std::nullopt;
  const bool is_first = out.book.empty() && out.epoch == 0;
  out.epoch = is_first ? terms_.epoch : std::max(terms_.epoch, out.epoch + 1);
  if (out.book != terms_.book && !is_first) out.first_epoch = out.epoch;
  if (is_first) out.first_epoch = 0;
  out.book = terms_.book;
  out.home = terms_.home;
  out.holder = terms_.holder;
  ++out.transitions;
  return out;
}

void Leadership::took(const LeaseRecord& lease, TimeNs now_ns) {
  epoch_ = lease.epoch;
  first_epoch_ = lease.first_epoch;
  was_ours_ = true;
  if (stranger_s_ > 0) quiet_ns_ = now_ns + stranger_s_ * base::kSecond;
  stranger_s_ = 0;
}

void Leadership::wrote(const LeaseRecord& lease, TimeNs sent_ns) {
  const bool was_ours = is_ours();
  known_ = lease;
  changed_ns_ = sent_ns;
  if (lease.holder != terms_.holder) return;
  if (!was_ours) took(lease, sent_ns);
  sent_ns_ = sent_ns;
}

bool Leadership::may_write(TimeNs now_ns) const {
  constexpr TimeNs kParts = 3;
  const TimeNs held_ns = 2 * (terms_.takeover_ns / kParts);
  return is_ours() && !is_lost_ && sent_ns_ >= 0 && now_ns < sent_ns_ + held_ns &&
         now_ns >= quiet_ns_;
}

}  // namespace goban::live::engine::kubernetes
