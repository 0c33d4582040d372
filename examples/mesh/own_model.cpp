// A model of ten lines on a mesh, written against the installed library. It learns which of two
// halves of a row has the larger sum. Ranks are threads, or processes under mpirun.
#include <ATen/ATen.h>
#include <ATen/CPUGeneratorImpl.h>
#include <cstdio>
#include <string>
#include <train/comm/launcher.hpp>
#include <train/comm/mpi_world.hpp>
#include <train/comm/thread_world.hpp>
#include <train/mesh/gradient.hpp>
#include <train/mesh/optimizer.hpp>
#include <train/mesh/program.hpp>

using namespace goban::train;

namespace {

/// The work of one rank; every rank makes the same call.
goban::base::Status learn(comm::Communicator& end) {
  mesh::Graph g;
  mesh::Layers layers(g, mesh::DType::F32);
  const mesh::Dim batch{"batch", 256}, in{"in", 32}, hidden{"hidden", 64}, out{"out", 2};
  const mesh::Tensor x = g.input("x", {batch, in});
  const mesh::Tensor label = g.input("label", {batch}, mesh::DType::I64);
  const mesh::Tensor h = relu(layers.dense("first", x, {"in"}, {hidden}));
  const mesh::Tensor y = layers.dense("second", h, {"hidden"}, {out});
  const mesh::Tensor loss = reduce_mean(cross_entropy(y, label, "out"), {});
  std::vector<mesh::Tensor> parameters;
  for (const mesh::Parameter& each : layers.parameters()) parameters.push_back(each.value);
  add_updates(g, layers.parameters(), gradients(loss, parameters), {});

  const auto devices = mesh::MeshShape::parse("x:" + std::to_string(end.size()));
  const auto layout = mesh::LayoutRules::parse("batch:x");  // or "hidden:x"
  mesh::Variables variables(g, *devices, *layout, end);
  variables.initialize(/*seed=*/1);
  auto program = mesh::Program::create(variables, {{loss}, /*update=*/true});
  if (!program) return goban::base::failure(program.error());
  // Every rank receives the same whole batch and takes its slice.
  at::Generator random = at::detail::createCPUGenerator(1);
  for (uint64_t step = 0; step <= 200; ++step) {
    const at::Tensor rows = at::rand({256, 32}, random);
    const at::Tensor sums = rows.view({256, 2, 16}).sum(2);
    const auto fetched = (*program)->run({{{"x", rows}, {"label", sums.argmax(1)}}}, step);
    if (!fetched) return goban::base::failure(fetched.error());
    if (end.rank() == 0 && step % 50 == 0) {
      std::printf("%d ranks, step %d, loss %.3f\n", end.size(), static_cast<int>(step),
                  (*fetched)[0].item<double>());
    }
  }
  return {};
}

}  // namespace

int main() {
  goban::base::Status status;
  if (comm::launched_by_mpi()) {
    auto end = comm::start_mpi({});
    status = end ? learn(**end) : goban::base::Status(goban::base::failure(end.error()));
    if (!status && end) (*end)->abandon(status.error().text());
  } else {
    status = comm::run_threads(2, {}, learn);
  }
  if (!status) std::fprintf(stderr, "%s\n", status.error().text().c_str());
  return status ? 0 : 1;
}
