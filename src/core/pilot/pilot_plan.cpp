#include "core/pilot/pilot_plan.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <limits>
#include <nlohmann/json.hpp>

#include "base/units.hpp"

namespace goban::core::pilot {

using base::Status;
using base::TimeNs;
using nlohmann::json;

namespace {

constexpr TimeNs kPeriodLeast = 10 * base::kMinute;
constexpr TimeNs kPeriodMost = 31 * base::kDay;
constexpr int32_t kPairsMost = 183;
constexpr double kRatioMost = 1000;

/// SplitMix64 (Steele, Lea and Flood 2014): equal on every machine.
uint64_t mixed(uint64_t value) {
  value += 0x9e3779b97f4a7c15ULL;
  value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9ULL;
  value = (value ^ (value >> 27)) * 0x94d049bb133111ebULL;
  return value ^ (value >> 31);
}

Status refuse(const char* field, std::string message, std::string remedy) {
  return base::bad_data({.file = {}, .line = 0, .column = 0, .field = field}, std::move(message),
                        std::move(remedy));
}

constexpr size_t kNamesMax = 10'000;
constexpr size_t kNameBytesMax = 256;

Status check_names(const char* field, const std::vector<std::string>& names) {
  if (names.size() > kNamesMax) {
    return refuse(field, fmt::format("has more than {} names", kNamesMax), "name fewer");
  }
  std::vector<std::string> sorted = names;
  std::ranges::sort(sorted);
  const auto twice = std::ranges::adjacent_find(sorted);
  if (twice != sorted.end()) {
    return refuse(field, fmt::format("names {} twice", *twice), "name each once");
  }
  const bool is_odd = std::ranges::any_of(names, [](const std::string& name) {
    return name.empty() || name.size() > kNameBytesMax ||
           std::ranges::any_of(name, [](char c) { return static_cast<unsigned char>(c) < 0x20; });
  });
  return is_odd ? refuse(field, "contains an invalid name", "name each as goban shows it")
                : Status{};
}

Status check_limits(const Plan& plan) {
  for (const auto& [field, names] :
       {std::pair{"nodes", &plan.nodes}, {"users", &plan.users}, {"accounts", &plan.accounts}}) {
    if (auto status = check_names(field, *names); !status) return status;
  }
  const bool has_people = !plan.users.empty() || !plan.accounts.empty();
  if (has_people && plan.nodes.empty()) {
    return refuse("nodes", "is missing, but users or accounts are named",
                  "two policies cannot decide about one node: name the nodes of these users");
  }
  if (has_people || plan.nodes.empty()) return {};
  return refuse("users", "names nobody, nor does accounts, but nodes are named",
                "name the users or accounts whose jobs run on these nodes");
}

}  // namespace

Arm Plan::arm(int32_t period) const {
  const auto pair = static_cast<uint64_t>(period / 2);
  const bool b_first = (mixed(mixed(seed) + pair) & 1) != 0;
  return (period % 2 == 0) == b_first ? Arm::B : Arm::A;
}

int32_t Plan::period_at(TimeNs since_start_ns) const {
  return static_cast<int32_t>(
      std::min<TimeNs>(std::max<TimeNs>(since_start_ns, 0) / period_ns, num_periods()));
}

bool Plan::judges(TimeNs since_start_ns) const {
  return since_start_ns >= 0 && period_at(since_start_ns) < num_periods() &&
         since_start_ns % period_ns >= settle_ns;
}

Status check(const Plan& plan) {
  for (const auto& [field, name] :
       {std::pair{"policy_a", &plan.policy_a}, {"policy_b", &plan.policy_b}}) {
    if (name->empty()) return refuse(field, "names no policy", "goban policies lists them");
  }
  if (plan.policy_a == plan.policy_b) {
    return refuse("policy_b", fmt::format("is {}, like policy_a", plan.policy_b),
                  "name two different policies");
  }
  if (plan.period_ns < kPeriodLeast || plan.period_ns > kPeriodMost) {
    return refuse("period_s",
                  fmt::format("{} is too short or too long", base::duration_text(plan.period_ns)),
                  "give 10 minutes to 31 days; a day or more, so that queues are not carried over");
  }
  if (plan.settle_ns < 0 || plan.settle_ns > plan.period_ns / 2) {
    return refuse("settle_s", "is more than half of the period", "shorten it");
  }
  if (plan.pairs < 1 || plan.pairs > kPairsMost) {
    return refuse("pairs", fmt::format("{} is not 1 to {}", plan.pairs, kPairsMost),
                  "fewer than 6 pairs cannot show a gain");
  }
  if (plan.seed > static_cast<uint64_t>(std::numeric_limits<int64_t>::max())) {
    return refuse("seed", fmt::format("{} is too large", plan.seed),
                  "give a number below 9223372036854775808");
  }
  if (plan.effect <= 0 || plan.effect >= 1) {
    return refuse("effect", "must be a share above 0 and below 1",
                  "give the smallest gain that matters, such as 0.1");
  }
  const StopRules& stop = plan.stop;
  if (stop.slowdown < 1 || stop.misses < 0 || stop.misses > 1 || stop.errors < 0 ||
      stop.errors > 1 || stop.jobs < 1) {
    return refuse("stop", "has a limit that is out of range",
                  "slowdown is a factor of at least 1, misses and errors are shares, jobs is at "
                  "least 1");
  }
  return check_limits(plan);
}

json to_json(const Plan& plan) {
  json out = {{"policy_a", plan.policy_a},
              {"policy_b", plan.policy_b},
              {"period_s", base::to_seconds(plan.period_ns)},
              {"settle_s", base::to_seconds(plan.settle_ns)},
              {"pairs", plan.pairs},
              {"seed", plan.seed},
              {"effect", plan.effect},
              {"stop",
               {{"slowdown", plan.stop.slowdown},
                {"misses", plan.stop.misses},
                {"errors", plan.stop.errors},
                {"jobs", plan.stop.jobs}}}};
  if (!plan.nodes.empty()) out["nodes"] = plan.nodes;
  if (!plan.users.empty()) out["users"] = plan.users;
  if (!plan.accounts.empty()) out["accounts"] = plan.accounts;
  return out;
}

void read_fields(base::FieldReader& in, Plan& plan) {
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
  in.field("policy_a", plan.policy_a);
  in.field("policy_b", plan.policy_b);
  in.seconds("period_s", plan.period_ns);
  in.seconds("settle_s", plan.settle_ns);
  in.field("pairs", plan.pairs, 0, kPairsMost);
  auto seed = static_cast<int64_t>(plan.seed);
  in.field("seed", seed, int64_t{0}, kMost);
  plan.seed = static_cast<uint64_t>(seed);
  in.field("effect", plan.effect, 0, 1);
  in.object("stop", [&](base::FieldReader& part) {
    part.field("slowdown", plan.stop.slowdown, 0, kRatioMost);
    part.field("misses", plan.stop.misses, 0, 1);
    part.field("errors", plan.stop.errors, 0, 1);
    part.field("jobs", plan.stop.jobs, int64_t{0}, kMost);
  });
  in.field("nodes", plan.nodes);
  in.field("users", plan.users);
  in.field("accounts", plan.accounts);
}

base::Result<Plan> parse_plan(std::string_view text, const std::string& file) {
  const auto document = base::parse_json(text, file, "goban pilot plan --out FILE writes one");
  if (!document) return base::failure(document.error());
  base::FieldReader in(*document, "");
  Plan plan;
  read_fields(in, plan);
  if (in.good() && !in.unknown().empty()) in.fail(in.unknown().front(), "unknown field");
  Status status = in.status(file);
  if (status) status = check(plan);
  if (status) return plan;
  base::Error error = status.error();
  error.place.file = file;
  return base::failure(std::move(error));
}

}  // namespace goban::core::pilot
