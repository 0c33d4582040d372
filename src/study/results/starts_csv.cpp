#include "study/results/starts_csv.hpp"

#include "base/number.hpp"
#include "base/output_file.hpp"
#include "base/sheet_field.hpp"

namespace goban::study::results {

base::Status write_starts_csv(const std::string& path, const core::model::JobHistory& history,
                              const std::vector<simulator::ForecastStart>& starts) {
  auto file = base::OutputFile::create(path);
  if (!file) return base::failure(file.error());
  std::string& out = file->buffer();
  out += "job_id,made_s,p10_s,p50_s,p90_s,raw_p10_s,raw_p50_s,raw_p90_s,calibrated,start_s\n";
  const auto append = [&out](base::TimeNs at_ns) {
    out += ',';
    if (at_ns != base::kNever) base::append_seconds(out, at_ns);
  };
  for (const simulator::ForecastStart& each : starts) {
    base::append_sheet_field(out, std::string(history.job_names[each.job.index()]));
    append(each.raw.made_ns);
    for (const core::model::StartInterval& interval : {each.shown, each.raw.interval}) {
      append(interval.p10_ns);
      append(interval.p50_ns);
      append(interval.p90_ns);
    }
    out += each.is_calibrated ? ",yes" : ",no";
    append(each.start_ns);
    out += '\n';
  }
  return file->commit();
}

}  // namespace goban::study::results
