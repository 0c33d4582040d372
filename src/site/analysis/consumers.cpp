// Users and accounts of the site, and the inequality of their use ("the top 6 % own 80 %").
#include <algorithm>
#include <functional>
#include <numeric>

#include "base/statistics/concentration.hpp"
#include "site/analysis/statistics.hpp"

namespace goban::site::analysis {
namespace {

constexpr std::string_view kConsumersSection = "users";

/// Totals of a user or an account.
struct Holder {
  std::string name;
  int64_t jobs = 0;          ///< analysed
  int64_t all_jobs = 0;      ///< that ran
  double gpu_hours = 0;      ///< of analysed jobs
  double all_gpu_hours = 0;  ///< of all jobs that ran
  double node_hours = 0;
  int64_t failed = 0;
  int64_t ends = 0;  ///< analysed jobs whose end is known
  int64_t exceeded = 0;
  double wait_s = 0;
  int64_t waits = 0;
};

bool ended_badly(const records::RecordRow& row) {
  using records::RecordedState;
  return row.state == RecordedState::Failed || row.state == RecordedState::NodeFailed ||
         row.state == RecordedState::OutOfMemory || row.state == RecordedState::BootFailed;
}

/// Largest share first; ties by name, so that equal inputs give equal tables.
std::vector<Holder> gather(const Context& context, size_t names, uint32_t Job::* who,
                           const std::function<std::string(uint32_t)>& name_of) {
  std::vector<Holder> holders(names + 1);  // the last one: unknown
  for (const Job& job : context.population.jobs) {
    const uint32_t number = job.*who;
    Holder& holder = holders[number == records::kNoName ? names : number];
    ++holder.all_jobs;
    holder.all_gpu_hours += job.gpu_hours();
    if (job.wait_s >= 0) {
      holder.wait_s += job.wait_s;
      ++holder.waits;
    }
    if (!job.selected) continue;
    ++holder.jobs;
    holder.gpu_hours += job.gpu_hours();
    holder.node_hours += job.node_hours();
    holder.ends += context.population.row(job).state != records::RecordedState::Unknown ? 1 : 0;
    holder.failed += ended_badly(context.population.row(job)) ? 1 : 0;
    holder.exceeded += job.exceeded ? 1 : 0;
  }
  for (size_t i = 0; i < holders.size(); ++i) {
    holders[i].name = name_of(i == names ? records::kNoName : static_cast<uint32_t>(i));
  }
  std::erase_if(holders, [](const Holder& holder) { return holder.all_jobs == 0; });
  std::ranges::sort(holders, [](const Holder& a, const Holder& b) {
    return std::tuple(-a.gpu_hours, -a.jobs, -a.all_jobs, std::string_view(a.name)) <
           std::tuple(-b.gpu_hours, -b.jobs, -b.all_jobs, std::string_view(b.name));
  });
  return holders;
}

/// `name` is the member of Job that identifies its holder.
Table holder_table(const Context& context, std::string_view id, const std::vector<Holder>& holders,
                   std::string_view who, uint32_t Job::* name) {
  constexpr size_t kRowsMost = 10'000;
  const std::vector<Job>& everything = context.population.jobs;
  const auto nameless = std::ranges::count(everything, records::kNoName, name);
  Table table = make_table(context, id, kConsumersSection);
  table.quality.of = static_cast<int64_t>(everything.size());
  table.quality.used = table.quality.of - nameless;
  table.columns = columns(context, {who, "jobs", "ran"});
  table.columns.push_back(column(context, "gpu_hours", "GPU h"));
  table.columns.push_back(column(context, "share_gpu_hours", "%"));
  table.columns.push_back(column(context, "node_hours", "node h"));
  table.columns.push_back(column(context, "failed_share", "%"));
  table.columns.push_back(column(context, "exceeded_share", "%"));
  table.columns.push_back(column(context, "mean_wait", "h"));
  table.columns.push_back(column(context, "all_gpu_hours", "GPU h"));
  double all = 0;
  for (const Holder& holder : holders) all += holder.gpu_hours;
  for (const Holder& holder : holders) {
    if (table.rows.size() == kRowsMost) {
      table.quality.note = context.labels.with("word.more_rows", holders.size() - kRowsMost);
      break;
    }
    const auto jobs = static_cast<double>(holder.jobs);
    table.rows.push_back(
        {holder.name, holder.jobs, holder.all_jobs, holder.gpu_hours,
         percent(holder.gpu_hours, all), holder.node_hours,
         percent(static_cast<double>(holder.failed), static_cast<double>(holder.ends)),
         percent(static_cast<double>(holder.exceeded), jobs),
         holder.waits > 0 ? Cell(holder.wait_s / static_cast<double>(holder.waits) / 3600) : Cell(),
         holder.all_gpu_hours});
  }
  return table;
}

Series lorenz_series(const Context& context, std::string_view key,
                     const std::vector<double>& amounts) {
  Series series{.key = std::string(key), .label = context.labels(std::string("word.").append(key))};
  const std::vector<base::statistics::LorenzPoint> curve = base::statistics::lorenz(amounts);
  constexpr size_t kPoints = 400;
  const size_t step = std::max<size_t>(curve.size() / kPoints, 1);
  for (size_t i = 0; i < curve.size(); i += step) {
    series.x.push_back(100 * curve[i].holders);
    series.y.push_back(100 * curve[i].owned);
  }
  if (!curve.empty() && (curve.size() - 1) % step != 0) {
    series.x.push_back(100);
    series.y.push_back(100);
  }
  return series;
}

void add_concentration(const Context& context, const std::vector<Holder>& holders) {
  constexpr double kPaperOwned = 0.8;
  std::vector<double> jobs;
  std::vector<double> hours;
  for (const Holder& holder : holders) {
    if (holder.jobs == 0) continue;
    jobs.push_back(static_cast<double>(holder.jobs));
    hours.push_back(holder.gpu_hours);
  }
  const Quality quality{
      static_cast<int64_t>(jobs.size()), static_cast<int64_t>(holders.size()), {}};
  add_scalar(context, "submitters", kConsumersSection, quality, static_cast<int64_t>(jobs.size()),
             {}, "389");
  const auto share = [](const std::optional<double>& value) {
    return value ? Cell(100 * *value) : Cell();
  };
  add_scalar(context, "top_share_jobs", kConsumersSection, quality,
             share(base::statistics::top_share(jobs, context.rules.top_holders)), "%", "80 %");
  add_scalar(context, "top_share_gpu_hours", kConsumersSection, quality,
             share(base::statistics::top_share(hours, context.rules.top_holders)), "%");
  if (const auto top = base::statistics::holders_of(jobs, kPaperOwned)) {
    add_scalar(context, "holders_of_80", kConsumersSection, quality,
               percent(static_cast<double>(top->holders), static_cast<double>(top->all)), "%",
               "6 %");
  }
  const auto gini = base::statistics::gini(jobs);
  add_scalar(context, "gini_jobs", kConsumersSection, quality, gini ? Cell(*gini) : Cell());
  Figure figure =
      make_figure(context, FigureKind::Line, "lorenz_users", kConsumersSection, "Section 3");
  figure.x = axis(context, "share_of_users", "%");
  figure.y = axis(context, "share_owned", "%");
  figure.series = {lorenz_series(context, "jobs", jobs),
                   lorenz_series(context, "gpu_hours", hours)};
  figure.quality = quality;
  context.report.figures.push_back(std::move(figure));
}

}  // namespace

void add_consumers(const Context& context) {
  const records::RecordTable& table = *context.population.table;
  if (table.users().size() == 0) {
    add_absent(context, "users", kConsumersSection, "Section 3", "reason.no_users");
  } else {
    const auto users = gather(context, table.users().size(), &Job::user,
                              [&](uint32_t user) { return user_name(context, user); });
    add_concentration(context, users);
    context.report.tables.push_back(holder_table(context, "users", users, "user", &Job::user));
  }
  if (table.accounts().size() == 0) {
    add_absent(context, "accounts", kConsumersSection, {}, "reason.no_accounts");
    return;
  }
  const auto accounts = gather(context, table.accounts().size(), &Job::account,
                               [&](uint32_t account) { return account_name(context, account); });
  context.report.tables.push_back(
      holder_table(context, "accounts", accounts, "account", &Job::account));
}

}  // namespace goban::site::analysis
