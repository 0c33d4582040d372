// Rows of a CSV text with a header, for small files (RFC 4180: quoted fields, "" inside
// quotes, commas and line ends inside quotes; CRLF or LF; a byte order mark is skipped).
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace goban::base {

/// Iterates over the rows of a text, which must outlive the reader and its fields.
///
///     CsvReader csv(text, "scores.csv");
///     const Result<size_t> id = csv.require("GPU_ID");
///     while (csv.next()) use(csv.field(*id));
///     if (Status read = csv.status(); !read) return read;
///
/// Empty rows are skipped. Rows may have fewer or more fields than the header.
class CsvReader {
 public:
  /// Reads the header; status() and require() report its errors.
  CsvReader(std::string_view text, std::string file);

  /// The header's names, in order.
  [[nodiscard]] const std::vector<std::string>& header() const { return header_; }
  /// Index of the first column of that name.
  [[nodiscard]] std::optional<size_t> column(std::string_view name) const;
  /// Index of a column that must occur exactly once. Errors: no header; column missing or
  /// duplicate.
  [[nodiscard]] Result<size_t> require(std::string_view name) const;

  /// Advances to the next row; false at the end of the text and at a malformed row.
  [[nodiscard]] bool next();
  /// An error if the header or a row was malformed. Check it after next() has returned false.
  [[nodiscard]] Status status() const;

  /// Line on which the current row begins, counted from 1.
  [[nodiscard]] int line() const { return line_; }
  [[nodiscard]] size_t num_fields() const { return fields_.size(); }
  /// Text of a field of the current row, unquoted; empty if the row is too short. Valid until the
  /// next call of next().
  [[nodiscard]] std::string_view field(size_t column) const;
  /// The current row as written in the text, without its line end.
  [[nodiscard]] std::string_view row() const { return row_; }
  /// Position of a field of the current row: file, line, column in bytes, name of the column.
  [[nodiscard]] Place place(size_t column) const;
  [[nodiscard]] const std::string& file() const { return file_; }

 private:
  /// A field: a range of the text, or of unquoted_ if it contained "".
  struct Field {
    size_t begin = 0;
    size_t size = 0;
    size_t at = 0;  ///< its offset in the text
    bool copied = false;
  };
  bool read_row();
  bool read_field();
  bool read_quoted_field();
  bool end_row();
  bool malformed(size_t at, std::string message);
  [[nodiscard]] Place text_place(size_t at) const;

  std::string_view text_;
  std::string file_;
  std::vector<std::string> header_;
  std::vector<Field> fields_;
  std::string unquoted_;
  std::string_view row_;
  std::optional<Error> error_;
  size_t at_ = 0;         ///< next byte to read
  size_t row_begin_ = 0;  ///< of the current row
  int line_ = 0;          ///< of the current row
  int next_line_ = 1;     ///< of the byte at at_
};

/// Appends a field, quoted if necessary.
void append_csv_field(std::string& out, std::string_view field);

}  // namespace goban::base
