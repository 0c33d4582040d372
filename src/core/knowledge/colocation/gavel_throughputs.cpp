#include "core/knowledge/colocation/gavel_throughputs.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/number.hpp"
#include "base/text.hpp"
#include "core/knowledge/colocation/colocation_file.hpp"

namespace goban::core::knowledge {
namespace {

using base::bad_data;
using base::Result;
using base::Status;
using Json = nlohmann::json;

constexpr std::string_view kAlone = "null";
constexpr std::string_view kSpread = "_unconsolidated";
constexpr std::string_view kGavelSource = "Gavel throughputs";

/// ('name', gpus)
struct JobType {
  GavelApp app;
  int64_t num_gpus = 0;
};

std::optional<JobType> parse_job_type(std::string_view text) {
  constexpr std::string_view kBegin = "('";
  constexpr std::string_view kMiddle = "', ";
  if (!text.starts_with(kBegin) || !text.ends_with(')')) return std::nullopt;
  text = text.substr(kBegin.size(), text.size() - kBegin.size() - 1);
  const size_t middle = text.rfind(kMiddle);
  if (middle == std::string_view::npos) return std::nullopt;
  const auto num_gpus = base::parse_int(text.substr(middle + kMiddle.size()));
  if (!num_gpus || *num_gpus < 1) return std::nullopt;
  JobType type{gavel_app(text.substr(0, middle)), *num_gpus};
  if (!is_set_name(type.app.model)) return std::nullopt;
  return type;
}

std::optional<double> rate_of(const Json& value) {
  if (!value.is_number()) return std::nullopt;
  const auto rate = value.get<double>();
  if (!std::isfinite(rate) || rate < 0 || rate > 1e12) return std::nullopt;
  return rate;
}

class GavelReader {
 public:
  explicit GavelReader(const std::string& file) : file_(file) {}

  Result<GavelImport> run(const Json& document) {
    if (!document.is_object()) return refuse("", "must be an object of GPU types");
    for (const auto& [gpu, jobs] : document.items()) {
      if (std::string_view(gpu).ends_with(kSpread)) {
        ++out_.unconsolidated;
        continue;
      }
      if (!is_set_name(gpu)) return refuse(gpu, "is not a valid GPU type name");
      if (!jobs.is_object()) return refuse(gpu, "must be an object of job types");
      gpu_type_ = out_.history.add_gpu_type(base::uppered(gpu));
      for (const auto& [name, entries] : jobs.items()) {
        if (Status read = read_job(gpu, jobs, name, entries); !read) {
          return base::failure(read.error());
        }
      }
    }
    return std::move(out_);
  }

 private:
  [[nodiscard]] tl::unexpected<base::Error> refuse(std::string field, std::string message) const {
    return bad_data({file_, 0, 0, std::move(field)}, std::move(message),
                    "give a throughput file of Gavel, such as simulation_throughputs.json");
  }

  Status read_job(const std::string& gpu, const Json& jobs, const std::string& name,
                  const Json& entries) {
    const std::string field = fmt::format("{}.{}", gpu, name);
    const auto type = parse_job_type(name);
    if (!type) return refuse(field, "is not a job type such as ('ResNet-18 (batch size 16)', 1)");
    if (!entries.is_object()) return refuse(field, "must be an object of rates");
    if (type->num_gpus > 1) {
      out_.multi_gpu += static_cast<int64_t>(entries.size());
      return {};
    }
    const auto alone = alone_rate(jobs, name);
    if (!alone) return refuse(field, "has no rate alone: \"null\" must be a number >= 0");
    if (*alone == 0) {
      out_.no_rate += static_cast<int64_t>(entries.size());
      return {};
    }
    MeasuredSet solo = new_set();
    add_member(solo, type->app, 1);
    if (Status added = add(solo, field); !added) return added;
    ++out_.alone;
    for (const auto& [other, rates] : entries.items()) {
      if (other == kAlone) continue;
      Status read =
          read_pair(jobs, {fmt::format("{}.{}", field, other), *type, *alone}, other, rates);
      if (!read) return read;
    }
    return {};
  }

