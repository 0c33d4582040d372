#include "train/mesh/functions.hpp"

#include <ATen/TensorOperators.h>
#include <ATen/ops/allclose.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>
#include <gmock/gmock.h>

#include "train/mesh/legality.hpp"
#include "train/mesh/test_layouts.hpp"

namespace goban::train::mesh {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

const Dim kA{"a", 4}, kB{"b", 6};

Tensor counted_to(const std::vector<Tensor>& s, double end) {
  return less(s[0], fill(s[0].graph(), {}, end, s[0].dtype()));
}

TEST(Slicewise, OnlyDeclaredDimensionsAreSplit) {
  const auto kernel = [](const std::vector<at::Tensor>& s) { return s[0] * 2; };
  Graph g;
  const Tensor x = g.input("x", {kA, kB});
  const Tensor y = slicewise({x}, {kA, kB}, DType::F32, {"twice", {"a"}, kernel, {}});
  const MeshShape mesh = *MeshShape::parse("m:2");
  EXPECT_TRUE(is_legal(g, needed_nodes(g, {y.id()}), mesh, *LayoutRules::parse("a:m")));
  const auto refused = lower(g, {y.id()}, mesh, *LayoutRules::parse("b:m"), 0);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().text(),
              HasSubstr("operation 'twice' (slicewise) requires dimension 'b' "
                        "unsplit on every device (it was not declared"));
  EXPECT_THROW((void)slicewise({x}, {kB}, DType::F32, {"lost", {"a"}, kernel, {}}), GraphError);
  EXPECT_THROW((void)slicewise({x}, {kA}, DType::F32, {"new", {"c"}, kernel, {}}), GraphError);
}

TEST(Slicewise, AKernelOfTheWrongShapeOrTypeIsNamed) {
  for (const bool shape : {true, false}) {
    const auto wrong = [shape](Graph& g) {
      const Tensor x = g.input("x", {kA, kB});
      return std::vector<Tensor>{slicewise(
          {x}, {kA, kB}, DType::F32,
          {"odd",
           {"a"},
           [shape](const auto& s) { return shape ? s[0].narrow(1, 0, 3) : s[0].to(at::kDouble); },
           {}})};
    };
    const auto result = run_on_threads(wrong, {"m:2", "a:m"});
    ASSERT_FALSE(result);
    EXPECT_THAT(result.error().text(), HasSubstr("operation 'odd': the kernel returned"));
  }
}

TEST(CustomGradient, ReplacesTheGradientAndNothingElse) {
  const auto build = [](bool clipped) {
    return [clipped](Graph& g) {
      const Tensor x = g.input("x", {kA, kB});
      Tensor y = x * 3.0;
      if (clipped) {
        y = custom_gradient({x}, y, [](const std::vector<Tensor>&, Tensor, Tensor dy) {
          return std::vector<Tensor>{dy * 0.5};
        });
      }
      return with_gradients(y, {x});
    };
  };
  const auto plain = run_on_threads(build(false), {"", ""});
  const auto own = run_on_threads(build(true), {"m:2", "b:m"});
  ASSERT_TRUE(plain && own);
  EXPECT_TRUE(at::equal((*plain)[0], (*own)[0]));
  EXPECT_TRUE(at::allclose((*plain)[1] / 6, (*own)[1]));
}

TEST(CustomGradient, GradientsThatDoNotFitAreRefused) {
  Graph g;
  const Tensor x = g.input("x", {kA, kB});
  const auto with = [&](const GradientFunction& gradient) {
    const Tensor y = custom_gradient({x}, relu(x), gradient);
    return gradients(reduce_sum(y, {}), {x});
  };
  EXPECT_THROW((void)with([](const auto&, Tensor, Tensor) { return std::vector<Tensor>{}; }),
               GraphError);
  EXPECT_THROW((void)with([](const auto&, Tensor, Tensor dy) {
                 return std::vector<Tensor>{reduce_sum(dy, {kA})};
               }),
               GraphError);
}

TEST(While, TakesAsManyTurnsAsTheDataSay) {
  // Newton's square root of 2 to the last bit of a double, and the number of iterations.
  const auto root = [](Graph& g) {
    const auto last = while_loop(
        {fill(g, {}, 1, DType::F64), fill(g, {}, 0, DType::I64)},
        [](const std::vector<Tensor>& s) {
          return greater(unary(Unary::Abs, square(s[0]) - 2.0),
                         fill(s[0].graph(), {}, 1e-12, DType::F64));
        },
        [](const std::vector<Tensor>& s) {
          return std::vector<Tensor>{s[0] * 0.5 + reciprocal(s[0]), s[1] + 1};
        },
        5);
    return std::vector<Tensor>{last[0], last[1]};
  };
  const auto got = run_on_threads(root, {"m:2", ""});
  ASSERT_TRUE(got) << got.error().text();
  EXPECT_NEAR((*got)[0].item<double>(), 1.4142135623730951, 1e-12);
  EXPECT_EQ((*got)[1].item<int64_t>(), 5);
}

