#include "site/records/record_reader.hpp"

#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <set>

#include "base/field_splitter.hpp"
#include "base/line_reader.hpp"
#include "base/number.hpp"
#include "base/text_file.hpp"
#include "site/records/json_objects.hpp"
#include "site/records/record_format.hpp"

namespace goban::site::records {
namespace {

using base::Result;

/// True for a line of the layout Swf that is not a record.
bool is_comment(std::string_view line) {
  const size_t first = line.find_first_not_of(" \t");
  return first != line.npos && line[first] == ';';
}

bool is_blank(std::string_view line) { return line.find_first_not_of(" \t") == line.npos; }

Result<const RecordFormat*> find_format(std::string_view wanted) {
  for (const RecordFormat& format : record_formats()) {
    if (wanted == format.name) return &format;
  }
  return base::usage_error(fmt::format("unknown job format {}", wanted),
                           "known: " + list_record_formats());
}

/// Lines of which each is one record, split into fields for a RecordParser.
class FieldLines final : public LineParser {
 public:
  /// `num_columns` is 0 in the layout Swf.
  FieldLines(std::unique_ptr<RecordParser> parser, size_t num_columns, std::string name,
             const std::optional<base::TimeZone>& zone)
      : parser_(std::move(parser)),
        num_columns_(num_columns),
        name_(std::move(name)),
        zone_(zone) {}

  void take(const base::Line& line, RecordOutput& out) override {
    const bool is_swf = num_columns_ == 0;
    if (is_swf && is_comment(line.text)) return take_comment(line, out);
    const auto row = out.records();
    out.count_record();
    const std::string problem = split(line, is_swf);
    if (!problem.empty()) return out.reject(line.number, problem, line.text);
    ColumnReader fields(splitter_.fields(), row, zone_ ? &*zone_ : nullptr);
    AccountingRecord record;
    record.line = line.number;
    const std::string refusal = parser_->parse(fields, record);
    if (!fields.problem().empty()) return out.reject(line.number, fields.problem(), line.text);
    if (!refusal.empty()) return out.reject(line.number, refusal, line.text);
    out.put(record, line.text);
  }
  bool has_walltimes() const override { return parser_->has_walltimes(); }
  std::vector<std::string> ignored_columns() const override { return parser_->ignored_columns(); }
  std::vector<std::string> notes() const override { return parser_->notes(); }

 private:
  std::string split(const base::Line& line, bool is_swf) {
    if (line.too_long) {
      return fmt::format("the line is longer than {} bytes", base::LineReader::kLineBytesMax);
    }
    if (is_swf) {
      splitter_.split_blanks(line.text);
    } else if (!splitter_.split(line.text)) {
      return "a quoted field does not end at a comma";
    }
    const size_t count = splitter_.fields().size();
    const size_t expected = is_swf ? kSwfFields : num_columns_;
    if (is_swf ? count >= expected : count == expected) return {};
    return fmt::format("{} fields instead of {}", count, expected);
  }
  void take_comment(const base::Line& line, RecordOutput& out) {
    const std::string problem = parser_->take_comment(line.text);
    if (problem.empty()) return;
    out.fail(base::bad_data({name_, static_cast<int>(line.number), 0, {}}, problem,
                            "correct or remove the line")
                 .value());
  }

  std::unique_ptr<RecordParser> parser_;
  size_t num_columns_;
  std::string name_;
  std::optional<base::TimeZone> zone_;
  base::FieldSplitter splitter_;
};

/// One pass over one source.
class Reading {
 public:
  Reading(base::ByteSource& source, std::string name, const ReadOptions& options, RecordSink& sink)
      : source_(source),
        name_(std::move(name)),
        options_(options),
        lines_(source,
               [this] {
                 if (options_.progress) {
                   options_.progress(source_.consumed_bytes(), source_.total_bytes());
                 }
               }),
        out_(sink, result_) {}

  Result<ReadSummary> run() {
    if (!options_.rejects_path.empty()) {
      if (auto status = out_.write_rejects(options_.rejects_path); !status) {
        return base::failure(status.error());
      }
    }
    if (auto status = read(); !status) return base::failure(status.error());
    if (auto status = out_.commit(); !status) return base::failure(status.error());
    return std::move(result_);
  }

 private:
  static constexpr int64_t kRowsOfEstimate = 1000;
  static constexpr size_t kJsonHeadBytes = size_t{64} << 10;

  [[nodiscard]] base::Place at_line() const {
    return {.file = name_, .line = static_cast<int>(line_.number), .column = 0, .field = {}};
  }

  /// The next line that is not blank.
  bool next_line() {
    while (lines_.next(line_)) {
      if (!is_blank(line_.text)) return true;
    }
    return false;
  }

