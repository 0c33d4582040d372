#include <gtest/gtest.h>

#include "train/mesh/test_layouts.hpp"

namespace goban::train::mesh {
namespace {

TEST(RandomGraphs, EveryLegalLayoutGivesTheUnsplitResultAndGradients) {
  size_t split_runs = 0;
  for (uint64_t seed = 1; seed <= 60; ++seed) {
    const Builder build = [seed](Graph& g) { return random_graph(g, seed); };
    const auto whole = run_on_threads(build, {"", ""});
    ASSERT_TRUE(whole) << "seed " << seed << ": " << whole.error().text();
    for (const char* mesh : {"x:1", "x:2", "x:4", "x:2;y:2"}) {
      for (const LayoutCase& layout : legal_layouts(build, mesh)) {
        const auto split = run_on_threads(build, layout);
        ASSERT_TRUE(split) << "seed " << seed << ", " << mesh << " \"" << layout.layout
                           << "\": " << split.error().text();
        EXPECT_EQ(difference(*split, *whole, 1e-4), "")
            << "seed " << seed << ", " << mesh << " \"" << layout.layout << '"';
        split_runs += layout.layout.empty() ? 0 : 1;
      }
    }
  }
  EXPECT_GT(split_runs, 300U);
}

}  // namespace
}  // namespace goban::train::mesh
