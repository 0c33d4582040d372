// Lines of a file, plain or gzip, one after another; "-" is standard input.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.hpp"

namespace goban::series {

class LineSource {
 public:
  LineSource() = default;
  LineSource(const LineSource&) = delete;
  LineSource& operator=(const LineSource&) = delete;
  virtual ~LineSource() = default;
  /// The next line without its end ("\n" or "\r\n"), valid until the next call; none at the end.
  /// Errors: Failed (I/O), BadData (damaged or cut gzip data, a line of over 1 MiB).
  [[nodiscard]] virtual base::Result<std::optional<std::string_view>> next() = 0;

  /// Of the line that next() gave last, from 1.
  [[nodiscard]] int line() const { return line_; }

 protected:
  int line_ = 0;
};

/// Errors: Failed if it cannot be opened.
[[nodiscard]] base::Result<std::unique_ptr<LineSource>> open_lines(const std::string& path);
/// Lines of a text that outlives the source.
[[nodiscard]] std::unique_ptr<LineSource> lines_of(std::string_view text);

}  // namespace goban::series
