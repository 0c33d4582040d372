#include "train/mesh/test_layouts.hpp"

#include <ATen/ops/abs.h>
#include <ATen/ops/add.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/sub.h>
#include <fmt/format.h>

#include "base/number.hpp"
#include "train/comm/thread_world.hpp"
#include "train/mesh/kernels.hpp"
#include "train/mesh/legality.hpp"

namespace goban::train::mesh {

std::vector<LayoutCase> legal_layouts(const Builder& build, const std::string& mesh_text) {
  Graph graph;
  std::vector<NodeId> roots;
  for (const Tensor& fetch : build(graph)) roots.push_back(fetch.id());
  for (const Assignment& each : graph.assignments()) roots.push_back(each.value);
  const std::vector<NodeId> nodes = needed_nodes(graph, roots);
  const MeshShape mesh = *MeshShape::parse(mesh_text);
  const std::vector<std::string> names = dimension_names(graph, nodes);
  std::vector<LayoutCase> out;
  const std::function<void(size_t, LayoutRules)> extend = [&](size_t at, LayoutRules rules) {
    if (!is_legal(graph, nodes, mesh, rules)) return;  // further rules cannot make it legal
    if (at == names.size()) {
      out.push_back({mesh_text, rules.text()});
      return;
    }
    extend(at + 1, rules);
    for (const Dim& axis : mesh.axes()) {
      LayoutRules more = rules;
      more.rules.emplace_back(names[at], axis.name);
      extend(at + 1, more);
    }
  };
  extend(0, {});
  return out;
}

Feeds make_feeds(const Graph& graph, uint64_t seed) {
  Feeds feeds;
  for (size_t i = 0; i < graph.size(); ++i) {
    const Node& node = graph.node(static_cast<NodeId>(i));
    if (node.op != Op::Input) continue;
    std::vector<int64_t> sizes, begin(node.shape.rank(), 0);
    for (const Dim& dim : node.shape.dims()) sizes.push_back(dim.size);
    const at::Tensor draw =
        random_slice(Distribution::Uniform, mix_seed(seed, node.name), node.shape, begin, sizes);
    if (node.dtype == DType::I64) {
      const auto bound = base::parse_int(node.name.substr(node.name.rfind('_') + 1));
      feeds[node.name] = draw.mul(bound.value_or(10)).floor().to(at::kLong);
    } else {
      feeds[node.name] = draw.mul(2).sub(1).to(scalar_type(node.dtype));
    }
  }
  return feeds;
}

base::Result<std::vector<at::Tensor>> run_rank(const Builder& build, const LayoutCase& layout,
                                               const RunOptions& options, comm::Communicator& end) {
  Graph graph;
  const std::vector<Tensor> fetches = build(graph);
  auto mesh = MeshShape::parse(layout.mesh);
  if (!mesh) return base::failure(mesh.error());
  auto rules = LayoutRules::parse(layout.layout);
  if (!rules) return base::failure(rules.error());
  Variables variables(graph, *mesh, *rules, end, options.device);
  variables.initialize(options.seed);
  auto program = Program::create(variables, {fetches, options.update, options.micro_batches});
  if (!program) return base::failure(program.error());
  std::vector<at::Tensor> out;
  for (int step = 0; step < options.steps; ++step) {
    std::vector<Feeds> feeds;
    for (int i = 0; i < options.micro_batches; ++i) {
      feeds.push_back(make_feeds(graph, options.seed + static_cast<uint64_t>(step * 100 + i)));
    }
    auto values = (*program)->run(feeds, static_cast<uint64_t>(step));
    if (!values) return values;
    out = std::move(*values);
  }
  // Fetches scalars in one more step, in which nothing is gathered: the bytes sent must equal the
  // prediction.
  std::vector<Tensor> scalars;
  for (const Tensor& fetch : fetches) {
    const Tensor shared = fetch.dtype() == DType::I64 ? cast(fetch, DType::F32) : fetch;
    scalars.push_back(options.micro_batches == 1 ? reduce_sum(shared, {}) : fetch);
  }
  if (options.micro_batches > 1) return out;
  auto measured = Program::create(variables, {scalars, options.update, 1});
  if (!measured) return base::failure(measured.error());
  const int64_t before = end.traffic().total_bytes();
  if (auto s = (*measured)->run({make_feeds(graph, options.seed)}, 0); !s) return s;
  const int64_t predicted = (*measured)->plan().totals.sent_bytes;
  const int64_t sent = end.traffic().total_bytes() - before;
  if (sent != predicted) {
    return base::failed(fmt::format("{} bytes sent, {} predicted", sent, predicted));
  }
  return out;
}

base::Result<std::vector<at::Tensor>> run_on_threads(const Builder& build, const LayoutCase& layout,
                                                     const RunOptions& options) {
  auto mesh = MeshShape::parse(layout.mesh);
  if (!mesh) return base::failure(mesh.error());
  const auto ranks = static_cast<size_t>(mesh->devices());
  std::vector<std::vector<at::Tensor>> all(ranks);
  comm::Options comm_options;
  comm_options.timeout_s = 60;
  comm_options.fixed_order = options.fixed_order;
  const auto status = comm::run_threads(static_cast<int>(ranks), comm_options,
                                        [&](comm::Communicator& end) -> base::Status {
                                          auto got = run_rank(build, layout, options, end);
                                          if (!got) return base::failure(got.error());
                                          all[static_cast<size_t>(end.rank())] = std::move(*got);
                                          return {};
                                        });
  if (!status) return base::failure(status.error());
  for (size_t rank = 1; rank < ranks; ++rank) {
    for (size_t i = 0; i < all[0].size(); ++i) {
      if (at::equal(all[0][i], all[rank][i])) continue;
      return base::failed(fmt::format("value {} differs between rank 0 and rank {}", i, rank));
    }
  }
  return all[0];
}

std::string difference(const std::vector<at::Tensor>& got, const std::vector<at::Tensor>& wanted,
                       double tolerance) {
  if (got.size() != wanted.size()) return "another number of values";
  for (size_t i = 0; i < got.size(); ++i) {
    if (got[i].sizes() != wanted[i].sizes()) return fmt::format("value {} has other sizes", i);
    const at::Tensor a = got[i].to(at::kDouble), b = wanted[i].to(at::kDouble);
    if (a.numel() == 0) continue;
    const at::Tensor excess =
        at::sub(at::abs(at::sub(a, b)), at::add(at::abs(b), 1).mul(tolerance));
    const double worst = excess.max().item<double>();
    if (!(worst <= 0)) {
      return fmt::format("value {} differs by {:.3g} beyond the tolerance", i, worst);
    }
  }
  return {};
}

std::vector<Tensor> with_gradients(Tensor y, const std::vector<Tensor>& xs) {
  std::vector<Tensor> out = {y};
  if (xs.empty()) return out;
  const Tensor weights = random(y.graph(), y.shape(), Distribution::Uniform, 7, y.dtype());
  const Tensor loss = reduce_sum(y * stop_gradient(weights), {});
  for (const Tensor& gradient : gradients(loss, xs)) out.push_back(gradient);
  return out;
}

}  // namespace goban::train::mesh
