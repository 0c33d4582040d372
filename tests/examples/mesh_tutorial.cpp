// The program of docs/mesh.md, "Write a model": an MLP on noise, on two ranks that are threads.
#include <ATen/ops/rand.h>
#include <ATen/ops/randint.h>
#include <fmt/format.h>

#include "train/comm/thread_world.hpp"
#include "train/mesh/gradient.hpp"
#include "train/mesh/optimizer.hpp"
#include "train/mesh/program.hpp"

using namespace goban;

namespace {

base::Status learn() {
  goban::train::mesh::Graph g;
  goban::train::mesh::Layers layers(
      g, goban::train::mesh::DType::F32);  // type of activations; parameters stay fp32
  const goban::train::mesh::Dim batch{"batch", 64}, in{"in", 784}, hidden{"hidden", 512},
      out{"out", 10};
  const goban::train::mesh::Tensor x = g.input("x", {batch, in});
  const goban::train::mesh::Tensor t = g.input("label", {batch}, goban::train::mesh::DType::I64);
  const goban::train::mesh::Tensor h = relu(layers.dense("first", x, {"in"}, {hidden}));
  const goban::train::mesh::Tensor y = layers.dense("second", h, {"hidden"}, {out});
  const goban::train::mesh::Tensor loss = reduce_mean(cross_entropy(y, t, "out"), {});

  std::vector<goban::train::mesh::Tensor> parameters;
  for (const goban::train::mesh::Parameter& each : layers.parameters())
    parameters.push_back(each.value);
  goban::train::mesh::OptimizerOptions adam;
  adam.kind = goban::train::mesh::OptimizerOptions::Kind::AdamW;
  adam.learning_rate = 1e-3;
  add_updates(g, layers.parameters(), gradients(loss, parameters), adam);

  const goban::train::mesh::Feeds feeds = {{"x", at::rand({64, 784})},
                                           {"label", at::randint(10, {64}, at::kLong)}};
  return goban::train::comm::run_threads(
      2, {}, [&](goban::train::comm::Communicator& end) -> base::Status {
        const auto mesh_shape = goban::train::mesh::MeshShape::parse("x:2");
        const auto layout = goban::train::mesh::LayoutRules::parse("batch:x");  // or "hidden:x"
        goban::train::mesh::Variables variables(g, *mesh_shape, *layout, end);
        variables.initialize(/*seed=*/1);
        auto program = goban::train::mesh::Program::create(variables, {{loss}, /*update=*/true});
        if (!program) return base::failure(program.error());  // such as an illegal layout
        for (uint64_t step = 0; step < 20; ++step) {
          const auto fetched = (*program)->run({feeds}, step);
          if (!fetched) return base::failure(fetched.error());
          if (end.rank() == 0)
            fmt::print("step {} loss {:.4f}\n", step, (*fetched)[0].item<double>());
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
