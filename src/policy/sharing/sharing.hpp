// Sharing: how many jobs may hold one GPU at a time.
#pragma once

#include <cstdint>
#include <memory>

namespace goban::policy {

/// Decides with whom a job may share a GPU. `exclusive` is the only policy yet: placement then
/// draws from wholly free GPUs alone.
class Sharing {
 public:
  virtual ~Sharing() = default;
  [[nodiscard]] virtual int32_t jobs_per_gpu_max() const = 0;
};

std::unique_ptr<Sharing> make_exclusive();

}  // namespace goban::policy
