// Typed access to the fields of one record; stores the first problem and continues.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/date_time.hpp"
#include "base/time.hpp"
#include "base/time_zone.hpp"

namespace goban::site::records {

/// Reads the fields of one record by column. After the first problem every value may be wrong, so
/// check problem() before use. Column names are given for the messages.
class ColumnReader {
 public:
  /// `zone` applies to times without a time zone; null = unknown.
  explicit ColumnReader(std::span<const std::string_view> fields, int64_t row = 0,
                        const base::TimeZone* zone = nullptr)
      : fields_(fields), row_(row), zone_(zone) {}

  /// Index of the record in the file, from 0; rejected ones included.
  [[nodiscard]] int64_t row() const { return row_; }
  [[nodiscard]] size_t size() const { return fields_.size(); }

  [[nodiscard]] std::string_view text(size_t column) const { return fields_[column]; }
  /// A number >= 0.
  [[nodiscard]] double number(size_t column, std::string_view name);
  /// An integer from `least` to `most`; `1.0` is accepted.
  [[nodiscard]] int64_t whole(size_t column, std::string_view name, int64_t least, int64_t most);
  /// Seconds >= 0, exact to the nanosecond, at most base::kMaxSeconds.
  [[nodiscard]] base::TimeNs seconds(size_t column, std::string_view name);
  /// A date and time since 1970, see date_time.hpp; has_zone is true if a zone was given or
  /// configured. Of a local time that occurred twice the earlier one.
  [[nodiscard]] base::DateTime date_time(size_t column, std::string_view name);

  /// What is wrong with the record; empty = nothing found yet.
  [[nodiscard]] const std::string& problem() const { return problem_; }

 private:
  void refuse(size_t column, std::string_view name, std::string_view what);

  std::span<const std::string_view> fields_;
  int64_t row_;
  const base::TimeZone* zone_;
  std::string problem_;
};

}  // namespace goban::site::records
