// How the generators hand out what they write: text in pieces of about 1 MiB.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace goban::study::history {

using TextSink = std::function<void(std::string_view)>;
/// Work done and in all, in units of the generator's own; called from time to time.
using WorkProgress = std::function<void(int64_t done, int64_t total)>;

/// Collects text and passes it on piece by piece.
class PieceWriter {
 public:
  explicit PieceWriter(const TextSink& sink) : sink_(sink) {}
  /// To append to.
  [[nodiscard]] std::string& text() { return text_; }
  /// After each record; true if a piece went out.
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
