#include "history/job_reader.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <optional>
#include <set>

#include "base/csv.hpp"
#include "base/number.hpp"
#include "base/output_file.hpp"
#include "base/text_file.hpp"
#include "history/field_splitter.hpp"
#include "history/job_format.hpp"
#include "history/line_reader.hpp"

namespace goban::history {
namespace {

using base::Result;

bool is_blank(std::string_view line) { return line.find_first_not_of(" \t") == line.npos; }

std::string format_list() {
  std::string text;
  for (const JobFormat& format : job_formats()) {
    text += fmt::format("{}{} ({})", text.empty() ? "" : ", ", format.name, format.header);
  }
  return text;
}

/// The named format, or the one that knows the header.
Result<const JobFormat*> choose_format(const std::string& wanted, const Header& header,
                                       std::string_view line, const std::string& name) {
  for (const JobFormat& format : job_formats()) {
    if (wanted.empty() ? format.recognises(header) : wanted == format.name) return &format;
  }
  if (!wanted.empty()) {
    return base::usage_error(fmt::format("no job format is named {}", wanted),
                             "known: " + format_list());
  }
  return base::usage_error(
      fmt::format("{}: no job format has the header \"{}\"", name, line.substr(0, 200)),
      "name one with --format: " + format_list());
}

/// One pass over one source.
class Reading {
 public:
  Reading(ByteSource& source, std::string name, const ReadOptions& options)
      : source_(source), name_(std::move(name)), options_(options), lines_(source, [this] {
          if (options_.progress) {
            options_.progress(source_.consumed_bytes(), source_.total_bytes());
          }
        }) {}

  Result<ReadResult> run() {
    if (!options_.rejects_path.empty()) {
      auto file = base::OutputFile::create(options_.rejects_path);
      if (!file) return base::failure(file.error());
      rejects_.emplace(std::move(*file)).buffer() = "line,reason,record\n";
    }
    if (auto status = read_header(); !status) return base::failure(status.error());
    HistoryBuilder builder(options_.cluster, parser_->has_walltimes(), options_.jobs_max);
    while (next_record()) {
      if (builder.is_full()) {
        return base::bad_data(at_line(), fmt::format("more than {} jobs", options_.jobs_max),
                              "split the history");
      }
      take_record(builder);
      if (result_.records == kRowsOfEstimate) reserve(builder);
    }
    if (!lines_.status()) return base::failure(lines_.status().error());
    if (rejects_) {
      if (auto status = rejects_->commit(); !status) return base::failure(status.error());
    }
    result_.unsorted = !builder.is_sorted();
    result_.history = builder.finish();
    return std::move(result_);
  }

 private:
  static constexpr size_t kRowsOfEstimate = 1000;

  [[nodiscard]] base::Place at_line() const {
    return {.file = name_, .line = static_cast<int>(line_.number), .column = 0, .field = {}};
  }

  bool next_record() {
    while (lines_.next(line_)) {
      if (!is_blank(line_.text)) return true;
    }
    return false;
  }

  base::Status read_header() {
    if (!next_record()) {
      if (!lines_.status()) return lines_.status();
      return base::bad_data(at_line(), "the file is empty", "it must begin with a header line");
    }
    if (line_.too_long || !splitter_.split(line_.text)) {
      return base::bad_data(at_line(), "the header line is too long or has an open quote",
                            "is it a CSV file?");
    }
    const Header header(splitter_.fields().begin(), splitter_.fields().end());
    const auto format = choose_format(options_.format, header, line_.text, name_);
    if (!format) return base::failure(format.error());
    std::set<std::string_view> seen;
    for (const std::string& column : header) {
      if (!seen.insert(column).second) {
        return base::bad_data(at_line(), fmt::format("two columns are named {}", column),
                              "remove or rename one");
      }
    }
    auto parser = (*format)->open(header, at_line());
    if (!parser) return base::failure(parser.error());
    parser_ = std::move(*parser);
    num_columns_ = header.size();
    header_bytes_ = lines_.text_bytes();
    result_.format = (*format)->name;
    result_.ignored_columns = parser_->ignored_columns();
    return {};
  }

  void take_record(HistoryBuilder& builder) {
    ++result_.records;
    if (line_.too_long) {
      return reject(fmt::format("the line is longer than {} bytes", LineReader::kLineBytesMax));
    }
    if (!splitter_.split(line_.text)) return reject("a quoted field does not end at a comma");
    if (splitter_.fields().size() != num_columns_) {
      return reject(
          fmt::format("{} fields instead of {}", splitter_.fields().size(), num_columns_));
    }
    FieldReader fields(splitter_.fields());
    JobRecord record;
    std::string problem = parser_->parse(fields, record);
    if (!fields.problem().empty()) return reject(fields.problem());
    if (problem.empty()) problem = builder.add(record);
    if (!problem.empty()) reject(problem);
  }

  void reject(const std::string& reason) {
    ++result_.rejected;
    if (rejects_) {
      std::string& out = rejects_->buffer();
      base::append_number(out, line_.number);
      out += ',';
      base::append_csv_field(out, reason);
      out += ',';
      base::append_csv_field(out, line_.text);
      out += '\n';
      rejects_->write_out();
    }
    if (result_.first_rejections.size() < ReadResult::kRejectionsKept) {
      result_.first_rejections.push_back(
          {line_.number, reason, std::string(line_.text.substr(0, 200))});
    }
  }

  /// Room for the whole file, judged by its first rows; no growing by copies later.
  void reserve(HistoryBuilder& builder) const {
    const auto row_bytes = static_cast<double>(lines_.text_bytes() - header_bytes_) /
                           static_cast<double>(result_.records);
    const double rows = static_cast<double>(source_.total_bytes()) / row_bytes * 1.05;
    builder.reserve(static_cast<size_t>(std::min(rows, static_cast<double>(options_.jobs_max))));
  }

  ByteSource& source_;
  std::string name_;
  const ReadOptions& options_;
  LineReader lines_;
  Line line_;
  FieldSplitter splitter_;
  std::unique_ptr<RecordParser> parser_;
  size_t num_columns_ = 0;
  int64_t header_bytes_ = 0;
  std::optional<base::OutputFile> rejects_;
  ReadResult result_;
};

}  // namespace

Result<ReadResult> read_jobs(ByteSource& source, const std::string& name,
                             const ReadOptions& options) {
  return Reading(source, name, options).run();
}

Result<ReadResult> read_jobs(const std::string& path, const ReadOptions& options) {
  auto source = open_bytes(path);
  if (!source) return base::failure(source.error());
  return read_jobs(**source, base::input_name(path), options);
}

}  // namespace goban::history
