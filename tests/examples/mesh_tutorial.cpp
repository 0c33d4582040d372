// The program of docs/mesh.md, "Write a model": an MLP on noise, on two ranks that are threads.
#include <ATen/ops/rand.h>
#include <ATen/ops/randint.h>
#include <fmt/format.h>

#include "comm/thread_world.hpp"
#include "mesh/gradient.hpp"
#include "mesh/optimizer.hpp"
#include "mesh/program.hpp"

using namespace goban;

namespace {

base::Status learn() {
  mesh::Graph g;
  mesh::Layers layers(g, mesh::DType::F32);  // type of activations; parameters stay fp32
  const mesh::Dim batch{"batch", 64}, in{"in", 784}, hidden{"hidden", 512}, out{"out", 10};
  const mesh::Tensor x = g.input("x", {batch, in});
  const mesh::Tensor t = g.input("label", {batch}, mesh::DType::I64);
  const mesh::Tensor h = relu(layers.dense("first", x, {"in"}, {hidden}));
  const mesh::Tensor y = layers.dense("second", h, {"hidden"}, {out});
  const mesh::Tensor loss = reduce_mean(cross_entropy(y, t, "out"), {});

  std::vector<mesh::Tensor> parameters;
  for (const mesh::Parameter& each : layers.parameters()) parameters.push_back(each.value);
  mesh::OptimizerOptions adam;
  adam.kind = mesh::OptimizerOptions::Kind::AdamW;
  adam.learning_rate = 1e-3;
  add_updates(g, layers.parameters(), gradients(loss, parameters), adam);

  const mesh::Feeds feeds = {{"x", at::rand({64, 784})},
                             {"label", at::randint(10, {64}, at::kLong)}};
  return comm::run_threads(2, {}, [&](comm::Communicator& end) -> base::Status {
    const auto mesh_shape = mesh::MeshShape::parse("x:2");
    const auto layout = mesh::LayoutRules::parse("batch:x");  // or "hidden:x"
    mesh::Variables variables(g, *mesh_shape, *layout, end);
    variables.initialize(/*seed=*/1);
    auto program = mesh::Program::create(variables, {{loss}, /*update=*/true});
    if (!program) return base::failure(program.error());  // such as an illegal layout
    for (uint64_t step = 0; step < 20; ++step) {
      const auto fetched = (*program)->run({feeds}, step);
      if (!fetched) return base::failure(fetched.error());
      if (end.rank() == 0) fmt::print("step {} loss {:.4f}\n", step, (*fetched)[0].item<double>());
    }
    return {};
  });
}

}  // namespace

int main() {
  const base::Status status = learn();
  if (!status) fmt::print(stderr, "{}\n", status.error().text());
  return status ? 0 : 1;
}