  base::Status read() {
    if (!options_.site.zone.empty()) {
      auto zone = base::TimeZone::load(options_.site.zone);
      if (!zone) return base::failure(zone.error());
      zone_ = std::move(*zone);
    }
    if (!next_line()) {
      if (!lines_.status()) return lines_.status();
      return base::bad_data(at_line(), "the file is empty", "it must begin with a header line");
    }
    const RecordFormat* format = nullptr;
    if (!options_.format.empty()) {
      const auto found = find_format(options_.format);
      if (!found) return base::failure(found.error());
      format = *found;
    }
    const bool may_be_json = format == nullptr || format->layout == Layout::Json;
    if (may_be_json &&
        (line_.text.front() == '{' || line_.text.front() == '[' || format != nullptr)) {
      if (auto status = read_json_head(); !status) return status;
      if (format == nullptr) format = by_json_head();
      if (format == nullptr) return unknown_json();
      return read_objects(*format);
    }
    if (format == nullptr) format = by_first_line();
    if (format != nullptr && format->layout == Layout::Folder) {
      return base::usage_error(
          fmt::format("{}: the format {} requires a folder", name_, format->name),
          "name the folder that contains the tables");
    }
    bool first_is_read = false;
    if (auto status = open_lines(format, first_is_read); !status) return status;
    return read_lines(first_is_read);
  }

  /// The format, other than HeaderCsv, that the first line belongs to; null if there is none.
  const RecordFormat* by_first_line() const {
    for (const RecordFormat& format : record_formats()) {
      if (format.recognises_text == nullptr || format.layout == Layout::Json) continue;
      if (format.recognises_text(line_.text)) return &format;
    }
    return nullptr;
  }

  /// Reads enough of the input to detect the format, however small the reads from a pipe are.
  base::Status read_json_head() {
    json_head_ = lines_.unread_from(line_);
    if (!lines_.status()) return lines_.status();
    while (json_head_.size() < kJsonHeadBytes) {
      const size_t had = json_head_.size();
      json_head_.resize(kJsonHeadBytes);
      const auto got = source_.read(json_head_.data() + had, kJsonHeadBytes - had);
      json_head_.resize(had + (got ? *got : 0));
      if (!got) return base::failure(got.error());
      if (*got == 0) break;
    }
    return {};
  }
  const RecordFormat* by_json_head() const {
    const auto head = std::string_view(json_head_).substr(0, kJsonHeadBytes);
    for (const RecordFormat& format : record_formats()) {
      if (format.layout == Layout::Json && format.recognises_text(head)) return &format;
    }
    return nullptr;
  }
  base::Status unknown_json() const {
    std::string known;
    for (const RecordFormat& format : record_formats()) {
      if (format.layout != Layout::Json) continue;
      known += fmt::format("{}{} ({})", known.empty() ? "" : ", ", format.name, format.header);
    }
    return base::bad_data({name_, 0, 0, {}}, "no job format matches this JSON", "known: " + known);
  }

  base::Status open_lines(const RecordFormat* format, bool& first_is_read) {
    if (format == nullptr || format->layout == Layout::HeaderCsv) {
      first_is_read = true;
      return open_csv(format);
    }
    const FormatInput input{.header = {}, .place = at_line(), .options = options_};
    if (format->layout == Layout::Swf) {
      auto parser = format->open(input);
      if (!parser) return base::failure(parser.error());
      return start(*format, std::make_unique<FieldLines>(std::move(*parser), 0, name_, zone_));
    }
    auto parser = format->open_lines(input, line_.text);
    if (!parser) return base::failure(parser.error());
    return start(*format, std::move(*parser));
  }

  /// The first line is a header. `format` is null if it is to be detected from the header.
  base::Status open_csv(const RecordFormat* format) {
    base::FieldSplitter splitter;
    if (line_.too_long || !splitter.split(line_.text)) {
      return base::bad_data(at_line(), "the header line is too long or has an unclosed quote",
                            "check that the file is CSV");
    }
    const Header header(splitter.fields().begin(), splitter.fields().end());
    if (format == nullptr) {
      const auto found = by_header(header);
      if (!found) return base::failure(found.error());
      format = *found;
    }
    std::set<std::string_view> seen;
    for (const std::string& column : header) {
      if (!seen.insert(column).second) {
        return base::bad_data(at_line(), fmt::format("duplicate column {}", column),
                              "remove or rename one");
      }
    }
    auto parser = format->open({.header = header, .place = at_line(), .options = options_});
    if (!parser) return base::failure(parser.error());
    header_bytes_ = lines_.text_bytes();
    return start(*format,
                 std::make_unique<FieldLines>(std::move(*parser), header.size(), name_, zone_));
  }

  Result<const RecordFormat*> by_header(const Header& header) const {
    for (const RecordFormat& format : record_formats()) {
      if (format.recognises != nullptr && format.recognises(header)) return &format;
    }
    return base::bad_data(
        {name_, 0, 0, {}},
        fmt::format("no job format matches the header \"{}\"", line_.text.substr(0, 200)),
        fmt::format("select one with --format: {}; or use the columns of generic: {}",
                    list_record_formats(), kGenericCsv.header));
  }

  base::Status start(const RecordFormat& format, std::unique_ptr<LineParser> parser) {
    parser_ = std::move(parser);
    result_.format = format.name;
    result_.ignored_columns = parser_->ignored_columns();
    out_.sink().begin_file({.name = name_,
                            .format = format.name,
                            .has_walltimes = parser_->has_walltimes(),
                            .ids_are_rows = format.ids_are_rows});
    return {};
  }

