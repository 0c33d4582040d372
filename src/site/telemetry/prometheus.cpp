#include "site/telemetry/prometheus.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <set>

#include "base/number.hpp"
#include "base/text.hpp"
#include "site/series/input/side_facts.hpp"
#include "site/telemetry/query_response.hpp"

namespace goban::site::telemetry {
namespace {

using series::Adapter;
using series::Labels;
using series::Role;

constexpr size_t kNodesMax = 1'000'000;

std::string seconds_text(int64_t time_ms) {
  return base::number_text(static_cast<double>(time_ms) / 1000);
}

/// A regular expression (RE2) that matches exactly this text.
std::string escaped_pattern(std::string_view text) {
  constexpr std::string_view kSpecial = R"(\.+*?()|[]{}^$)";
  std::string out;
  for (const char c : text) {
    if (kSpecial.find(c) != std::string_view::npos) out += '\\';
    out += c;
  }
  return out;
}

/// One metric of some nodes in a period.
struct Block {
  const Adapter* adapter = nullptr;
  std::string node_label;
  std::string without;  ///< matchers that exclude series with a preferred node label
  std::span<const std::string> nodes;
  int64_t from_ms = 0;
  int64_t to_ms = 0;
};

/// Collects the samples of a helper metric.
class FactSink final : public MatrixSink {
 public:
  FactSink(const Adapter& adapter, const series::AdapterTable& adapters, series::SideFacts& facts)
      : adapter_(adapter), adapters_(adapters), facts_(facts) {}
  bool series(const Labels& labels) override {
    device_ = applies(adapter_, labels) ? adapters_.device(adapter_, labels) : std::nullopt;
    return true;
  }
  bool sample(int64_t time_ms, double value) override {
    if (device_) facts_.add(adapter_, *device_, time_ms, value);
    return true;
  }

 private:
  const Adapter& adapter_;
  const series::AdapterTable& adapters_;
  series::SideFacts& facts_;
  std::optional<series::DeviceKey> device_;
};

/// Passes the samples of a block to the intake.
class SampleMatrix final : public MatrixSink {
 public:
  SampleMatrix(const Block& block, const series::AdapterTable& adapters,
               const series::SideFacts& facts, series::Intake& intake)
      : block_(block), adapters_(adapters), facts_(facts), intake_(intake) {}

  base::Status status;

  bool series(const Labels& labels) override {
    device_.reset();
    metric_ = adapters_.measured(*block_.adapter, labels);
    if (!metric_ || !applies(*block_.adapter, labels)) return true;
    device_ = adapters_.device(*block_.adapter, labels);
    if (device_) facts_.complete(*device_);
    if (!device_)
      intake_.reject({"prometheus", 0, "no label names the node", block_.adapter->name});
    return true;
  }
  bool sample(int64_t time_ms, double value) override {
    if (time_ms < block_.from_ms || time_ms >= block_.to_ms || !device_) return true;
    ++intake_.counts.lines;
    series::Reading reading = reading_of(*block_.adapter, value);
    if (facts_.stale(*block_.adapter, device_->node, time_ms)) {
      reading = {series::State::Stale, 0};
    }
    status = intake_.add(*device_, *metric_, time_ms, reading);
    return status.has_value();
  }

 private:
  const Block& block_;
  const series::AdapterTable& adapters_;
  const series::SideFacts& facts_;
  series::Intake& intake_;
  std::optional<series::DeviceKey> device_;
  std::optional<series::Metric> metric_;
};

class Session {
 public:
  Session(const PrometheusOptions& options, series::Intake& intake)
      : options_(options), adapters_(options.adapters), intake_(intake), base_(options.url) {
    const std::atomic<bool>* const interrupted = intake.interrupted;
    call_.connect_s = options.http.connect_s;
    call_.timeout_s = options.http.timeout_s;
    call_.bytes_max = options.http.bytes_max;
    call_.follows_redirects = true;
    call_.uses_environment = true;
    call_.keeps_on = [interrupted] { return interrupted == nullptr || !*interrupted; };
    adapters_.keep(options.metrics);
    while (base_.ends_with('/')) base_.pop_back();
    base_ += "/api/v1/";
  }

  base::Result<PrometheusReport> run() {
    ask_version();
    const auto adapters = find_metrics();
    if (!adapters) return base::failure(adapters.error());
    std::vector<Plan> plans;
    for (const Adapter* adapter : *adapters) {
      if (auto added = add_plans(*adapter, plans); !added) return base::failure(added.error());
    }
    if (const auto read = read_plans(plans); !read) return base::failure(read.error());
    return std::move(report_);
  }

 private:
  /// How to query those of a metric's series whose node is named by one label.
  struct Plan {
    const Adapter* adapter = nullptr;
    std::string label;    ///< the label that names the node
    std::string without;  ///< as in Block
    std::vector<std::string> nodes;
  };

  base::http::HttpAnswer get(const std::string& url) { return send("GET", url, {}); }

