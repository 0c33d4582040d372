// Shared by the statistics of this module: their input, and helpers for tables and figures.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/statistics/summary.hpp"
#include "site/analysis/labels.hpp"
#include "site/analysis/population.hpp"
#include "site/analysis/report_data.hpp"
#include "site/analysis/rules.hpp"

namespace goban::site::analysis {

struct GpuUse;  // gpu_values.hpp

/// Names from the command line, for the commands that a report prints.
struct SourceNames {
  std::string cluster;
  std::string folder;
  std::string site{};  ///< in the head of the report
  std::string date{};  ///< of the report
};

/// The input of every statistic, and the report that it adds to.
struct Context {
  const Population& population;
  const Rules& rules;
  const Labels& labels;
  ReportData& report;
  const GpuUse* use = nullptr;  ///< null = GPU use is unknown
  SourceNames names{};
};

/// An empty table; its title is the label `title.<id>`, its text `text.<id>` if there is one.
[[nodiscard]] Table make_table(const Context& context, std::string_view id,
                               std::string_view section, std::string_view paper = {});
/// A column with the label `column.<key>`; its key in files gets the unit as suffix.
[[nodiscard]] Column column(const Context& context, std::string_view key,
                            std::string_view unit = {});
/// Columns without units.
[[nodiscard]] std::vector<Column> columns(const Context& context,
                                          std::initializer_list<std::string_view> keys);
[[nodiscard]] Figure make_figure(const Context& context, FigureKind kind, std::string_view id,
                                 std::string_view section, std::string_view paper = {});
/// An axis with the label `axis.<key>`.
[[nodiscard]] Axis axis(const Context& context, std::string_view key, std::string_view unit = {},
                        bool log = false);
/// A number with the label `scalar.<key>`; `text.<key>` if there is one.
void add_scalar(const Context& context, std::string_view key, std::string_view section,
                Quality quality, Cell value, std::string_view unit = {},
                std::string_view paper = {});
/// Lists a statistic as absent; `reason` is a key of the labels.
void add_absent(const Context& context, std::string_view id, std::string_view section,
                std::string_view paper, std::string_view reason);

/// part / whole in percent; an empty cell if whole is 0.
[[nodiscard]] Cell percent(double part, double whole);

/// The distribution of values as at most 401 points (value, percent at or below), each exact.
[[nodiscard]] Series distribution(std::string_view key, std::string_view label,
                                  std::span<const double> values);
[[nodiscard]] Box box_of(std::vector<double> values);

/// The row classes of the paper's Table 2: a kind of job; whole-node kinds also by node count.
struct JobClass {
  std::string kind;
  std::string nodes;
  [[nodiscard]] std::string name() const { return nodes.empty() ? kind : kind + " " + nodes; }
};
/// All classes of a site, and the class of each job.
class JobClasses {
 public:
  explicit JobClasses(const SiteShape& site);
  [[nodiscard]] const std::vector<JobClass>& all() const { return classes_; }
  [[nodiscard]] size_t of(const Job& job) const {
    const size_t first = first_[job.kind];
    return whole_[job.kind] ? first + site_.bin_of(job.nodes) : first;
  }

 private:
  const SiteShape& site_;
  std::vector<JobClass> classes_;
  std::vector<size_t> first_;  ///< by kind
  std::vector<bool> whole_;
};

/// The name of a user or account: as recorded, or `user-12` if names are hidden; `-` if unknown.
[[nodiscard]] std::string user_name(const Context& context, uint32_t user);
[[nodiscard]] std::string account_name(const Context& context, uint32_t account);

}  // namespace goban::site::analysis
