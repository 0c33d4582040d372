// Typed access to the fields of one record; remembers the first problem instead of stopping.
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
/// ask problem() before using them. Names are those of the columns, for the messages.
class FieldReader {
 public:
  /// `zone` is that of times that name none; null = none is known.
  explicit FieldReader(std::span<const std::string_view> fields, int64_t row = 0,
                       const base::TimeZone* zone = nullptr)
      : fields_(fields), row_(row), zone_(zone) {}

  /// Which record of the file it is, from 0; refused ones count.
  [[nodiscard]] int64_t row() const { return row_; }
  [[nodiscard]] size_t size() const { return fields_.size(); }

  [[nodiscard]] std::string_view text(size_t column) const { return fields_[column]; }
  /// A number that is not negative.
  [[nodiscard]] double number(size_t column, std::string_view name);
  /// A whole number from `least` to `most`; `1.0` is one too.
  [[nodiscard]] int64_t whole(size_t column, std::string_view name, int64_t least, int64_t most);
  /// Seconds that are not negative, exact to the nanosecond, at most base::kMaxSeconds.
  [[nodiscard]] base::TimeNs seconds(size_t column, std::string_view name);
  /// A date and time since 1970, see date_time.hpp; has_zone is true if one was known at all. Of
  /// two moments that a clock showed twice the earlier one.
  [[nodiscard]] base::DateTime date_time(size_t column, std::string_view name);

  /// What is wrong with the record; empty = nothing so far.
  [[nodiscard]] const std::string& problem() const { return problem_; }

 private:
  void refuse(size_t column, std::string_view name, std::string_view what);

  std::span<const std::string_view> fields_;
  int64_t row_;
  const base::TimeZone* zone_;
  std::string problem_;
};

}  // namespace goban::site::records