TEST(While, RandomNumbersDifferBetweenTurns) {
  const auto sum = [](Graph& g) {
    const auto last = while_loop(
        {fill(g, {}, 0), fill(g, {kA}, 0), fill(g, {kA}, 0)},
        [](const std::vector<Tensor>& s) { return counted_to(s, 2); },
        [](const std::vector<Tensor>& s) {
          const Tensor draw = random(s[0].graph(), {kA}, Distribution::Uniform, 5);
          return std::vector<Tensor>{s[0] + 1.0, draw, s[1]};
        },
        2);
    return std::vector<Tensor>{last[1], last[2]};
  };
  const auto got = run_on_threads(sum, {"m:2", "a:m"});
  ASSERT_TRUE(got) << got.error().text();
  EXPECT_FALSE(at::equal((*got)[0], (*got)[1]));
  EXPECT_TRUE((*got)[1].gt(0).all().item<bool>());
}

TEST(While, OneThatDrawsDiffersBetweenMicroBatches) {
  Graph g;
  const auto count = [](const std::vector<Tensor>& s) { return counted_to(s, 2); };
  const auto body = [](bool random_too) {
    return [random_too](const std::vector<Tensor>& s) {
      Tensor next = s[1] + 1.0;
      if (random_too) next = random(s[0].graph(), {kA}, Distribution::Uniform, 5);
      return std::vector<Tensor>{s[0] + 1.0, next};
    };
  };
  for (const bool random_too : {false, true}) {
    const auto last = while_loop({fill(g, {}, 0), fill(g, {kA}, 0)}, count, body(random_too));
    const Tensor sum = accumulate(last[1]);
    const Tensor outside = relu(last[1]);
    const auto plan = lower(g, {sum.id(), outside.id()}, {}, {}, 0, 2);
    EXPECT_EQ(plan.has_value(), !random_too);
  }
}

TEST(While, WhatDoesNotFitIsRefusedWhileBuilding) {
  Graph g;
  const Tensor n = fill(g, {}, 0), x = g.input("x", {kA});
  const auto going = [](const std::vector<Tensor>& s) { return counted_to(s, 2); };
  const auto same = [](const std::vector<Tensor>& s) { return s; };
  EXPECT_THROW((void)while_loop({x}, [](const auto& s) { return s[0]; }, same), GraphError);
  EXPECT_THROW((void)while_loop({n}, going, [&](const auto&) { return std::vector<Tensor>{x}; }),
               GraphError);
  EXPECT_THROW((void)while_loop({n, x}, going,
                                [](const auto& s) { return std::vector<Tensor>{s[0], s[0]}; }),
               GraphError);
}

TEST(While, AGradientThroughItIsRefusedWithItsNameAndARemedy) {
  Graph g;
  const Tensor x = g.input("x", {kA}), y = g.input("y", {kA});
  Graph::Scope scope(g, "encoder");
  const auto last = while_loop(
      {fill(g, {}, 0), x}, [](const std::vector<Tensor>& s) { return counted_to(s, 2); },
      [](const std::vector<Tensor>& s) { return std::vector<Tensor>{s[0] + 1.0, s[1] * 2.0}; });
  try {
    (void)gradients(reduce_sum(last[1] * y, {}), {x});
    ADD_FAILURE() << "no error";
  } catch (const GraphError& error) {
    EXPECT_THAT(error.what(),
                AllOf(HasSubstr("operation 'encoder/while' (while) has no gradient"),
                      HasSubstr("write a fixed number of iterations as a loop in C++"),
                      HasSubstr("custom_gradient()"), HasSubstr("stop_gradient()")));
  }
  // Values that do not pass through the loop have a gradient, and so have stopped and custom
  // gradients.
  EXPECT_NO_THROW((void)gradients(reduce_sum(last[1] * y, {}), {y}));
  EXPECT_NO_THROW((void)gradients(reduce_sum(stop_gradient(last[1]) * x, {}), {x}));
  const Tensor by_hand = custom_gradient(
      {x}, last[1], [](const auto&, Tensor, Tensor dz) { return std::vector<Tensor>{dz * 4.0}; });
  EXPECT_NO_THROW((void)gradients(reduce_sum(by_hand, {}), {x}));
}

