// The output interface of the generators: text in pieces of about 1 MiB.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace goban::study::history {

using TextSink = std::function<void(std::string_view)>;
/// Called from time to time with the work done and the total, in units of the generator.
using WorkProgress = std::function<void(int64_t done, int64_t total)>;

/// Collects text and passes it on in pieces.
class PieceWriter {
 public:
  explicit PieceWriter(const TextSink& sink) : sink_(sink) {}
  /// The buffer to append to.
  [[nodiscard]] std::string& text() { return text_; }
  /// Call after each record; returns true if a piece was passed on.
  bool record_done() {
    if (text_.size() < kPieceBytes) return false;
    finish();
    return true;
  }
  void finish() {
    sink_(text_);
    text_.clear();
  }

 private:
  static constexpr size_t kPieceBytes = size_t{1} << 20;
  const TextSink& sink_;
  std::string text_;
};

}  // namespace goban::study::history
