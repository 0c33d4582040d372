// How a run is ended, step by step: the request for a checkpoint (a line to its progress sockets,
// and the signal it asked for), SIGTERM, SIGKILL.
#pragma once

#include <cstdint>

#include "base/time.hpp"
#include "live/engine.hpp"

namespace goban::live::engine::local {

class StopPlan {
 public:
  enum class Step : uint8_t { None, Checkpoint, Terminate, Kill };

  /// The first order counts; repeated ones change nothing.
  void order(StopReason reason, const job::StopWish& wish, base::TimeNs now_ns) {
    if (ordered_) return;
    ordered_ = true;
    reason_ = reason;
    const bool asks = wish.signal > 0 || wish.lead_ns > 0;
    checkpoint_ns_ = asks ? now_ns : base::kNever;
    terminate_ns_ = asks ? base::add_saturating(now_ns, wish.lead_ns) : now_ns;
    kill_ns_ = base::add_saturating(terminate_ns_, wish.grace_ns);
  }
  /// Ends it at once, as for its memory.
  void kill_now(base::TimeNs now_ns) { kill_ns_ = now_ns; }

  /// The step that is due, each once; the harshest first.
  [[nodiscard]] Step due(base::TimeNs now_ns) {
    if (now_ns >= kill_ns_) {
      if (killed_) return Step::None;
      killed_ = true;
      return Step::Kill;
    }
    if (now_ns >= terminate_ns_) {
      terminate_ns_ = checkpoint_ns_ = base::kNever;
      return Step::Terminate;
    }
    if (now_ns >= checkpoint_ns_) {
      checkpoint_ns_ = base::kNever;
      return Step::Checkpoint;
    }
    return Step::None;
  }
  /// When due() may have something again.
  [[nodiscard]] base::TimeNs next_ns() const {
    if (killed_) return base::kNever;
    return checkpoint_ns_ < terminate_ns_ ? checkpoint_ns_
                                          : (terminate_ns_ < kill_ns_ ? terminate_ns_ : kill_ns_);
  }
  /// Nobody heard the request, so there is nothing to wait for before SIGTERM.
  void skip_lead(base::TimeNs now_ns) {
    if (terminate_ns_ == base::kNever || terminate_ns_ <= now_ns) return;
    kill_ns_ = kill_ns_ == base::kNever ? kill_ns_ : kill_ns_ - (terminate_ns_ - now_ns);
    terminate_ns_ = now_ns;
  }

  [[nodiscard]] bool ordered() const { return ordered_; }
  [[nodiscard]] bool killed() const { return killed_; }
  [[nodiscard]] StopReason reason() const { return reason_; }

 private:
  bool ordered_ = false;
  bool killed_ = false;
  StopReason reason_ = StopReason::Preempted;
  base::TimeNs checkpoint_ns_ = base::kNever;
  base::TimeNs terminate_ns_ = base::kNever;
  base::TimeNs kill_ns_ = base::kNever;
};

}  // namespace goban::live::engine::local
