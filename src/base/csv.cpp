#include "base/csv.hpp"

#include <algorithm>
#include <fmt/format.h>

namespace goban::base {
namespace {

constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

// The names of a header for a message, truncated if there are very many.
std::string listed(const std::vector<std::string>& names) {
  std::string out;
  for (size_t i = 0; i < names.size(); ++i) {
    if (out.size() > 200) return out + ", ...";
    if (i > 0) out += ", ";
    out += names[i].substr(0, 60);
  }
  return out;
}

}  // namespace

CsvReader::CsvReader(std::string_view text, std::string file)
    : text_(text), file_(std::move(file)) {
  if (text_.starts_with(kByteOrderMark)) at_ = kByteOrderMark.size();
  if (next()) {
    for (size_t i = 0; i < fields_.size(); ++i) header_.emplace_back(field(i));
  } else if (!error_) {
    error_ = Error{ErrorCode::BadData,
                   "the file is empty",
                   {file_, 0, 0, {}},
                   "the first line must name the columns"};
  }
  fields_.clear();
}

std::optional<size_t> CsvReader::column(std::string_view name) const {
  const auto found = std::ranges::find(header_, name);
  if (found == header_.end()) return std::nullopt;
  return static_cast<size_t>(found - header_.begin());
}

Result<size_t> CsvReader::require(std::string_view name) const {
  if (header_.empty() && error_) return failure(*error_);
  Place place{file_, 1, 0, std::string(name)};
  const auto count = std::ranges::count(header_, name);
  if (count == 0) {
    return bad_data(std::move(place), "missing column",
                    fmt::format("the header has: {}", listed(header_)));
  }
  if (count > 1) {
    return bad_data(std::move(place), fmt::format("{} columns have this name", count),
                    "rename all but one");
  }
  return *column(name);
}

Status CsvReader::status() const {
  if (error_) return failure(*error_);
  return {};
}

std::string_view CsvReader::field(size_t column) const {
  if (column >= fields_.size()) return {};
  const Field& field = fields_[column];
  return (field.copied ? std::string_view(unquoted_) : text_).substr(field.begin, field.size);
}

Place CsvReader::text_place(size_t at) const {
  const std::string_view before = text_.substr(row_begin_, at - row_begin_);
  const auto breaks = std::ranges::count(before, '\n');
  const size_t last_break = before.rfind('\n');
  const size_t in_line = breaks == 0 ? before.size() : before.size() - last_break - 1;
  return {file_, line_ + static_cast<int>(breaks), static_cast<int>(in_line) + 1, {}};
}

Place CsvReader::place(size_t column) const {
  Place place =
      column < fields_.size() ? text_place(fields_[column].at) : Place{file_, line_, 0, {}};
  if (column < header_.size()) place.field = header_[column];
  return place;
}

bool CsvReader::next() {
  if (error_) return false;
  while (at_ < text_.size()) {
    if (!read_row()) return false;
    const bool blank = fields_.size() == 1 && row_.empty();
    if (!blank) return true;
  }
  fields_.clear();
  row_ = {};
  return false;
}

bool CsvReader::read_row() {
  fields_.clear();
  unquoted_.clear();
  row_begin_ = at_;
  line_ = next_line_;
  do {
    const bool quoted = at_ < text_.size() && text_[at_] == '"';
    if (!(quoted ? read_quoted_field() : read_field())) return false;
  } while (!end_row());
  return true;
}

bool CsvReader::read_field() {
  const size_t begin = at_;
  at_ = std::min(text_.find_first_of(",\n", begin), text_.size());
  size_t end = at_;
  const bool last_in_row = at_ == text_.size() || text_[at_] == '\n';
  if (last_in_row && end > begin && text_[end - 1] == '\r') --end;
  fields_.push_back({begin, end - begin, begin, false});
  return true;
}

bool CsvReader::read_quoted_field() {
  const size_t open = at_;
  size_t begin = open + 1;
  const size_t copy_begin = unquoted_.size();
  bool copied = false;
  while (true) {
    const size_t quote = text_.find('"', begin);
    if (quote == std::string_view::npos) {
      return malformed(open, "this quoted field is not closed");
    }
    if (quote + 1 < text_.size() && text_[quote + 1] == '"') {
      unquoted_.append(text_.substr(begin, quote + 1 - begin));  // with one of the two quotes
      copied = true;
      begin = quote + 2;
      continue;
    }
    at_ = quote + 1;
    if (copied) {
      unquoted_.append(text_.substr(begin, quote - begin));
      fields_.push_back({copy_begin, unquoted_.size() - copy_begin, open, true});
    } else {
      fields_.push_back({begin, quote - begin, open, false});
    }
    break;
  }
  const auto breaks = std::ranges::count(text_.substr(open, at_ - open), '\n');
  next_line_ += static_cast<int>(breaks);
  const std::string_view rest = text_.substr(at_, 2);
  if (rest == "\r\n" || rest == "\r") ++at_;
  if (at_ < text_.size() && text_[at_] != ',' && text_[at_] != '\n') {
    fields_.pop_back();
    return malformed(at_, "unexpected text after the closing quote");
  }
  return true;
}

// Consumes the separator after a field; true if it was the end of the row.
bool CsvReader::end_row() {
  if (at_ < text_.size() && text_[at_] == ',') {
    ++at_;
    return false;
  }
  row_ = text_.substr(row_begin_, at_ - row_begin_);
  if (row_.ends_with('\r')) row_.remove_suffix(1);
  if (at_ < text_.size()) {
    ++at_;
    ++next_line_;
  }
  return true;
}

bool CsvReader::malformed(size_t at, std::string message) {
  Place place = text_place(at);
  if (fields_.size() < header_.size()) place.field = header_[fields_.size()];
  error_ = Error{ErrorCode::BadData, std::move(message), std::move(place),
                 "quote a field as \"...\" and write \"\" for a quote inside it"};
  at_ = text_.size();
  fields_.clear();
  row_ = {};
  return false;
}

void append_csv_field(std::string& out, std::string_view field) {
  const auto is_special = [](char c) { return c == ',' || c == '"' || c == '\r' || c == '\n'; };
  if (std::ranges::none_of(field, is_special)) {
    out += field;
    return;
  }
  out += '"';
  for (const char c : field) {
    if (c == '"') out += '"';
    out += c;
  }
  out += '"';
}

}  // namespace goban::base
