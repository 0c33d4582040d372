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

/// A line of the layout Swf that is no record.
bool is_comment(std::string_view line) {
  const size_t first = line.find_first_not_of(" \t");
  return first != line.npos && line[first] == ';';
}

bool is_blank(std::string_view line) { return line.find_first_not_of(" \t") == line.npos; }

/// The first line of an SWF file: a comment, or so many numbers.
bool looks_like_swf(std::string_view line, std::span<const std::string_view> fields) {
  return is_comment(line) ||
         (fields.size() >= kSwfFields && std::ranges::all_of(fields, [](std::string_view field) {
            return base::parse_double(field).has_value();
          }));
}

Result<const JobFormat*> find_format(std::string_view wanted) {
  for (const JobFormat& format : job_formats()) {
    if (wanted == format.name) return &format;
  }
  return base::usage_error(fmt::format("no job format is named {}", wanted),
                           "known: " + list_job_formats());
}

Result<const JobFormat*> recognise(const Header& header, std::string_view line,
                                   const std::string& name) {
  for (const JobFormat& format : job_formats()) {
    if (format.recognises(header)) return &format;
  }
  return base::usage_error(
      fmt::format("{}: no job format has the header \"{}\"", name, line.substr(0, 200)),
      fmt::format("name one with --format: {}; or write the columns of generic: {}",
                  list_job_formats(), kGenericCsv.header));
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
    if (auto status = open(); !status) return base::failure(status.error());
    HistoryBuilder builder(options_.cluster, parser_->has_walltimes(), options_.jobs_max,
                           options_.cpu_jobs);
    while (next_record()) {
      if (builder.is_full()) {
        return base::bad_data(at_line(), fmt::format("more than {} jobs", options_.jobs_max),
                              "split the history");
      }
      take_record(builder);
      if (result_.records == kRowsOfEstimate) reserve(builder);
    }
    if (!lines_.status()) return base::failure(lines_.status().error());
    if (!comment_status_) return base::failure(comment_status_.error());
    if (rejects_) {
      if (auto status = rejects_->commit(); !status) return base::failure(status.error());
    }
    result_.unsorted = !builder.is_sorted();
    result_.counts = builder.counts();
    result_.notes = parser_->notes();
    result_.history = builder.finish();
    return std::move(result_);
  }

 private:
  static constexpr size_t kRowsOfEstimate = 1000;

  [[nodiscard]] base::Place at_line() const {
    return {.file = name_, .line = static_cast<int>(line_.number), .column = 0, .field = {}};
  }

  bool next_record() {
    if (line_is_unread_) {
      line_is_unread_ = false;
      return true;
    }
    while (lines_.next(line_)) {
      if (is_blank(line_.text)) continue;
      if (!is_swf_ || !is_comment(line_.text)) return true;
      if (const std::string problem = parser_->take_comment(line_.text); !problem.empty()) {
        comment_status_ = base::bad_data(at_line(), problem, "correct or remove the line");
        return false;
      }
    }
    return false;
  }

  base::Status open() {
    if (!next_record()) {
      if (!lines_.status()) return lines_.status();
      return base::bad_data(at_line(), "the file is empty", "it must begin with a header line");
    }
    const JobFormat* format = nullptr;
    if (!options_.format.empty()) {
      const auto found = find_format(options_.format);
      if (!found) return base::failure(found.error());
      format = *found;
    } else if (splitter_.split_blanks(line_.text); looks_like_swf(line_.text, splitter_.fields())) {
      format = &kSwf;
    }
    return format != nullptr && format->layout == Layout::Swf ? open_swf(*format)
                                                              : open_csv(format);
  }

  /// The first line is a comment or a record: it is read again.
  base::Status open_swf(const JobFormat& format) {
    auto parser = format.open({.header = {}, .place = at_line(), .options = options_});
    if (!parser) return base::failure(parser.error());
    parser_ = std::move(*parser);
    is_swf_ = true;
    result_.format = format.name;
    if (!is_comment(line_.text)) {
      line_is_unread_ = true;
      return {};
    }
    const std::string problem = parser_->take_comment(line_.text);
    if (problem.empty()) return {};
    return base::bad_data(at_line(), problem, "correct or remove the line");
  }

  /// The first line is a header. `wanted` is null if the header tells the format.
  base::Status open_csv(const JobFormat* wanted) {
    if (line_.too_long || !splitter_.split(line_.text)) {
      return base::bad_data(at_line(), "the header line is too long or has an open quote",
                            "is it a CSV file?");
    }
    const Header header(splitter_.fields().begin(), splitter_.fields().end());
    const auto format = wanted != nullptr ? wanted : recognise(header, line_.text, name_);
    if (!format) return base::failure(format.error());
    std::set<std::string_view> seen;
    for (const std::string& column : header) {
      if (!seen.insert(column).second) {
        return base::bad_data(at_line(), fmt::format("two columns are named {}", column),
                              "remove or rename one");
      }
    }
    auto parser = (*format)->open({.header = header, .place = at_line(), .options = options_});
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
    if (is_swf_) {
      splitter_.split_blanks(line_.text);
      if (splitter_.fields().size() < kSwfFields) {
        return reject(
            fmt::format("{} fields instead of {}", splitter_.fields().size(), kSwfFields));
      }
    } else {
      if (!splitter_.split(line_.text)) return reject("a quoted field does not end at a comma");
      if (splitter_.fields().size() != num_columns_) {
        return reject(
            fmt::format("{} fields instead of {}", splitter_.fields().size(), num_columns_));
      }
    }
    FieldReader fields(splitter_.fields(), result_.records - 1);
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
  bool is_swf_ = false;
  bool line_is_unread_ = false;
  base::Status comment_status_;
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