  base::Status read_lines(bool first_is_read) {
    for (bool more = first_is_read ? next_line() : true; more; more = next_line()) {
      if (out_.sink().is_full()) return too_many();
      parser_->take(line_, out_);
      if (!out_.status()) return out_.status();
      if (result_.records == kRowsOfEstimate) expect_rest();
    }
    if (!lines_.status()) return lines_.status();
    parser_->finish(out_);
    if (!out_.status()) return out_.status();
    result_.notes = parser_->notes();
    return {};
  }

  base::Status read_objects(const RecordFormat& format) {
    auto parser = format.open_objects({.header = {}, .place = at_line(), .options = options_});
    if (!parser) return base::failure(parser.error());
    result_.format = format.name;
    out_.sink().begin_file(
        {.name = name_, .format = format.name, .has_walltimes = (*parser)->has_walltimes()});
    JsonObjects objects(source_, json_head_, line_.number);
    while (objects.next()) {
      if (out_.sink().is_full()) return too_many();
      (*parser)->take(objects.text(), objects.line(), out_);
      if (!out_.status()) return out_.status();
      if (options_.progress) options_.progress(source_.consumed_bytes(), source_.total_bytes());
    }
    if (!objects.status()) {
      base::Error error = objects.status().error();
      error.place.file = name_;
      return base::failure(std::move(error));
    }
    (*parser)->finish(out_);
    if (!out_.status()) return out_.status();
    result_.notes = (*parser)->notes();
    return {};
  }

  [[nodiscard]] base::Status too_many() const {
    return base::bad_data(at_line(), fmt::format("more than {} jobs", options_.jobs_max),
                          "split the history");
  }

  /// Passes the sink an estimate of the number of records in the file, from the first ones.
  void expect_rest() {
    const auto row_bytes = static_cast<double>(lines_.text_bytes() - header_bytes_) /
                           static_cast<double>(result_.records);
    const double rows = static_cast<double>(source_.total_bytes()) / row_bytes * 1.05;
    out_.sink().expect(static_cast<size_t>(std::min(rows, static_cast<double>(options_.jobs_max))));
  }

  base::ByteSource& source_;
  std::string name_;
  const ReadOptions& options_;
  base::LineReader lines_;
  base::Line line_;
  std::unique_ptr<LineParser> parser_;
  std::optional<base::TimeZone> zone_;  ///< from the site's options
  std::string json_head_;               ///< the first bytes, if they are JSON
  int64_t header_bytes_ = 0;
  ReadSummary result_;
  RecordOutput out_;
};

}  // namespace

Result<ReadSummary> read_records(base::ByteSource& source, const std::string& name,
                                 const ReadOptions& options, RecordSink& sink) {
  return Reading(source, name, options, sink).run();
}

namespace {

/// Several tables in a folder.
Result<ReadSummary> read_folder(const std::string& path, const ReadOptions& options,
                                RecordSink& sink) {
  const RecordFormat* format = nullptr;
  std::string folders;
  for (const RecordFormat& each : record_formats()) {
    if (each.layout != Layout::Folder) continue;
    folders += (folders.empty() ? "" : ", ") + std::string(each.name) + " (" +
               std::string(each.header) + ")";
    const bool fits =
        options.format.empty() ? each.recognises_folder(path) : options.format == each.name;
    if (fits && format == nullptr) format = &each;
  }
  if (format == nullptr) {
    return base::bad_data({path, 0, 0, {}}, "is a folder without known tables",
                          "name a file, or a folder in one of the formats " + folders);
  }
  ReadSummary summary;
  summary.format = format->name;
  RecordOutput out(sink, summary);
  if (!options.rejects_path.empty()) {
    if (auto status = out.write_rejects(options.rejects_path); !status) {
      return base::failure(status.error());
    }
  }
  sink.begin_file({.name = path, .format = format->name});
  auto notes = format->read_folder(path, options, out);
  if (!notes) return base::failure(notes.error());
  if (!out.status()) return base::failure(out.status().error());
  if (auto status = out.commit(); !status) return base::failure(status.error());
  summary.notes = std::move(*notes);
  return summary;
}

}  // namespace

std::string rejections_text(const ReadSummary& read, const std::string& name,
                            const std::string& rejects) {
  std::string text = fmt::format("{} of {} records were rejected{}{}", read.rejected, read.records,
                                 rejects.empty() ? "" : ", see ", rejects);
  constexpr size_t kShown = 3;
  for (size_t i = 0; i < std::min(kShown, read.first_rejections.size()); ++i) {
    const Rejection& rejection = read.first_rejections[i];
    text += fmt::format("\n  {}:{}: {}", name, rejection.line, rejection.reason);
  }
  return text;
}

Result<ReadSummary> read_records(const std::string& path, const ReadOptions& options,
                                 RecordSink& sink) {
  if (std::error_code error; path != "-" && std::filesystem::is_directory(path, error)) {
    return read_folder(path, options, sink);
  }
  auto source = base::open_bytes(path);
  if (!source) return base::failure(source.error());
  return read_records(**source, base::input_name(path), options, sink);
}

}  // namespace goban::site::records