  static std::optional<double> alone_rate(const Json& jobs, const std::string& name) {
    const auto job = jobs.find(name);
    if (job == jobs.end() || !job->is_object()) return std::nullopt;
    const auto found = job->find(kAlone);
    return found == job->end() ? std::nullopt : rate_of(*found);
  }

  struct Self {
    std::string field;
    JobType type;
    double alone;
  };

  Status read_pair(const Json& jobs, const Self& self, const std::string& other,
                   const Json& rates) {
    const auto type = parse_job_type(other);
    if (!type) return refuse(self.field, "is not a job type such as ('A3C', 1)");
    if (type->num_gpus > 1) {
      ++out_.multi_gpu;
      return {};
    }
    const auto other_alone = alone_rate(jobs, other);
    if (!other_alone) return refuse(self.field, "the other job has no rate alone");
    if (*other_alone == 0) {
      ++out_.no_rate;
      return {};
    }
    std::optional<double> own_rate, other_rate;
    if (rates.is_array() && rates.size() == 2) {
      own_rate = rate_of(rates[0]);
      other_rate = rate_of(rates[1]);
    }
    if (!own_rate || !other_rate) {
      return refuse(self.field, "must be a pair of rates: two numbers >= 0");
    }
    MeasuredSet set = new_set();
    set.never = *own_rate == 0 || *other_rate == 0;
    add_member(set, self.type.app, set.never ? 1 : self.alone / *own_rate);
    add_member(set, type->app, set.never ? 1 : *other_alone / *other_rate);
    for (const double slowdown : {set.slowdown[0], set.slowdown[1]}) {
      if (slowdown >= kSlowdownMin && slowdown <= kSlowdownMax) continue;
      return refuse(self.field, fmt::format("is {:.4g} times slower than alone", slowdown));
    }
    return add_pair(set, self.field);
  }

  Status add_pair(const MeasuredSet& set, const std::string& field) {
    if (std::string problem = out_.history.contradiction(set); !problem.empty()) {
      return refuse(field, problem);
    }
    std::array<AppId, 2> sorted = {set.apps[0], set.apps[1]};
    std::ranges::sort(sorted);
    if (out_.history.find(gpu_type_, sorted) != nullptr) return {};  // the pair's other entry
    out_.history.merge(set);
    ++(set.never ? out_.never : out_.pairs);
    return {};
  }

  Status add(const MeasuredSet& set, const std::string& field) {
    if (std::string problem = out_.history.contradiction(set); !problem.empty()) {
      return refuse(field, problem);
    }
    out_.history.merge(set);
    return {};
  }

  MeasuredSet new_set() {
    MeasuredSet set;
    set.gpu_type = gpu_type_;
    set.source = out_.history.add_source(kGavelSource);
    return set;
  }
  void add_member(MeasuredSet& set, const GavelApp& app, double slowdown) {
    set.apps[set.size] = out_.history.add_app(app.model, app.input);
    set.slowdown[set.size++] = slowdown;
  }

  const std::string& file_;
  GavelImport out_;
  GpuTypeId gpu_type_;
};

}  // namespace

GavelApp gavel_app(std::string_view name) {
  constexpr std::string_view kBatch = " (batch size ";
  const size_t at = name.find(kBatch);
  if (at == std::string_view::npos || !name.ends_with(')')) return {std::string(name), {}};
  const std::string_view digits =
      name.substr(at + kBatch.size(), name.size() - at - kBatch.size() - 1);
  const auto batch = base::parse_int(digits);
  if (!batch || *batch < 1) return {std::string(name), {}};
  return {std::string(name.substr(0, at)), batch_input(*batch)};
}

Result<GavelImport> parse_gavel_throughputs(std::string_view json, const std::string& file) {
  Json document;
  try {
    document = Json::parse(json);
  } catch (const Json::exception& error) {
    return bad_data({file, 0, 0, {}}, fmt::format("this JSON cannot be read: {}", error.what()),
                    "give a throughput file of Gavel, such as simulation_throughputs.json");
  }
  return GavelReader(file).run(document);
}

}  // namespace goban::core::knowledge
