// The steps of stopping a run: the request for a checkpoint (a line on its progress sockets, and
// the signal that it requested), SIGTERM, SIGKILL.
#pragma once

#include <cstdint>

#include "base/time.hpp"
#include "live/engine.hpp"

namespace goban::live::engine::local {

class StopPlan {
 public:
  enum class Step : uint8_t { None, Checkpoint, Terminate, Kill };

  /// Only the first order takes effect.
  void order(StopReason reason, const job::StopRequest& request, base::TimeNs now_ns) {
    if (ordered_) return;
    ordered_ = true;
    reason_ = reason;
    const bool asks = request.signal > 0 || request.lead_ns > 0;
    checkpoint_ns_ = asks ? now_ns : base::kNever;
    terminate_ns_ = asks ? base::add_saturating(now_ns, request.lead_ns) : now_ns;
    kill_ns_ = base::add_saturating(terminate_ns_, request.grace_ns);
  }
  /// Kills it at once, for example because of its memory.
  void kill_now(base::TimeNs now_ns) { kill_ns_ = now_ns; }

  /// The step that is due, each once; SIGKILL takes precedence over SIGTERM and the request.
  [[nodiscard]] Step due(base::TimeNs now_ns) {
    if (now_ns >= kill_ns_) {
      if (killed_) return Step::None;
      killed_ = true;
      return Step::Kill;
    }
    if (now_ns >= terminate_ns_) {
      terminate_ns_ = checkpoint_ns_ = base::kNever;
      terminated_ = true;
      return Step::Terminate;
    }
    if (now_ns >= checkpoint_ns_) {
      checkpoint_ns_ = base::kNever;
      return Step::Checkpoint;
    }
    return Step::None;
  }
  /// When the next step is due; kNever = none.
  [[nodiscard]] base::TimeNs next_ns() const {
    if (killed_) return base::kNever;
    return checkpoint_ns_ < terminate_ns_ ? checkpoint_ns_
                                          : (terminate_ns_ < kill_ns_ ? terminate_ns_ : kill_ns_);
  }
  /// Repeats the request for a checkpoint then, unless SIGTERM is due before.
  void ask_again(base::TimeNs at_ns) { checkpoint_ns_ = terminated() ? base::kNever : at_ns; }
  /// Sends SIGTERM without waiting; the grace stays.
  void terminate_now(base::TimeNs now_ns) {
    if (terminate_ns_ == base::kNever || terminate_ns_ <= now_ns) return;
    kill_ns_ = kill_ns_ == base::kNever ? kill_ns_ : kill_ns_ - (terminate_ns_ - now_ns);
    terminate_ns_ = now_ns;
  }

  [[nodiscard]] bool ordered() const { return ordered_; }
  [[nodiscard]] bool killed() const { return killed_; }
  /// SIGTERM or SIGKILL was due.
  [[nodiscard]] bool terminated() const { return terminated_ || killed_; }
  [[nodiscard]] StopReason reason() const { return reason_; }

 private:
  bool ordered_ = false;
  bool killed_ = false;
  bool terminated_ = false;
  StopReason reason_ = StopReason::Preempted;
  base::TimeNs checkpoint_ns_ = base::kNever;
  base::TimeNs terminate_ns_ = base::kNever;
  base::TimeNs kill_ns_ = base::kNever;
};

}  // namespace goban::live::engine::local
