#include "site/store/export.hpp"

#include <fmt/format.h>
#include <utility>

#include "base/date_time.hpp"
#include "base/sheet_field.hpp"
#include "base/text_file.hpp"
#include "base/time.hpp"
#include "site/records/record_csv.hpp"
#include "site/records/recorded_state.hpp"

namespace goban::site::store {

base::Result<std::optional<Pseudonyms>> open_pseudonyms(JobStore& jobs,
                                                        const NameOptions& options) {
  if (options.plain) return std::nullopt;
  auto salt = options.salt_file.empty() ? jobs.salt() : base::read_text_file(options.salt_file);
  if (!salt) return base::failure(salt.error());
  constexpr size_t kSaltBytesMin = 16;
  if (salt->size() < kSaltBytesMin) {
    return base::usage_error(
        fmt::format("{} has fewer than {} bytes", options.salt_file, kSaltBytesMin),
        "create one: head -c 32 /dev/urandom > FILE");
  }
  return Pseudonyms(std::move(*salt));
}

namespace {

/// Writes each record as one line.
class ExportSink final : public records::RecordSink {
 public:
  ExportSink(ExportFormat format, std::optional<Pseudonyms> names, const TextSink& sink)
      : is_swf_(format == ExportFormat::Swf), names_(std::move(names)), sink_(sink) {
    text_ = is_swf_ ? writer_.header(0) : records::records_csv_header();
  }

  std::string take(const records::AccountingRecord& record) override {
    const records::AccountingRecord out = names_ ? names_->hide(record) : record;
    if (!is_swf_) {
      records::append_records_csv(text_, out);
    } else if (!writer_.append(text_, out)) {
      ++summary.left_out;
      return {};
    }
    ++summary.written;
    constexpr size_t kFlushBytes = 1 << 20;
    if (text_.size() >= kFlushBytes) flush();
    return {};
  }
  void flush() {
    sink_(text_);
    text_.clear();
  }

  ExportSummary summary;

 private:
  bool is_swf_;
  std::optional<Pseudonyms> names_;
  const TextSink& sink_;
  records::SwfWriter writer_;
  std::string text_;
};

std::string sum_line(const DailySum& sum, const records::AccountingRecord& who) {
  const auto state = static_cast<records::RecordedState>(
      sum.state < static_cast<int64_t>(records::kNumJobStates) ? sum.state : 0);
  std::string line = base::date_text(sum.day * base::kDay);
  for (const std::string_view text :
       {who.user, who.account, sum.partition, sum.resource_type, records::job_state_name(state)}) {
    line += ',';
    base::append_sheet_field(line, text);
  }
  constexpr double kHour = 3600;
  return line + fmt::format(",{},{},{:.4f},{:.4f},{:.4f}\n", sum.jobs, sum.ran, sum.gpu_s / kHour,
                            sum.node_s / kHour, sum.wait_s / kHour);
}

}  // namespace

base::Result<ExportSummary> export_jobs(JobStore& jobs, const Selection& selection,
                                        ExportFormat format, std::optional<Pseudonyms> names,
                                        const TextSink& sink) {
  ExportSink records(format, std::move(names), sink);
  const auto read = jobs.read(selection, records);
  if (!read) return base::failure(read.error());
  records.flush();
  return records.summary;
}

base::Status export_sums(JobStore& jobs, std::optional<Pseudonyms> names, const TextSink& sink) {
  sink("day,user,account,partition,resource_type,state,jobs,ran,gpu_h,node_h,wait_h\n");
  return jobs.daily_sums([&](const DailySum& sum) {
    records::AccountingRecord who;
    who.user = sum.user;
    who.account = sum.account;
    if (names) who = names->hide(who);
    sink(sum_line(sum, who));
  });
}

}  // namespace goban::site::store
