#include <algorithm>
#include <fmt/format.h>

#include "train/mesh/functions.hpp"

namespace goban::train::mesh {

Tensor slicewise(const std::vector<Tensor>& inputs, const Shape& output, DType dtype,
                 SlicewiseFunction function) {
  if (inputs.empty()) throw GraphError(function.name + ": no inputs");
  for (const std::string& dim : function.splittable) {
    const bool taken = std::any_of(inputs.begin(), inputs.end(),
                                   [&](const Tensor& each) { return each.shape().has(dim); });
    if (taken && output.has(dim)) continue;
    throw GraphError(fmt::format("{}: the splittable dimension '{}' is not in {}", function.name,
                                 dim, taken ? "the output " + output.text() : "any input"));
  }
  Attributes attributes;
  attributes.slicewise = std::make_shared<const SlicewiseFunction>(std::move(function));
  const std::string name = attributes.slicewise->name;
  return inputs[0].graph().add(Op::Slicewise, name, inputs, output, dtype, attributes);
}

Tensor custom_gradient(const std::vector<Tensor>& xs, Tensor y, GradientFunction gradient) {
  Attributes attributes;
  attributes.gradient = std::make_shared<const GradientFunction>(std::move(gradient));
  std::vector<Tensor> inputs = {y};
  inputs.insert(inputs.end(), xs.begin(), xs.end());
  return y.graph().add(Op::CustomGradient, "custom_gradient", inputs, y.shape(), y.dtype(),
                       attributes);
}

Tensor print(Tensor x, const std::string& message, int64_t first) {
  Attributes attributes;
  attributes.message = message;
  attributes.count = first;
  return x.graph().add(Op::Print, "print", {x}, x.shape(), x.dtype(), attributes);
}

Tensor scalar_summary(const std::string& name, Tensor x) {
  constexpr const char* kLetters =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-/";
  if (name.empty() || name.find_first_not_of(kLetters) != std::string::npos) {
    throw GraphError(fmt::format(
        "scalar_summary: name '{}' must consist of one or more letters, digits, _ . - and /",
        name));
  }
  if (x.shape().rank() != 0) {
    throw GraphError(fmt::format("scalar_summary: '{}' is {}, not a scalar; reduce_mean(x, {{}})",
                                 name, x.shape().text()));
  }
  const Tensor out = x.graph().add(Op::Unary, name, {x}, x.shape(), x.dtype());
  x.graph().summarize(out);
  return out;
}

std::vector<Tensor> while_loop(
    const std::vector<Tensor>& states,
    const std::function<Tensor(const std::vector<Tensor>&)>& going,
    const std::function<std::vector<Tensor>(const std::vector<Tensor>&)>& body,
    int64_t expected_turns, size_t accumulators) {
  if (states.empty()) throw GraphError("while: no states");
  auto loop = std::make_shared<Loop>();
  loop->graph = std::make_shared<Graph>();
  loop->expected_turns = expected_turns;
  loop->accumulators = accumulators;
  std::vector<Tensor> inside;
  for (size_t i = 0; i < states.size(); ++i) {
    inside.push_back(
        loop->graph->input(fmt::format("state{}", i), states[i].shape(), states[i].dtype()));
    loop->states.push_back(inside.back().id());
  }
  const auto of_loop = [&](Tensor each) {
    if (&each.graph() == loop->graph.get()) return each.id();
    throw GraphError(fmt::format("while: '{}' is defined outside of the loop; pass it as a state",
                                 each.node().name));
  };
  const Tensor truth = going(inside);
  if (truth.shape().rank() != 0) {
    throw GraphError(fmt::format("while: the condition is {}, not a scalar", truth.shape().text()));
  }
  loop->going = of_loop(truth);
  const std::vector<Tensor> next = body(inside);
  if (next.size() != states.size() + accumulators) {
    throw GraphError(
        fmt::format("while: the body returns {} values for {} states and {} accumulators",
                    next.size(), states.size(), accumulators));
  }
  for (const Tensor& each : next) loop->next.push_back(of_loop(each));
  for (size_t i = 0; i < states.size(); ++i) {
    if (next[i].shape() == states[i].shape() && next[i].dtype() == states[i].dtype()) continue;
    throw GraphError(fmt::format("while: state {} is {} {}, but {} {} after the body", i,
                                 dtype_name(states[i].dtype()), states[i].shape().text(),
                                 dtype_name(next[i].dtype()), next[i].shape().text()));
  }
  if (!loop->graph->summaries().empty()) {
    throw GraphError(
        fmt::format("while: the summary '{}' is inside the loop; return its value from the loop",
                    loop->graph->summaries().front().name));
  }
  Attributes attributes;
  attributes.loop = loop;
  Graph& graph = states[0].graph();
  const Tensor run =
      graph.add(Op::While, "while", states, states[0].shape(), states[0].dtype(), attributes);
  std::vector<Tensor> out;
  for (size_t i = 0; i < next.size(); ++i) {
    attributes.begin = static_cast<int64_t>(i);
    out.push_back(graph.add(Op::LoopValue, "loop_value", {run}, next[i].shape(), next[i].dtype(),
                            attributes));
  }
  return out;
}

Tensor depend(Tensor x, const std::vector<Tensor>& after) {
  Attributes attributes;
  attributes.gradient = std::make_shared<const GradientFunction>(
      [](const std::vector<Tensor>& xs, Tensor, Tensor dx) {
        std::vector<Tensor> out = {dx};
        for (size_t i = 1; i < xs.size(); ++i) {
          out.push_back(fill(xs[i].graph(), xs[i].shape(), 0, xs[i].dtype()));
        }
        return out;
      });
  std::vector<Tensor> inputs = {x, x};
  inputs.insert(inputs.end(), after.begin(), after.end());
  return x.graph().add(Op::CustomGradient, "depend", inputs, x.shape(), x.dtype(), attributes);
}

}  // namespace goban::train::mesh
