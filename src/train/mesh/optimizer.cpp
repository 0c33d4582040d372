#include "train/mesh/optimizer.hpp"

#include <algorithm>
#include <cmath>

#include "train/mesh/name_pattern.hpp"

namespace goban::train::mesh {
namespace {

constexpr double kGradientFloor = 1e-30;  // Adafactor's epsilon 1, on squared gradients
constexpr double kParameterFloor = 1e-3;  // Adafactor's epsilon 2, minimum RMS of a parameter
constexpr double kDecayPower = -0.8;
constexpr double kLargestRelativeStep = 0.01;

class Updates {
 public:
  Updates(Graph& graph, const OptimizerOptions& options)
      : graph_(graph), options_(options), no_decay_(options.no_decay) {
    const VariableId step = graph.add_variable({"step", {}, DType::I64, {}, false});
    const Tensor now = graph.read(step);
    graph.assign(step, now + 1);
    next_ = cast(now, DType::F32) + 1;
    using Kind = OptimizerOptions::Kind;
    if (options.kind == Kind::Adafactor && options.learning_rate == 0) {
      const double per_step = options.schedule_scale;
      const Tensor time = per_step == 1 ? next_ : next_ * per_step;
      rate_ = minimum(rsqrt(time), constant(kLargestRelativeStep)) * options.scale;
    } else {
      rate_ = constant(options.learning_rate * options.scale);
    }
    if (options.warmup_steps > 0) {
      warmup_ = minimum(next_ * (1.0 / static_cast<double>(options.warmup_steps)), constant(1));
      rate_ = rate_ * warmup_;
    }
    if (options.kind == Kind::Adafactor) decay_ = -(exp(log(next_) * kDecayPower)) + 1;
  }

  void update(VariableId id, Tensor gradient) {
    Graph::Scope scope(graph_, graph_.variable(id).name);
    gradient = cast(gradient, DType::F32);
    switch (options_.kind) {
      case OptimizerOptions::Kind::Sgd:
        if (graph_.variable(id).dtype == DType::F32 && options_.warmup_steps == 0) {
          return graph_.assign_sub(id, gradient, options_.learning_rate * options_.scale);
        }
        return subtract(id, gradient * rate_);
      case OptimizerOptions::Kind::Momentum:
        return momentum(id, gradient);
      case OptimizerOptions::Kind::AdamW:
        return adamw(id, gradient);
      case OptimizerOptions::Kind::Adafactor:
        return adafactor(id, gradient);
    }
  }

 private:
  void subtract(VariableId id, Tensor change) {
    graph_.assign_sub(id, cast(change, graph_.variable(id).dtype));
  }

  Tensor constant(double value) { return fill(graph_, {}, value); }

  VariableId slot(const char* name, Shape shape) {
    return graph_.add_variable({name, std::move(shape), DType::F32, {}, false});
  }

  /// slot * decay + value * (1 - decay), assigned and returned.
  Tensor averaged(VariableId id, Tensor value, Tensor decay) {
    const Tensor next = graph_.read(id) * decay + value * (-decay + 1);
    graph_.assign(id, next);
    return next;
  }

  void momentum(VariableId id, Tensor gradient) {
    const VariableId velocity = slot("momentum", graph_.variable(id).shape);
    const Tensor next = gradient * rate_ + graph_.read(velocity) * options_.momentum;
    graph_.assign(velocity, next);
    subtract(id, next);
  }

  void adamw(VariableId id, Tensor gradient) {
    const Shape shape = graph_.variable(id).shape;
    AdamRule rule;
    rule.first = slot("adam_m", shape);
    rule.second = slot("adam_v", shape);
    rule.rate = options_.learning_rate * options_.scale;
    if (options_.warmup_steps > 0) rule.factor = warmup_.id();
    rule.beta1 = options_.beta1;
    rule.beta2 = options_.beta2;
    rule.epsilon = options_.epsilon;
    const bool decayed = options_.weight_decay > 0 && !no_decay_.is_in(graph_.variable(id).name);
    rule.decay = decayed ? options_.weight_decay : 0;
    graph_.assign_adam(id, gradient, rule);
  }

  static Tensor rms(Tensor x) { return sqrt(reduce_mean(square(x), {})); }

  void adafactor(VariableId id, Tensor gradient) {
    const Shape shape = graph_.variable(id).shape;
    const Tensor squared = square(gradient) + kGradientFloor;
    std::vector<Dim> dims = shape.dims();
    std::stable_sort(dims.begin(), dims.end(),
                     [](const Dim& x, const Dim& y) { return x.size > y.size; });
    Tensor change;
    if (dims.size() >= 2 && dims[1].size >= options_.factor_from) {
      const Shape rows = shape.without({dims[0].name}), columns = shape.without({dims[1].name});
      const Tensor r = averaged(slot("factor_rows", rows), reduce_mean(squared, rows), decay_);
      const Tensor c =
          averaged(slot("factor_columns", columns), reduce_mean(squared, columns), decay_);
      const Tensor mean = reduce_mean(r, rows.without({dims[1].name}));
      change = gradient * rsqrt(r / mean) * rsqrt(c);
    } else {
      change = gradient * rsqrt(averaged(slot("factor_all", shape), squared, decay_));
    }
    change = change / maximum(rms(change) * (1.0 / options_.clip_rms), constant(1.0));
    const Tensor size = maximum(rms(graph_.read(id, DType::F32)), constant(kParameterFloor));
    subtract(id, change * (size * rate_));
  }

  Graph& graph_;
  const OptimizerOptions& options_;
  NamePattern no_decay_;
  Tensor next_, rate_, decay_, warmup_;
};

}  // namespace

void add_updates(Graph& graph, const std::vector<Parameter>& parameters,
                 const std::vector<Tensor>& gradients, const OptimizerOptions& options) {
  Graph::Scope scope(graph, "optimizer");
  if (parameters.size() != gradients.size())
    throw GraphError("add_updates: parameters and gradients differ in number");
  Updates updates(graph, options);
  // In the order in which the backward pass computes the gradients: an update does not wait for
  // sums over devices that are formed later.
  for (size_t i = parameters.size(); i-- > 0;) {
    updates.update(parameters[i].variable, gradients[i]);
  }
}

}  // namespace goban::train::mesh
