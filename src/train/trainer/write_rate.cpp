#include "train/trainer/write_rate.hpp"

#include <algorithm>
#include <cstdlib>
#include <string_view>
#include <unistd.h>

#include "base/clock.hpp"
#include "base/files.hpp"

namespace goban::train::trainer {
namespace {

constexpr int64_t kMostWritten = int64_t{64} << 20;
constexpr int kMostTimes = 5;
constexpr double kEnough_s = 0.3;

/// Bytes that no file system can compress.
std::string noise(size_t size) {
  std::string out(size, '\0');
  uint64_t state = 1;
  for (char& each : out) {
    state = state * 6364136223846793005U + 1442695040888963407U;
    each = static_cast<char>(state >> 56U);
  }
  return out;
}

/// Seconds for one file; nullopt if it cannot be written.
std::optional<double> write_once(const std::string& folder, std::string_view block, int64_t bytes) {
  std::string path = folder + "/rate-XXXXXX";
  const base::Descriptor file(mkstemp(path.data()));
  if (!file || unlink(path.c_str()) != 0) return std::nullopt;
  const double start_s = base::steady_s();
  for (int64_t left = bytes; left > 0; left -= static_cast<int64_t>(block.size())) {
    const auto part = std::min(left, static_cast<int64_t>(block.size()));
    if (!base::write_all(file.get(), block.substr(0, static_cast<size_t>(part)))) {
      return std::nullopt;
    }
  }
  if (fsync(file.get()) != 0) return std::nullopt;
  return base::steady_s() - start_s;
}

}  // namespace

std::optional<double> measured_write_rate(const std::string& folder, int64_t bytes) {
  if (bytes <= 0) return std::nullopt;
  bytes = std::min(bytes, kMostWritten);
  const std::string block = noise(size_t{1} << 20U);
  std::optional<double> best_s;
  double spent_s = 0;
  for (int i = 0; i < kMostTimes && spent_s < kEnough_s; ++i) {
    const auto taken_s = write_once(folder, block, bytes);
    if (!taken_s) return std::nullopt;
    spent_s += *taken_s;
    best_s = std::min(best_s.value_or(*taken_s), *taken_s);
  }
  return static_cast<double>(bytes) / std::max(*best_s, 1e-9);
}

}  // namespace goban::train::trainer