  base::http::HttpAnswer send(const char* method, const std::string& url, std::string form) {
    call_.method = method;
    call_.url = url;
    call_.body = std::move(form);
    uint32_t attempts = 0;
    auto answer = send_with_retries(
        client_, call_, {.retries = options_.http.retries, .pause_s = options_.http.pause_s},
        &attempts);
    report_.retries += attempts - 1;
    return answer;
  }

  void ask_version() {
    const base::http::HttpAnswer answer = get(base_ + "status/buildinfo");

    constexpr std::string_view kKey = "\"version\":\"";
    const size_t at = answer.body.find(kKey);
    if (!answer.fine() || at == std::string::npos) return;
    const size_t begin = at + kKey.size();
    report_.version = answer.body.substr(begin, answer.body.find('"', begin) - begin);
  }

  [[nodiscard]] std::string selector(std::string_view metric, std::string_view more) const {
    std::string out = fmt::format("{{__name__={}", base::quoted(metric));
    for (const std::string_view part : {std::string_view(options_.matchers), more}) {
      if (!part.empty()) out += fmt::format(",{}", part);
    }
    return out + '}';
  }

  base::Result<std::vector<std::string>> label_values(const std::string& label,
                                                      const std::string& match) {
    std::string url = fmt::format("{}label/{}/values?start={}&end={}", base_, label,
                                  seconds_text(options_.from_ms), seconds_text(options_.to_ms));
    if (!match.empty()) url += "&match%5B%5D=" + percent(match);
    const base::http::HttpAnswer answer = get(url);
    ++report_.queries;
    std::vector<std::string> values;
    const QueryResponse response = read_texts(answer.body, values);
    if (answer.fine() && response.success) return values;
    return base::failed(
        fmt::format("{} does not list its series: {}", base::http::without_password(options_.url),
                    reason(answer, response)),
        "check the address, and that the server responds");
  }

  static std::string percent(std::string_view text) {
    std::string out;
    for (const char c : text) out += fmt::format("%{:02X}", static_cast<unsigned char>(c));
    return out;
  }

  /// The adapters whose metrics exist on the server, helper metrics included.
  base::Result<std::vector<const Adapter*>> find_metrics() {
    const std::string match =
        options_.matchers.empty() ? "" : fmt::format("{{{}}}", options_.matchers);
    const auto names = label_values("__name__", match);
    if (!names) return base::failure(names.error());
    std::vector<const Adapter*> found;
    for (const std::string& name : *names) {
      const Adapter* adapter = adapters_.find(name);
      if (adapter == nullptr) continue;
      const bool sample = adapter->role == Role::Sample;
      if (sample || adapter->role == Role::NotAvailable) {
        found.push_back(adapter);
        report_.metrics.push_back(name);
      } else if (adapter->role != Role::Sample) {
        helpers_.push_back(adapter);
      }
    }
    if (found.empty()) {
      return base::usage_error(
          fmt::format("{} has none of the requested metrics between --from and --to",
                      base::http::without_password(options_.url)),
          fmt::format("it has {} others; describe them with --adapters FILE", names->size()));
    }
    return found;
  }

  /// Adds a plan for each label that names nodes of this metric: for the series that have none of
  /// the preferred labels, as exporters have different labels.
  base::Status add_plans(const Adapter& adapter, std::vector<Plan>& plans) {
    std::string without;
    for (const std::string& label : adapter.node_labels) {
      const std::string more = fmt::format("{}!=\"\"{}", label, without);
      auto values = label_values(label, selector(adapter.name, more));
      if (!values) return base::failure(values.error());
      if (values->size() >= kNodesMax) continue;
      if (!values->empty()) plans.push_back({&adapter, label, without, std::move(*values)});
      without += fmt::format(",{}=\"\"", label);
    }
    const auto nameless =
        label_values("__name__", selector(adapter.name, without.empty() ? "" : without.substr(1)));
    if (!nameless) return base::failure(nameless.error());
    if (!nameless->empty()) {
      intake_.reject({"prometheus", 0, "no label names the node", adapter.name});
    }
    return {};
  }

  base::Status read_plans(const std::vector<Plan>& plans) {
    int64_t total = 0;
    for (const Plan& plan : plans) total += num_blocks(plan);
    int64_t done = 0;
    for (const Plan& plan : plans) {
      for (size_t first = 0; first < plan.nodes.size(); first += options_.nodes_per_query) {
        const size_t count = std::min<size_t>(options_.nodes_per_query, plan.nodes.size() - first);
        Block block{.adapter = plan.adapter,
                    .node_label = plan.label,
                    .without = plan.without,
                    .nodes = std::span(plan.nodes).subspan(first, count),
                    .from_ms = options_.from_ms};
        for (; block.from_ms < options_.to_ms; block.from_ms = block.to_ms) {
          block.to_ms = std::min(options_.to_ms, block.from_ms + options_.block_ms);
          if (intake_.stopped()) return {};
          if (auto read = read_block(block); !read) return read;
          if (intake_.on_progress) intake_.on_progress(++done, total);
        }
      }
    }
    return {};
  }

