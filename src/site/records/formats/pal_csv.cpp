// Format `pal`: the traces of PAL's artifact (PAL: simulated time, docs/papers.md). `duration`
// counts iterations; they are converted to work by the base seconds of the model. `batch_size` is
// not used, as base seconds are per model.
#include <fmt/ranges.h>

#include "core/knowledge/app_class.hpp"
#include "site/records/record_format.hpp"

namespace goban::site::records {
namespace {

constexpr std::string_view kColumns = "job_id,num_gpus,submit_time,duration,model";

bool recognises_pal(const Header& header) {
  const std::string text = fmt::format("{}", fmt::join(header, ","));
  return text == kColumns || text == std::string(kColumns) + ",batch_size";
}

class PalParser final : public RecordParser {
 public:
  std::string parse(ColumnReader& fields, AccountingRecord& record) override {
    record.id = fields.text(0);
    record.num_gpus = fields.whole(1, "num_gpus", 0, INT32_MAX);
    record.submit_ns = fields.seconds(2, "submit_time");
    const double iterations = fields.number(3, "duration");
    record.model = fields.text(4);
    const auto base_s = core::knowledge::base_seconds_of_model(record.model);
    if (!base_s) {
      return fmt::format(
          "model \"{}\" has no base seconds per iteration (known: {}; with durations in seconds, "
          "use the format generic)",
          record.model, core::knowledge::list_known_models());
    }
    record.work_s = iterations * *base_s;
    return {};
  }
};

base::Result<std::unique_ptr<RecordParser>> open_pal(const FormatInput& input) {
  if (!recognises_pal(input.header)) {
    return base::bad_data(input.place,
                          fmt::format("the header \"{}\" is not that of pal",
                                      fmt::format("{}", fmt::join(input.header, ","))),
                          fmt::format("expected: {}[,batch_size]", kColumns));
  }
  return std::make_unique<PalParser>();
}

}  // namespace

const RecordFormat kPalCsv = {"pal", "job_id,num_gpus,submit_time,duration,model[,batch_size]",
                              recognises_pal, open_pal};

}  // namespace goban::site::records
