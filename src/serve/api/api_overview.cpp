// /v1/overview: the last hours of the cluster in a few numbers, for all callers: no user or job is
// named.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <map>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.hpp"
#include "base/http/reply.hpp"
#include "base/number.hpp"
#include "serve/api/api.hpp"
#include "serve/api/overview.hpp"

namespace goban::serve::api {

using base::TimeNs;
using nlohmann::json;

namespace {
constexpr int64_t kHoursDefault = 24;
constexpr int64_t kHoursMax = 168;
constexpr size_t kSteps = 96;
constexpr int64_t kPastMax = 10'000;
/// The samples of more GPUs take too long to read.
constexpr uint32_t kPowerGpusMax = 1024;
/// Many pages ask at the same time; a reply of this age is as good.
constexpr TimeNs kKeep = 10 * base::kSecond;

/// Nobody waits longer for another request that makes the same reply.
constexpr auto kPatience = std::chrono::seconds(2);

/// The last reply for each number of hours. One is made at a time: a slow history must not occupy
/// all workers of the service.
class Replies {
 public:
  /// The last reply, or one that `make` returns if that is too old. Empty: another request has been
  /// making the first one for too long.
  template <typename Make>
  std::string get(int64_t hours, const Make& make) {
    const auto [last, is_fresh] = last_of(hours);
    if (is_fresh) return last;
    std::unique_lock making(making_, std::defer_lock);
    if (!making.try_lock()) {
      if (!last.empty()) return last;
      if (!making.try_lock_for(kPatience)) return {};
      if (auto [made, is_new] = last_of(hours); is_new) return std::move(made);
    }
    std::string body = make();
    const std::scoped_lock lock(mutex_);
    by_hours_[hours] = {.made_ns = base::steady_ns(), .body = body};
    return body;
  }