  [[nodiscard]] int64_t num_blocks(const Plan& plan) const {
    const auto groups = static_cast<int64_t>((plan.nodes.size() + options_.nodes_per_query - 1) /
                                             options_.nodes_per_query);
    return groups *
           ((options_.to_ms - options_.from_ms + options_.block_ms - 1) / options_.block_ms);
  }

  /// Errors: those of the sink. Failed queries become gaps.
  base::Status read_block(const Block& block) {
    series::SideFacts facts;
    std::string problem = read_helpers(block, facts);
    if (problem.empty()) {
      SampleMatrix sink(block, adapters_, facts, intake_);
      problem = query(block, block.adapter->name, block.from_ms, sink);
      if (!sink.status) return sink.status;
    }
    if (problem.empty() || intake_.stopped()) return {};
    const int64_t length_ms = block.to_ms - block.from_ms;
    if (too_much_ && length_ms > options_.block_ms_min) {
      ++report_.halved;
      Block half = block;
      half.to_ms = block.from_ms + length_ms / 2;
      if (auto first = read_block(half); !first) return first;
      half.from_ms = half.to_ms;
      half.to_ms = block.to_ms;
      return read_block(half);
    }
    report_.gaps.push_back({block.adapter->name, block.nodes.size(), block.nodes.front(),
                            block.from_ms, block.to_ms, std::move(problem)});
    return {};
  }

  /// Reads facts of the block's period and of one sampling before it; returns what went wrong.
  std::string read_helpers(const Block& block, series::SideFacts& facts) {
    constexpr int64_t kBefore_ms = int64_t{600'000};
    for (const Adapter* helper : helpers_) {
      const bool index = helper->role == Role::Index && block.adapter->device_labels.empty();
      if (!index && helper->name != block.adapter->freshness) continue;
      FactSink sink(*helper, adapters_, facts);
      std::string problem = query(block, helper->name, block.from_ms - kBefore_ms, sink);
      if (!problem.empty()) return problem;
    }
    facts.sort();
    return {};
  }

  /// Queries `metric[range]`; returns what went wrong; empty = nothing.
  std::string query(const Block& block, const std::string& metric, int64_t from_ms,
                    MatrixSink& sink) {
    std::string nodes;
    for (const std::string& node : block.nodes) {
      if (!nodes.empty()) nodes += '|';
      nodes += escaped_pattern(node);
    }
    const std::string more =
        fmt::format("{}=~{}{}", block.node_label, base::quoted(nodes), block.without);
    // Evaluated at the last millisecond of the block, back to one before its first.
    const base::http::HttpAnswer answer =
        send("POST", base_ + "query",
             base::http::form_text(
                 {{"query", fmt::format("{}[{}ms]", selector(metric, more), block.to_ms - from_ms)},
                  {"time", seconds_text(block.to_ms - 1)},
                  {"timeout", fmt::format("{:g}s", options_.http.timeout_s)}}));
    ++report_.queries;
    too_much_ = false;
    if (answer.failure != base::http::HttpFailure::None) {
      too_much_ = answer.failure == base::http::HttpFailure::TooLarge ||
                  answer.failure == base::http::HttpFailure::TimedOut;
      return answer.problem;
    }
    const QueryResponse response = read_matrix(answer.body, sink);
    for (const std::string& warning : response.warnings) {
      if (seen_warnings_.insert(warning).second) report_.warnings.push_back(warning);
    }
    if (answer.fine() && response.success) return {};
    too_much_ = response.error_type == "timeout" ||
                response.problem.find("too many samples") != std::string::npos;
    return reason(answer, response);
  }

  static std::string reason(const base::http::HttpAnswer& answer, const QueryResponse& response) {
    if (answer.failure != base::http::HttpFailure::None) return answer.problem;
    if (!answer.fine()) {
      return response.error_type.empty() ? fmt::format("HTTP {}", answer.status)
                                         : fmt::format("HTTP {}: {}: {}", answer.status,
                                                       response.error_type, response.problem);
    }
    return response.problem;
  }

  const PrometheusOptions& options_;
  series::AdapterTable adapters_;
  base::http::HttpClient client_;
  base::http::HttpCall call_;
  series::Intake& intake_;
  std::string base_;
  PrometheusReport report_;
  std::vector<const Adapter*> helpers_;
  std::set<std::string> seen_warnings_;
  bool too_much_ = false;  ///< the last query failed because of its size
};

}  // namespace

base::Result<PrometheusReport> read_prometheus(const PrometheusOptions& options,
                                               series::Intake& intake) {
  if (!options.url.starts_with("http://") && !options.url.starts_with("https://")) {
    return base::usage_error(
        fmt::format("'{}' is not an address", base::http::without_password(options.url)),
        "such as http://prometheus:9090");
  }
  if (options.from_ms >= options.to_ms) {
    return base::usage_error("the requested period is empty", "set --from before --to");
  }
  return Session(options, intake).run();
}

}  // namespace goban::site::telemetry
