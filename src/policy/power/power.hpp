// Power: what happens to nodes and GPUs that nobody uses.
#pragma once

#include <memory>

namespace goban::policy {

/// Decides on power states. `on` is the only policy yet: every node stays awake, so every free GPU
/// can be given out at once.
class Power {
 public:
  virtual ~Power() = default;
  /// May put an idle node to sleep.
  [[nodiscard]] virtual bool may_sleep() const = 0;
};

std::unique_ptr<Power> make_always_on();

}  // namespace goban::policy
