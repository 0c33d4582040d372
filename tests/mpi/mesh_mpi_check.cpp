// Runs under mpirun: every operation and random graphs under every legal layout of a mesh (or every
// n-th of them), on real processes. Results are compared with the unsplit run of the same process
// (exactly where no sum is formed between devices). With --fixed-order they must also have the bits
// of the same layout on threads. Arguments: mesh [n [--fixed-order]].
#include <ATen/Parallel.h>
#include <ATen/ops/equal.h>
#include <fmt/format.h>

#include "train/comm/mpi_world.hpp"
#include "train/mesh/test_exact_layouts.hpp"
#include "train/mesh/test_layouts.hpp"

namespace {

using namespace goban;

constexpr uint64_t kRandomGraphs = 60;

base::Status check(goban::train::comm::Communicator& end, const std::string& mesh, size_t stride) {
  size_t runs = 0, seen = 0, exact = 0;
  auto cases = goban::train::mesh::operation_cases(goban::train::mesh::DType::F32);
  for (uint64_t seed = 1; seed <= kRandomGraphs; ++seed) {
    cases.emplace_back(fmt::format("random graph {}", seed),
                       [seed](goban::train::mesh::Graph& graph) {
                         return goban::train::mesh::random_graph(graph, seed);
                       });
  }
  for (const auto& [name, build] : cases) {
    const auto whole = goban::train::mesh::run_on_threads(build, {"", ""});
    if (!whole) return base::failure(whole.error());
    for (const goban::train::mesh::LayoutCase& layout :
         goban::train::mesh::legal_layouts(build, mesh)) {
      if (seen++ % stride != 0) continue;
      const auto split = goban::train::mesh::run_rank(build, layout, {}, end);
      if (!split) return base::failure(split.error());
      const std::string wrong = goban::train::mesh::difference(
          *split, *whole, name.starts_with("random graph") ? 1e-4 : 2e-5);
      if (!wrong.empty()) {
        return base::failed(fmt::format("{} under \"{}\": {}", name, layout.layout, wrong));
      }
      if (same_bits_expected(build, layout)) {
        if (!std::equal(split->begin(), split->end(), whole->begin(), at::equal)) {
          return base::failed(
              fmt::format("{} under \"{}\": other bits than unsplit", name, layout.layout));
        }
        ++exact;
      }
      if (end.options().fixed_order) {
        const auto threads = goban::train::mesh::run_on_threads(build, layout);
        if (!threads) return base::failure(threads.error());
        if (!std::equal(split->begin(), split->end(), threads->begin(), at::equal)) {
          return base::failed(
              fmt::format("{} under \"{}\": other bits than threads", name, layout.layout));
        }
      }
      ++runs;
    }
  }
  if (end.rank() == 0) {
    fmt::print("{} runs on mesh {} agree, {} of them to the bit\n", runs, mesh, exact);
  }
  return {};
}

}  // namespace

int main(int argc, char** argv) {
  at::set_num_threads(1);
  goban::train::comm::Options options;
  options.fixed_order = argc > 3 && std::string(argv[3]) == "--fixed-order";
  auto end = goban::train::comm::start_mpi(options);
  if (!end || argc < 2) return 1;
  const base::Status status = check(**end, argv[1], argc > 2 ? std::stoul(argv[2]) : 1);
  if (status) return 0;
  (*end)->abandon(status.error().text());
  return 1;
}
