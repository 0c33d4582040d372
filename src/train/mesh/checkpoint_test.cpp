#include "train/mesh/checkpoint.hpp"

#include <ATen/ops/equal.h>
#include <array>
#include <filesystem>
#include <gmock/gmock.h>
#include <map>
#include <unistd.h>

#include "train/comm/thread_world.hpp"
#include "train/mesh/layers.hpp"
#include "train/mesh/test_checkpoint.hpp"

namespace goban::train::mesh {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

/// Saves or loads a parameter of these types on a mesh; returns rank 0's complete value.
base::Result<at::Tensor> visit(const VariableTypes& types, const char* mesh, const char* layout,
                               const std::string& path, bool save, const Bookmark& bookmark = {}) {
  const MeshShape shape = *MeshShape::parse(mesh);
  at::Tensor out;
  const auto status = comm::run_threads(
      static_cast<int>(shape.devices()), {}, [&](comm::Communicator& end) -> base::Status {
        Graph g;
        Layers layers(g, types);
        (void)layers.parameter("w", {{"a", 4}, {"b", 6}}, {Initializer::Kind::Normal, 1});
        Variables variables(g, shape, *LayoutRules::parse(layout), end);
        if (save) {
          variables.initialize(3);
          if (auto s = save_checkpoint(path, variables, bookmark); !s) return s;
        } else if (auto loaded = load_checkpoint(path, variables); !loaded) {
          return base::failure(loaded.error());
        }
        const auto whole = variables.whole(0);
        if (!whole) return base::failure(whole.error());
        if (end.rank() == 0) out = *whole;
        return {};
      });
  if (!status) return base::failure(status.error());
  return out;
}

TEST(Checkpoint, MasterTypeIsThatOfTheFileAndSlicesThatOfTheDevices) {
  const std::string path =
      (fs::path(::testing::TempDir()) / ("goban_checkpoint_" + std::to_string(getpid()))).string();
  const VariableTypes mixed{DType::F32, DType::BF16, DType::BF16};
  const auto saved = visit(mixed, "x:2", "a:x", path, true);
  ASSERT_TRUE(saved) << saved.error().text();
  EXPECT_EQ(saved->scalar_type(), at::kBFloat16);
  const auto exact =
      visit({}, "x:2;y:3", "a:x;b:y", path, false);  // fp32 slices read the same file
  ASSERT_TRUE(exact) << exact.error().text();
  EXPECT_EQ(exact->scalar_type(), at::kFloat);
  EXPECT_TRUE(at::equal(*exact, saved->to(at::kFloat)));
  const auto again = visit(mixed, "", "", path, false);
  ASSERT_TRUE(again);
  EXPECT_TRUE(at::equal(*again, *saved));
  const auto other = visit({DType::F64, DType::F32, DType::F32}, "", "", path, false);
  ASSERT_FALSE(other);
  EXPECT_THAT(other.error().text(), HasSubstr("contains 'w fp32 4 6"));
  fs::remove(path);
}

TEST(Checkpoint, VariablesAreFoundByName) {
  const std::string path =
      (fs::path(::testing::TempDir()) / ("goban_names_" + std::to_string(getpid()))).string();
  // Saves or resumes variables of one shape, added in this order; returns their values by name.
  const auto visited = [&](const std::vector<std::string>& names, bool save) {
    std::map<std::string, at::Tensor> values;
    std::string problem;
    const auto status = comm::run_threads(1, {}, [&](comm::Communicator& end) -> base::Status {
      Graph g;
      Layers layers(g, DType::F32);
      for (const std::string& name : names) {
        (void)layers.parameter(name, {{"a", 4}}, {Initializer::Kind::Normal, 1});
      }
      Variables variables(g, *MeshShape::parse(""), {}, end);
      if (save) {
        variables.initialize(3);
        if (auto s = save_checkpoint(path, variables, {}); !s) return s;
      } else if (auto loaded = load_checkpoint(path, variables); !loaded) {
        return loaded;
      }
      for (size_t i = 0; i < names.size(); ++i)
        values[names[i]] = variables.slice(static_cast<VariableId>(i)).clone();
      return {};
    });
    if (!status) problem = status.error().text();
    return std::pair(values, problem);
  };
  const auto saved = visited({"v", "w"}, true).first;
  ASSERT_EQ(saved.size(), 2U);
  EXPECT_FALSE(at::equal(saved.at("v"), saved.at("w")));
  const auto [found, problem] = visited({"w", "v"}, false);
  ASSERT_EQ(found.size(), 2U) << problem;
  EXPECT_TRUE(at::equal(found.at("v"), saved.at("v")));
  EXPECT_TRUE(at::equal(found.at("w"), saved.at("w")));
  EXPECT_THAT(visited({"w", "u"}, false).second, HasSubstr("contains 'v fp32 4 "));
  fs::remove(path);
}

TEST(Checkpoint, RanksThatFindDifferentFilesRefuseThem) {
  const fs::path folder =
      fs::path(::testing::TempDir()) / ("goban_checkpoints_" + std::to_string(getpid()));
  fs::create_directories(folder);
  const std::string one = folder / "one", same = folder / "same", other = folder / "other";
  const auto value = visit({}, "", "", one, true);
  ASSERT_TRUE(value) << value.error().text();
  fs::copy_file(one, same);
  ASSERT_TRUE(visit({}, "", "", other, true, {{"step", "8"}}));
  fs::create_symlink("loop", folder / "loop");
  // Two ranks that read different paths; returns the error of each.
  const auto outcome = [&](const std::string& first, const std::string& second) {
    std::array<std::string, 2> told;
    const auto status = comm::run_threads(2, {}, [&](comm::Communicator& end) -> base::Status {
      Graph g;
      Layers layers(g, DType::F32);
      (void)layers.parameter("w", {{"a", 4}, {"b", 6}}, {});
      Variables variables(g, *MeshShape::parse("x:2"), {}, end);
      const auto rank = static_cast<size_t>(end.rank());
      const auto found = resume_checkpoint(rank == 0 ? first : second, variables);
      told[rank] = !found ? found.error().text() : *found ? "resumed" : "none";
      if (found) return {};
      EXPECT_EQ(variables.slice(0).abs().sum().item<double>(), 0);  // unchanged
      return {};
    });
    EXPECT_TRUE(status) << status.error().text();
    return told;
  };
  const std::string none = folder / "none", loop = folder / "loop";
  EXPECT_THAT(outcome(one, same), ::testing::Each("resumed"));
  EXPECT_THAT(outcome(none, none), ::testing::Each("none"));
  EXPECT_THAT(outcome(one, other), ::testing::Each(HasSubstr("not the same checkpoint")));
  EXPECT_THAT(outcome(none, one),
              ::testing::Each(HasSubstr("rank 0 finds no file, rank 1 reads checksum")));
  EXPECT_THAT(outcome(one, none), ::testing::Each(HasSubstr("rank 1 finds no file")));
  const auto unreadable = outcome(one, loop);
  EXPECT_THAT(unreadable[0], HasSubstr("rank 1 could not read"));
  EXPECT_THAT(unreadable[1], HasSubstr("cannot open checkpoint"));
  EXPECT_THAT(unreadable[1], HasSubstr("symbolic links"));
  fs::remove_all(folder);
}

}  // namespace
}  // namespace goban::train::mesh