TEST(While, ItsInsideIsCheckedAndExplained) {
  Graph g;
  const Tensor x = g.input("x", {kA, kB});
  const auto last = while_loop(
      {fill(g, {}, 0), x}, [](const std::vector<Tensor>& s) { return counted_to(s, 4); },
      [](const std::vector<Tensor>& s) {
        const Tensor total = reduce_sum(s[1], {kB});
        return std::vector<Tensor>{s[0] + 1.0,
                                   s[1] + pad(slice(relu(total), "b", 0, 4), "b", 0, 2)};
      },
      4);
  const MeshShape mesh = *MeshShape::parse("m:2");
  const auto refused = lower(g, {last[1].id()}, mesh, *LayoutRules::parse("b:m"), 0);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().text(),
              AllOf(HasSubstr("requires dimension 'b' unsplit"), HasSubstr("in the loop 'while'")));
  const auto plan = lower(g, {last[1].id()}, mesh, *LayoutRules::parse("a:m"), 0);
  ASSERT_TRUE(plan) << plan.error().text();
  EXPECT_EQ(plan->totals.collectives, 4);
  EXPECT_EQ(plan->totals.sent_bytes,
            4 * 6 * 4);  // each iteration all-reduces 6 floats on 2 devices
  EXPECT_THAT(explain(g, *plan), AllOf(HasSubstr("each of 4 expected iterations"),
                                       HasSubstr("all-reduce over m, 24 bytes")));
}

/// Accumulators that sum over split dimensions, like gradients, in each of `turns` iterations, in
/// addition to states.
std::vector<Tensor> sums_in_a_loop(Graph& g, double turns) {
  const Tensor x = g.input("x", {kA, kB}, DType::F64), w = g.input("w", {kB}, DType::F64);
  const auto last = while_loop(
      {fill(g, {}, 0, DType::F64), x, w},
      [=](const std::vector<Tensor>& s) {
        return less(s[0], fill(s[0].graph(), {}, turns, DType::F64));
      },
      [](const std::vector<Tensor>& s) {
        const Tensor y = s[1] * 0.5 + s[0];
        return std::vector<Tensor>{
            s[0] + 1.0,          y, s[2], einsum({y, s[2]}, {kA}), reduce_sum(square(y), {kB}),
            reduce_sum(s[1], {})};
      },
      static_cast<int64_t>(turns), 3);
  return {last[1], last[3], last[4], last[5]};
}

TEST(While, AccumulatorsAreSummedUnderEveryLayout) {
  for (const double turns : {0.0, 1.0, 2.0, 5.0}) {
    const auto build = [=](Graph& g) { return sums_in_a_loop(g, turns); };
    const auto whole = run_on_threads(build, {"", ""});
    ASSERT_TRUE(whole) << whole.error().text();
    at::Tensor x, w;
    {
      Graph g;
      (void)build(g);
      Feeds feeds = make_feeds(g, 1);
      x = feeds["x"];
      w = feeds["w"];
    }
    at::Tensor products = at::zeros({4}, at::kDouble), squares = at::zeros({6}, at::kDouble),
               all = at::zeros({}, at::kDouble);
    for (int turn = 0; turn < static_cast<int>(turns); ++turn) {
      all = all + x.sum();
      x = x * 0.5 + turn;
      products = products + at::matmul(x, w);
      squares = squares + x.square().sum(0);
    }
    EXPECT_EQ(difference(*whole, {x, products, squares, all}, 1e-12), "") << turns << " turns";
    size_t layouts = 0;
    for (const char* mesh : {"x:1", "x:2", "x:2;y:2"}) {
      for (const LayoutCase& layout : legal_layouts(build, mesh)) {
        const auto split = run_on_threads(build, layout);
        ASSERT_TRUE(split) << layout.layout << ": " << split.error().text();
        EXPECT_EQ(difference(*split, *whole, 1e-12), "")
            << turns << " turns on " << mesh << " under \"" << layout.layout << '"';
        ++layouts;
      }
    }
    EXPECT_GE(layouts, 10U);
  }
}

TEST(While, AccumulatorsCommunicateOnceAfterTheLoop) {
  Graph g;
  const std::vector<Tensor> last = sums_in_a_loop(g, 5);
  const MeshShape mesh = *MeshShape::parse("m:2");
  const auto plan = [&](const char* layout) {
    return *lower(g, {last[1].id(), last[2].id(), last[3].id()}, mesh, *LayoutRules::parse(layout),
                  0);
  };
  // 4 doubles over b and 1 over both, in one message of 5: as much as for a single iteration.
  EXPECT_EQ(plan("b:m").totals.sent_bytes, 5 * 8);
  EXPECT_EQ(plan("b:m").totals.collectives, 1);
  EXPECT_EQ(plan("a:m").totals.sent_bytes, 7 * 8);
  EXPECT_EQ(plan("a:m").totals.collectives, 1);
  EXPECT_THAT(explain(g, plan("b:m")), HasSubstr("sum over m left pending"));
  // Sums that go into a state are formed at each iteration.
  const Tensor x = g.input("z", {kA, kB}, DType::F64);
  const auto states = while_loop(
      {fill(g, {}, 0), x, fill(g, {kA}, 0, DType::F64)},
      [](const std::vector<Tensor>& s) { return counted_to(s, 5); },
      [](const std::vector<Tensor>& s) {
        return std::vector<Tensor>{s[0] + 1.0, s[1], s[2] + reduce_sum(s[1], {kA})};
      },
      5);
  const auto each = lower(g, {states[2].id()}, mesh, *LayoutRules::parse("b:m"), 0);
  ASSERT_TRUE(each);
  EXPECT_EQ(each->totals.sent_bytes, 5 * 4 * 8);
}

