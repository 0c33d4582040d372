#include "core/knowledge/binning.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

#include "base/check.hpp"
#include "core/knowledge/kmeans1d.hpp"
#include "core/knowledge/median.hpp"
#include "core/knowledge/silhouette.hpp"

namespace goban::core::knowledge {
namespace {

constexpr double kOutlierSds = 3;
constexpr size_t kK1Min = 2;
constexpr size_t kK1Max = 10;

std::vector<GpuId> find_outliers(const std::vector<double>& raw) {
  // Equal scores have no outliers; their deviation is zero except for rounding.
  if (std::ranges::min(raw) == std::ranges::max(raw)) return {};
  const auto count = static_cast<double>(raw.size());
  double mean = 0;
  for (const double score : raw) mean += score;
  mean /= count;
  double squares = 0;
  for (const double score : raw) squares += (score - mean) * (score - mean);
  const double fence = mean + kOutlierSds * std::sqrt(squares / (count - 1));
  std::vector<GpuId> outliers;
  for (size_t gpu = 0; gpu < raw.size(); ++gpu) {
    if (raw[gpu] > fence) outliers.emplace_back(gpu);
  }
  return outliers;
}

std::vector<double> without(const std::vector<double>& raw, std::span<const GpuId> ascending) {
  std::vector<double> rest;
  size_t next = 0;
  for (size_t gpu = 0; gpu < raw.size(); ++gpu) {
    if (next < ascending.size() && ascending[next].index() == gpu) {
      ++next;
    } else {
      rest.push_back(raw[gpu]);
    }
  }
  return rest;
}

// Sets K1 and its silhouette. One distinct value gives one cluster and no silhouette.
void choose_k1(const std::vector<double>& rest, Binning& binning) {
  const std::vector<Clusters1d> by_k = kmeans1d_up_to(rest, kK1Max);
  binning.k1 = 1;
  for (size_t k = kK1Min; k <= by_k.size(); ++k) {
    const double silhouette = mean_silhouette(rest, by_k[k - 1].cluster_of);
    if (k == kK1Min || silhouette > binning.silhouette) {
      binning.k1 = static_cast<uint32_t>(k);
      binning.silhouette = silhouette;
    }
  }
}

}  // namespace

base::Result<K1Rule> parse_k1_rule(std::string_view name) {
  if (name == "silhouette") return K1Rule::Silhouette;
  if (name == "artifact") return K1Rule::Artifact;
  return base::usage_error(fmt::format("unknown K1 rule '{}'", name),
                           "known: silhouette, artifact");
}

Binning bin_scores(std::vector<double> raw, const BinningOptions& options) {
  GOBAN_CHECK(!raw.empty());
  Binning binning;
  binning.outliers = find_outliers(raw);
  size_t k = 0;
  if (options.fixed_k) {
    k = std::max(*options.fixed_k, 1U);
  } else {
    if (options.k1_rule == K1Rule::Artifact) {
      binning.k1 = kK1Min;
    } else {
      choose_k1(without(raw, binning.outliers), binning);
    }
    k = binning.k1 + binning.outliers.size();
  }
  const Clusters1d clusters = kmeans1d(raw, std::min(k, Binning::kBinsMax));
  binning.inertia = clusters.inertia;
  const double middle = median(clusters.centroids);
  std::vector<double> bin_value_of_gpu;
  bin_value_of_gpu.reserve(raw.size());
  for (const uint32_t cluster : clusters.cluster_of) {
    bin_value_of_gpu.push_back(clusters.centroids[cluster] / middle);
  }
  binning.scores = class_from_values(std::move(raw), bin_value_of_gpu);
  return binning;
}

PmScores bin_classes(std::vector<std::vector<double>> raw_by_class, const BinningOptions& options) {
  std::vector<ClassScores> classes;
  for (std::vector<double>& raw : raw_by_class) {
    classes.push_back(bin_scores(std::move(raw), options).scores);
  }
  return PmScores(std::move(classes));
}

}  // namespace goban::core::knowledge
