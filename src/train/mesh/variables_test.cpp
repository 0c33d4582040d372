#include "train/mesh/variables.hpp"

#include <gmock/gmock.h>

#include "train/comm/thread_world.hpp"
#include "train/mesh/layers.hpp"

namespace goban::train::mesh {
namespace {

/// Copies of two parameters on 2 x 2 devices, "w" split over x, after `change` on each rank.
std::optional<UnequalCopies> unequal(const std::function<void(Variables&, int rank)>& change) {
  std::optional<UnequalCopies> out;
  const auto status = comm::run_threads(4, {}, [&](comm::Communicator& end) -> base::Status {
    Graph g;
    Layers layers(g, DType::F32);
    (void)layers.parameter("v", {{"b", 3}}, {Initializer::Kind::Normal, 1});
    (void)layers.parameter("w", {{"a", 4}, {"b", 3}}, {Initializer::Kind::Normal, 1});
    Variables variables(g, *MeshShape::parse("x:2;y:2"), *LayoutRules::parse("a:x"), end);
    variables.initialize(3);
    change(variables, end.rank());
    const auto found = variables.unequal_copies();
    if (!found) return base::failure(found.error());
    if (end.rank() == 2) out = *found;
    return {};
  });
  EXPECT_TRUE(status) << status.error().text();
  return out;
}

TEST(VariablesOfRanks, CopiesThatDifferAreNamedAndPartsAreNoCopies) {
  EXPECT_FALSE(unequal([](Variables&, int) {}));  // slices of w differ along x
  const auto whole = unequal([](Variables& v, int rank) {
    if (rank == 3) v.slice(0)[1] += 0.5;
  });
  ASSERT_TRUE(whole);
  EXPECT_EQ(whole->name, "v");
  EXPECT_EQ(whole->rank, 0);
  EXPECT_EQ(whole->other, 3);
  const auto part = unequal([](Variables& v, int rank) {
    if (rank == 3) v.slice(1)[0][0] += 0.5;
  });
  ASSERT_TRUE(part);
  EXPECT_EQ(part->name, "w");
  EXPECT_EQ(part->rank, 2);  // ranks 0 and 1 have the other half
  EXPECT_EQ(part->other, 3);
}

TEST(VariablesOfRanks, RoundingIsNoDifference) {
  EXPECT_FALSE(unequal([](Variables& v, int rank) {
    if (rank == 3) v.slice(0).mul_(1 + 1e-6);
  }));
}

}  // namespace
}  // namespace goban::train::mesh
