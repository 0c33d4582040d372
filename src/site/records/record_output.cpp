#include "site/records/record_output.hpp"

#include "base/number.hpp"
#include "base/sheet_field.hpp"

namespace goban::site::records {

base::Status RecordOutput::write_rejects(const std::string& path) {
  auto file = base::OutputFile::create(path);
  if (!file) return base::failure(file.error());
  rejects_.emplace(std::move(*file)).buffer() = "line,reason,record\n";
  return {};
}

base::Status RecordOutput::commit() { return rejects_ ? rejects_->commit() : base::Status(); }

void RecordOutput::put(const AccountingRecord& record, std::string_view text) {
  const std::string problem = sink_.take(record);
  if (!problem.empty()) reject(record.line, problem, text);
}

void RecordOutput::reject(int64_t line, std::string_view reason, std::string_view text) {
  constexpr size_t kShownBytes = 200;
  if (!sink_.shows_refused()) text = {};
  ++summary_.rejected;
  if (rejects_) {
    std::string& out = rejects_->buffer();
    base::append_number(out, line);
    out += ',';
    base::append_sheet_field(out, reason);
    out += ',';
    base::append_sheet_field(out, text);
    out += '\n';
    rejects_->write_out();
  }
  if (summary_.first_rejections.size() < ReadSummary::kRejectionsKept) {
    summary_.first_rejections.push_back(
        {line, std::string(reason), std::string(text.substr(0, kShownBytes))});
  }
}

void RecordOutput::fail(base::Error error) {
  if (status_) status_ = base::failure(std::move(error));
}

}  // namespace goban::site::records
