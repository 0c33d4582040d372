#include "core/model/import/alibaba_nodes.hpp"

#include <array>
#include <fmt/format.h>

#include "base/csv.hpp"
#include "base/number.hpp"
#include "core/model/cluster_file.hpp"

namespace goban::core::model {
namespace {

using base::Result;

constexpr std::array<const char*, 4> kColumns = {"gpu_model", "gpu_capacity_num", "cpu_num",
                                                 "node_name"};
enum Column : size_t { kModel, kGpus, kCores, kName };

}  // namespace

Result<SiteNodes> parse_alibaba_nodes(std::string_view text, const std::string& file) {
  base::CsvReader csv(text, file);
  std::array<size_t, kColumns.size()> at{};
  for (size_t i = 0; i < kColumns.size(); ++i) {
    const auto column = csv.require(kColumns[i]);
    if (!column) return base::failure(column.error());
    at[i] = *column;
  }
  SiteNodes site;
  while (csv.next()) {
    const auto whole = [&](Column column, int64_t most) -> Result<int64_t> {
      const std::string_view field = csv.field(at[column]);
      const auto value = base::parse_int(field);
      if (value && *value >= 0 && *value <= most) return *value;
      return base::bad_data(csv.place(at[column]),
                            fmt::format("'{}' is not a whole number", field.substr(0, 40)),
                            fmt::format("give 0 to {}", most));
    };
    constexpr int64_t kCoresMax = 1'000'000;
    const auto gpus = whole(kGpus, kNodeGpusMax);
    if (!gpus) return base::failure(gpus.error());
    const auto cores = whole(kCores, kCoresMax);
    if (!cores) return base::failure(cores.error());
    SiteNode node;
    node.name = csv.field(at[kName]);
    node.num_gpus = *gpus;
    node.gpu_model = csv.field(at[kModel]);
    node.host.cores = static_cast<int32_t>(*cores);
    node.place = csv.place(at[kName]);
    site.nodes.push_back(std::move(node));
  }
  if (auto status = csv.status(); !status) return base::failure(status.error());
  if (site.nodes.empty()) {
    return base::bad_data({file, 1, 0, {}}, "contains no nodes", "give node_info_df.csv");
  }
  return site;
}

}  // namespace goban::core::model
