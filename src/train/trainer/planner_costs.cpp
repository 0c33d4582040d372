#include "train/trainer/planner_costs.hpp"

#include <algorithm>
#include <array>
#include <fmt/format.h>

#include "base/files.hpp"
#include "base/number.hpp"
#include "train/mesh/device.hpp"
#include "train/mesh/measure_costs.hpp"

namespace goban::train::trainer {
namespace {

struct Item {
  const char* name;
  double mesh::CostModel::* value;
  bool may_be_zero;
};
constexpr std::array kItems = {Item{"latency_s", &mesh::CostModel::alpha_s, true},
                               Item{"s_per_byte", &mesh::CostModel::beta_s_per_byte, true},
                               Item{"flops_per_s", &mesh::CostModel::flops_per_s, false},
                               Item{"bytes_per_s", &mesh::CostModel::bytes_per_s, false}};
constexpr const char* kRemedy =
    "such as \"latency_s=2e-5;s_per_byte=1e-10;flops_per_s=1e12;bytes_per_s=1e11\"";

std::string without_comments(std::string text) {
  bool comment = false;
  for (char& c : text) {
    comment = c != '\n' && (comment || c == '#');
    if (comment) c = ' ';
  }
  return text;
}

}  // namespace

std::string costs_text(const mesh::CostModel& costs) {
  std::string out;
  for (const Item& item : kItems) {
    out += fmt::format("{}{}={:.4g}", out.empty() ? "" : ";", item.name, costs.*item.value);
  }
  return out;
}

base::Result<mesh::CostModel> parse_costs(const std::string& text) {
  std::string items = text, file;
  if (text.find('=') == std::string::npos) {
    file = text;
    auto read = base::read_small_file(file);
    if (!read) return base::failure(read.error());
    items = without_comments(std::move(*read));
  }
  const auto bad = [&](const std::string& message) -> base::Result<mesh::CostModel> {
    if (!file.empty()) return base::bad_data({file, 0, 0, ""}, message, kRemedy);
    return base::usage_error("--costs: " + message, kRemedy);
  };
  mesh::CostModel out;
  std::array<bool, kItems.size()> found{};
  constexpr const char* kBetween = ";, \t\r\n";
  for (size_t at = items.find_first_not_of(kBetween); at != std::string::npos;) {
    const size_t end = std::min(items.find_first_of(kBetween, at), items.size());
    const std::string item = items.substr(at, end - at);
    at = items.find_first_not_of(kBetween, end);
    const size_t equals = item.find('=');
    size_t i = 0;
    while (i < kItems.size() && item.substr(0, equals) != kItems[i].name) ++i;
    if (i == kItems.size() || equals == std::string::npos) {
      return bad(fmt::format("'{}' is not one of the costs", item));
    }
    const auto value = base::parse_double(item.substr(equals + 1));
    if (!value || *value < 0 || (*value == 0 && !kItems[i].may_be_zero)) {
      return bad(fmt::format("'{}' is not a possible cost", item));
    }
    out.*kItems[i].value = *value;
    found[i] = true;
  }
  for (size_t i = 0; i < kItems.size(); ++i) {
    if (!found[i]) return bad(fmt::format("'{}' is missing", kItems[i].name));
  }
  return out;
}

base::Result<mesh::CostModel> planner_costs(const TrainOptions& options, int64_t devices,
                                            comm::Communicator& end) {
  if (!options.costs.empty()) return parse_costs(options.costs);
  if (devices != end.size()) {
    return base::usage_error(
        fmt::format("the costs of collectives between {} devices cannot be measured on {} rank{}",
                    devices, end.size(), end.size() == 1 ? "" : "s"),
        fmt::format("give the costs of that machine, --costs FILE or --costs {}; or start {} ranks",
                    std::string(kRemedy).substr(8), devices));
  }
  const auto device = mesh::resolve_device(options.device, end.local_rank());
  if (!device) return base::failure(device.error());
  return mesh::measure_costs(end, *device);
}

}  // namespace goban::train::trainer