 private:
  struct Reply {
    TimeNs made_ns = 0;
    std::string body{};
  };
  std::pair<std::string, bool> last_of(int64_t hours) {
    const std::scoped_lock lock(mutex_);
    const Reply& reply = by_hours_[hours];
    return {reply.body, !reply.body.empty() && base::steady_ns() - reply.made_ns <= kKeep};
  }
  std::timed_mutex making_{};
  std::mutex mutex_{};
  std::map<int64_t, Reply> by_hours_{};
};

json rounded(const std::vector<double>& values) {
  constexpr double kFine = 1000;
  json out = json::array();
  for (const double value : values) out.push_back(std::round(value * kFine) / kFine);
  return out;
}

/// Adds mean power by step, and its integral. Nothing where it is not measured.
void add_power(json& out, const ApiContext& context, const OverviewPeriod& period,
               uint32_t num_gpus) {
  if (context.parts.gpus == nullptr || num_gpus == 0 || num_gpus > kPowerGpusMax) return;
  GpuWindow window{.from_ns = period.from_ns,
                   .to_ns = period.to_ns,
                   .points_max = period.num_steps,
                   .only_power = true};
  for (uint32_t gpu = 0; gpu < num_gpus; ++gpu) window.gpus.emplace_back(gpu);
  const auto curves = context.parts.gpus->curves(window);
  if (!curves || curves->step_s <= 0) return;
  const double from_s = base::to_seconds(period.from_ns);
  std::vector<double> power_w(period.num_steps, 0);
  std::vector<bool> is_known(period.num_steps, false);
  double energy_j = 0;
  for (const auto& points : curves->gpus) {
    for (const GpuPoint& point : points) {
      const auto step = static_cast<size_t>(std::max(0.0, (point.at_s - from_s) / curves->step_s));
      if (point.mean.power_w < 0 || step >= power_w.size()) continue;
      power_w[step] += point.mean.power_w;
      is_known[step] = true;
      energy_j += point.mean.power_w * curves->step_s;
    }
  }
  json list = json::array();
  for (size_t i = 0; i < power_w.size(); ++i) {
    if (!is_known[i]) continue;
    const double at_s = from_s + (static_cast<double>(i) + 0.5) * curves->step_s;
    list.push_back({{"at_s", at_s}, {"power_w", power_w[i]}});
  }
  if (list.empty()) return;
  out["power"] = std::move(list);
  out["energy_j"] = energy_j;
}

std::string make_reply(const ApiContext& context, int64_t hours) {
  OverviewPeriod period{.num_steps = kSteps};
  std::vector<live::controller::LiveJob> past;
  bool is_partial = false;
  TimeNs now = 0;
  context.scheduler.look(
      [&](const live::loop::SchedulerSnapshot& snapshot) { now = snapshot.now_ns; });
  period.to_ns = std::max<TimeNs>(now, 1);
  period.from_ns = period.to_ns - hours * base::kHour;
  if (context.parts.past != nullptr) {
    auto found = context.parts.past->find({.from_ns = period.from_ns, .limit = kPastMax});
    is_partial = !found || static_cast<int64_t>(found->size()) == kPastMax;
    if (found) past = std::move(*found);
  }
  OverviewSums sums(period);
  uint32_t num_gpus = 0;
  std::set<core::model::JobId> in_table;
  context.scheduler.look([&](const live::loop::SchedulerSnapshot& snapshot) {
    num_gpus = snapshot.site.cluster.num_gpus();
    for (const auto& [id, job] : snapshot.book.jobs) {
      in_table.insert(id);
      sums.add(job);
    }
  });
  for (const live::controller::LiveJob& job : past) {
    if (!in_table.contains(job.job)) sums.add(job);
  }
  Overview made = sums.take();
  json out = {{"from_s", base::to_seconds(period.from_ns)},
              {"to_s", base::to_seconds(period.to_ns)},
              {"step_s", base::to_seconds(period.to_ns - period.from_ns) / kSteps},
              {"num_gpus", num_gpus},
              {"held_gpus", rounded(made.held_gpus)},
              {"waiting_jobs", rounded(made.waiting_jobs)},
              {"waiting_gpus", rounded(made.waiting_gpus)},
              {"submitted", made.submitted},
              {"ended", made.ended},
              {"gpu_hours", made.gpu_hours}};
  if (made.waits.jobs > 0) {
    out["wait_s"] = {{"jobs", made.waits.jobs},
                     {"p50", made.waits.p50_s},
                     {"p90", made.waits.p90_s},
                     {"max", made.waits.max_s}};
  }
  if (made.ended_energy_j >= 0) out["ended_energy_j"] = made.ended_energy_j;
  if (is_partial) out["partial"] = true;
  add_power(out, context, period, num_gpus);
  return out.dump();
}

base::http::Response show_overview(const Call& call, const ApiContext& context, Replies& replies) {
  int64_t hours = kHoursDefault;
  if (const std::string_view text = call.query("hours"); !text.empty()) {
    const auto value = base::parse_int(text);
    if (!value || *value < 1 || *value > kHoursMax) {
      return base::http::refusal(base::http::kBadRequest,
                                 {.code = base::ErrorCode::BadData,
                                  .message = "must be an integer from 1 to 168",
                                  .place = {.file = {}, .line = 0, .column = 0, .field = "hours"},
                                  .remedy = {}});
    }
    hours = *value;
  }
  std::string body = replies.get(hours, [&] { return make_reply(context, hours); });
  if (body.empty()) {
    return base::http::refusal(base::http::kUnavailable, "the history store is busy", "try again");
  }
  return {.body = std::move(body)};
}
}  // namespace

void add_overview_route(Router& router, const ApiContext& context) {
  router.add("GET", "/v1/overview", Access::Known, {"hours"},
             [&context, replies = std::make_shared<Replies>()](const Call& call) {
               return show_overview(call, context, *replies);
             });
}

}  // namespace goban::serve::api