TEST(While, AnAccumulatorMoreThanTheBodyGivesIsRefused) {
  Graph g;
  try {
    (void)while_loop(
        {fill(g, {}, 0)}, [](const std::vector<Tensor>& s) { return counted_to(s, 2); },
        [](const std::vector<Tensor>& s) { return s; }, 2, 1);
    ADD_FAILURE() << "no error";
  } catch (const GraphError& error) {
    EXPECT_THAT(error.what(), HasSubstr("returns 1 values for 1 states and 1 accumulators"));
  }
}

TEST(Depend, WhatItDependsOnIsComputedAndGradientsGoToItsValueOnly) {
  const auto build = [](Graph& g) {
    const Tensor x = g.input("x", {kA, kB}), y = g.input("y", {kA});
    const Tensor held = depend(square(x), {print(y * 2.0, "first")});
    return with_gradients(held, {x, y});
  };
  const auto plain = [](Graph& g) {
    const Tensor x = g.input("x", {kA, kB}), y = g.input("y", {kA});
    return with_gradients(square(x), {x, y});
  };
  for (const LayoutCase& layout : {LayoutCase{"", ""}, {"m:2", "a:m"}, {"m:2", "b:m"}}) {
    ::testing::internal::CaptureStderr();
    const auto got = run_on_threads(build, layout);
    const std::string said = ::testing::internal::GetCapturedStderr();
    ASSERT_TRUE(got) << got.error().text();
    EXPECT_EQ(difference(*got, *run_on_threads(plain, layout), 0), "") << layout.layout;
    EXPECT_THAT(said, HasSubstr("first: rank 0"));
  }
}

TEST(Print, EveryPartIsPrintedOnce) {
  const auto build = [](Graph& g) {
    const Tensor x = g.input("x", {kA, kB});
    return with_gradients(print(x, "seen", 3), {x});
  };
  ::testing::internal::CaptureStderr();
  const auto got = run_on_threads(build, {"m:2;n:2", "a:m"});
  const std::string said = ::testing::internal::GetCapturedStderr();
  ASSERT_TRUE(got) << got.error().text();
  EXPECT_THAT(said, AllOf(HasSubstr("seen: rank 0 [a 0..1, b 0..5] fp32 min "),
                          HasSubstr("seen: rank 2 [a 2..3, b 0..5] fp32 min "),
                          Not(HasSubstr("rank 1")), Not(HasSubstr("rank 3"))));
}

TEST(Logic, TablesOfTruthAndRoundingDown) {
  const auto build = [](Graph& g) {
    const Dim n{"n", 4};
    const Tensor i = range(g, n, DType::F64);  // 0 1 2 3
    const Tensor low = mod(i, fill(g, {}, 2, DType::F64)), high = floor(i * 0.5);
    const Tensor odd = i * -1.0 + 0.5;  // .5 -.5 -1.5 -2.5
    const Tensor one = fill(g, {}, 1, DType::F64);
    return std::vector<Tensor>{
        logical_and(low, high),    logical_or(low, high * 7.0), logical_not(low),
        greater(low, high),        greater_equal(low, high),    not_equal(low, high),
        floor_div(odd, one * 2.0), mod(odd, one * 2.0),         mod(odd, one * -2.0),
        reduce_any(low, {}),       reduce_all(i, {}),           reduce_all(i + 1.0, {})};
  };
  const std::vector<std::vector<double>> wanted = {{0, 0, 0, 1},
                                                   {0, 1, 1, 1},
                                                   {1, 0, 1, 0},
                                                   {0, 1, 0, 0},
                                                   {1, 1, 0, 1},
                                                   {0, 1, 1, 0},
                                                   {0, -1, -1, -2},
                                                   {.5, 1.5, .5, 1.5},
                                                   {-1.5, -.5, -1.5, -.5},
                                                   {1},
                                                   {0},
                                                   {1}};
  const auto got = run_on_threads(build, {"m:2", "n:m"});
  ASSERT_TRUE(got) << got.error().text();
  for (size_t i = 0; i < wanted.size(); ++i) {
    EXPECT_TRUE(at::equal((*got)[i].reshape({-1}), at::tensor(wanted[i], at::kDouble))) << i;
  }
}

}  // namespace
}  // namespace goban::train::mesh
