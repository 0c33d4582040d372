// The report of a site, from accounting records and GPU series. Implements `goban analyze`.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/progress.hpp"
#include "base/result.hpp"
#include "core/model/cluster.hpp"
#include "site/analysis/build.hpp"
#include "site/analysis/gpu_values.hpp"
#include "site/analysis/labels.hpp"
#include "site/analysis/report_data.hpp"
#include "site/analysis/rules.hpp"
#include "site/records/record_reader.hpp"
#include "site/records/record_table.hpp"
#include "site/records/reject_limit.hpp"

namespace goban::site {

/// Empty = not given.
struct ReportOptions {
  std::vector<std::string> files;   ///< of accounting records, folders, stores; "-" is stdin
  std::vector<std::string> stores;  ///< history stores
  records::ReadOptions reading;     ///< of the records; without rejects and progress
  std::string cluster;              ///< file, preset or NxM
  std::string rules;                ///< rules file (analysis/rules_file.hpp)
  std::vector<std::string> gpu;     ///< GPU series: see telemetry::GpuSources
  std::string account;              ///< only the records of this account
  std::string out;                  ///< folder of the report
  std::string rejects;              ///< file for rejected records; default: OUT/rejects.csv
  std::string site;       ///< its name in the head; default: of the cluster, or of the records
  std::string site_zone;  ///< of days, hours and weekdays; default: that of the records
  std::string date;       ///< of the report, in the head
  double max_rejects_pct = records::kMaxRejectsPct;  ///< of the records of each file
};

/// The records of a site with the analysis rules applied.
class SiteReport {
 public:
  /// Errors: those of reading each input; Usage if there is no input, or no record of the account;
  /// BadData if no job is left.
  [[nodiscard]] static base::Result<std::unique_ptr<SiteReport>> load(const ReportOptions& options,
                                                                      base::Progress& progress);

  /// Notes and warnings of the readers.
  [[nodiscard]] const std::vector<analysis::Remark>& remarks() const { return said_.remarks; }
  /// Errors: BadData for the first file of which too many records were rejected; the report is of
  /// the others.
  [[nodiscard]] const base::Status& check_rejects() const { return rejects_; }
  /// Why a job is analysed or excluded. Errors: Usage if no record has that id.
  [[nodiscard]] base::Result<std::string> explain(const std::string& job_id) const;
  /// All tables and figures.
  [[nodiscard]] analysis::ReportData make(const analysis::Labels& labels) const;
  /// For additional tables of a report. Refers to its arguments and to this object.
  [[nodiscard]] analysis::Context context(const analysis::Labels& labels,
                                          analysis::ReportData& data) const;
  /// Writes the report and the histories that its what-if commands simulate into a folder.
  /// Errors: Failed.
  [[nodiscard]] base::Status write(const std::string& folder, const analysis::ReportData& data,
                                   base::Progress& progress) const;

 private:
  SiteReport() = default;
  base::Status set_site(const ReportOptions& options);
  base::Status prepare(const ReportOptions& options, base::Progress& progress);
  base::Status use_gpus(const ReportOptions& options, base::Progress& progress);
  [[nodiscard]] const analysis::GpuUse* gpu_use() const { return use_ ? &*use_ : nullptr; }

  analysis::Rules rules_;
  std::optional<core::model::Cluster> cluster_;
  records::RecordTable table_;
  analysis::Population population_;  ///< refers to table_
  std::optional<analysis::GpuUse> use_;
  analysis::ReportData said_;  ///< remarks only
  base::Status rejects_;
  analysis::SourceNames names_;
};

/// Writes any report into a folder: report.html, report.json, and a CSV file a table and figure.
/// Errors: Failed.
[[nodiscard]] base::Status write_report(const std::string& folder,
                                        const analysis::ReportData& report,
                                        base::Progress& progress);

}  // namespace goban::site
