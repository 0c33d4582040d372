#include "train/trainer/training_step.hpp"

#include <ATen/ops/zeros.h>
#include <algorithm>
#include <c10/util/Exception.h>
#include <cmath>
#include <fmt/format.h>
#include <optional>

#include "base/printable.hpp"
#include "train/mesh/gradient.hpp"
#include "train/mesh/kernels.hpp"
#include "train/trainer/planner_costs.hpp"
#include "train/trainer/stopping.hpp"

namespace goban::train::trainer {

using namespace mesh;

namespace {
constexpr const char* kLessMemory =
    "split more dimensions, use more devices, micro-batches or recomputation";
constexpr double kReferenceBatch =
    200;  // reference of --lr-scale: the batch size of Mesh TensorFlow's example
constexpr double kAdamWRate = 1e-3, kSgdRate = 0.05;

/// The square root of the sum of all elements' squares, in fp32.
Tensor norm(Graph& graph, const std::vector<Tensor>& of) {
  Tensor sum = fill(graph, {}, 0);
  for (const Tensor& each : of) sum = sum + reduce_sum(square(cast(each, DType::F32)), {});
  return unary(Unary::Sqrt, sum);
}

bool uses_half(const TrainOptions& options) {
  return options.precision == DType::F16 ||
         std::ranges::any_of(options.layer_precision,
                             [](const TypeRule& rule) { return rule.activation == DType::F16; });
}

/// Errors: Usage, for a --precision-of that no layer has.
base::Status check_layer_rules(const Layers& layers) {
  const std::string* unmatched = layers.unmatched();
  if (unmatched == nullptr) return {};
  constexpr size_t kMostNames = 20;
  std::string names;
  const auto& all = layers.parameters();
  for (size_t i = 0; i < std::min(all.size(), kMostNames); ++i) {
    names += (i == 0 ? "" : ", ") + layers.graph().variable(all[i].variable).name;
  }
  if (all.size() > kMostNames) names += fmt::format(" and {} more", all.size() - kMostNames);
  return base::usage_error(fmt::format("--precision-of: '{}' matches no layer of the model",
                                       base::printable(*unmatched)),
                           "the model's layers are " + names);
}

/// Loss scaling for fp16: gradients of the scaled loss stay above the smallest numbers of fp16. A
/// step with gradients that are not finite is left out and halves the scale; some steps in a row
/// without double it (Micikevicius et al., Mixed Precision Training, 2018).
class LossScale {
 public:
  /// `fixed` > 0 is kept; steps with gradients that are not finite are left out all the same.
  LossScale(Graph& graph, double fixed) : graph_(graph), fixed_(fixed) {
    if (fixed > 0) {
      scale_ = fill(graph, {}, fixed);
      return;
    }
    const Graph::Scope scope(graph, "loss_scale");
    factor_ = graph.add_variable({"factor", {}, DType::F32, {Initializer::Kind::Ones, 0}, false});
    good_ = graph.add_variable({"good_steps", {}, DType::F32, {}, false});
    scale_ = graph.read(factor_) * kStart;
  }
  [[nodiscard]] Tensor value() const { return scale_; }
  [[nodiscard]] Tensor up(Tensor loss) const { return loss * scale_; }
  [[nodiscard]] Tensor down(Tensor gradient) const { return cast(gradient, DType::F32) / scale_; }
  /// Returns 1 if all gradients are finite, otherwise 0.
  [[nodiscard]] NodeId update(const std::vector<Tensor>& gradients) {
    Tensor largest = fill(graph_, {}, 0);
    for (const Tensor& each : gradients) {
      largest = maximum(largest, reduce_max(unary(Unary::Abs, each), {}));
    }
    const Tensor fine = binary(Binary::Less, largest, fill(graph_, {}, kFinite));
    if (fixed_ > 0) return fine.id();
    const Tensor count = (graph_.read(good_) + 1) * fine;
    const Tensor grows = binary(Binary::GreaterEqual, count, fill(graph_, {}, kGrowAfter));
    const Tensor factor = graph_.read(factor_);
    const Tensor next = factor * (fine * (grows + 1) + (fine * -1.0 + 1) * kShrink);
    graph_.assign(factor_,
                  maximum(minimum(next, fill(graph_, {}, kMost)), fill(graph_, {}, 1 / kStart)),
                  /*always=*/true);
    graph_.assign(good_, count * (grows * -1.0 + 1), /*always=*/true);
    return fine.id();
  }

 private:
  static constexpr double kStart = 65536, kShrink = 0.5, kGrowAfter = 200, kMost = 65536;
  static constexpr double kFinite = 3e38;  // below the largest number of fp32
  Graph& graph_;
  double fixed_;
  Tensor scale_;
  VariableId factor_ = -1, good_ = -1;
};

/// The mean over the predictions of a batch, from its micro-batches. If their numbers of
/// predictions differ, these are counted, and the sum is divided once, by the total.
class Mean {
 public:
  Mean(Graph& graph, const Model& model, int micro_batches)
      : micro_batches_(micro_batches), summed_(model.loss) {
    if (micro_batches == 1 || !model.counted) return;
    summed_ = model.counted->sum;
    number_ = maximum(accumulate(model.counted->number), fill(graph, {}, 1.0));
  }
  /// The value that is summed over micro-batches.
  const Tensor& summed() const { return summed_; }
  /// The mean of the loss, or of a gradient, from the value of `summed` in each micro-batch.
  Tensor of(const Tensor& each) const {
    if (micro_batches_ == 1) return each;
    const Tensor sum = accumulate(cast(each, DType::F32));
    return number_ ? sum / *number_ : sum * (1.0 / micro_batches_);
  }

 private:
  int micro_batches_;
  Tensor summed_;
  std::optional<Tensor> number_;
};

}  // namespace

Model build_model(const TrainOptions& options, Layers& layers, int64_t batch) {
  if (options.task == "lm") {
    TransformerShape shape = options.transformer;
    shape.batch = batch;
    shape.causal = options.model != "masked";
    return transformer_model(layers, shape);
  }
  return options.model == "mlp" ? mlp_model(layers, batch, options.hidden)
                                : mnist_model(layers, batch, options.hidden);
}

double batch_scale(const TrainOptions& options) {
  const double ratio = static_cast<double>(options.batch_size) / kReferenceBatch;
  switch (options.lr_scale) {
    case LrScale::None:
      return options.optimizer.scale;
    case LrScale::Linear:
      return options.optimizer.scale * ratio;
    case LrScale::Sqrt:
      return options.optimizer.scale * std::sqrt(ratio);
  }
  return options.optimizer.scale;
}

std::vector<NodeId> StepGraph::roots() const {
  std::vector<NodeId> roots = {loss.id(), correct.id()};
  for (const ScalarSummary& each : summaries) roots.push_back(each.value);
  for (const Assignment& each : graph.assignments()) {
    roots.push_back(each.value);
    if (each.adam && each.adam->factor >= 0) roots.push_back(each.adam->factor);
  }
  if (gate >= 0) roots.push_back(gate);
  return roots;
}

base::Result<std::unique_ptr<StepGraph>> build_step(const TrainOptions& options) {
  if (options.micro_batches < 1 || options.batch_size % options.micro_batches != 0) {
    return base::usage_error(fmt::format("a batch of {} is not divisible into {} micro-batches",
                                         options.batch_size, options.micro_batches));
  }
  if (uses_half(options) && options.overlap == Overlap::Delayed) {
    return base::usage_error(
        "--overlap delayed cannot be combined with fp16: gradients of the step "
        "before have another loss scale",
        "use --precision bf16, or --overlap buckets");
  }
  auto out = std::make_unique<StepGraph>();
  out->micro_batch = options.batch_size / options.micro_batches;
  try {
    Layers layers(out->graph, options.precision, options.layer_precision);
    const Model model = build_model(options, layers, out->micro_batch);
    if (auto s = check_layer_rules(layers); !s) return base::failure(s.error());
    std::vector<Tensor> values, means;
    for (const Parameter& each : layers.parameters()) values.push_back(each.value);
    const double share = 1.0 / options.micro_batches;
    const bool several = options.micro_batches > 1;
    const Mean mean(out->graph, model, options.micro_batches);
    std::optional<LossScale> scale;
    if (uses_half(options)) scale.emplace(out->graph, options.loss_scale);
    for (const Tensor& each : gradients(scale ? scale->up(mean.summed()) : mean.summed(), values)) {
      means.push_back(mean.of(each));
      out->gradients.push_back(means.back().id());
    }
    if (scale) {
      for (Tensor& each : means) each = scale->down(each);
      out->gate = scale->update(means);
    }
    if (options.summaries) {
      for (const ScalarSummary& each : out->graph.summaries()) {
        const Tensor value = cast(out->graph.tensor(each.value), DType::F32);
        out->summaries.push_back({each.name, (several ? accumulate(value) * share : value).id()});
      }
      out->summaries.push_back({"gradient_norm", norm(out->graph, means).id()});
      out->summaries.push_back({"parameter_norm", norm(out->graph, values).id()});
      if (scale) out->summaries.push_back({"loss_scale", scale->value().id()});
    }
    OptimizerOptions optimizer = options.optimizer;
    optimizer.scale = batch_scale(options);
    using Kind = OptimizerOptions::Kind;
    if (optimizer.learning_rate == 0 && optimizer.kind != Kind::Adafactor) {
      optimizer.learning_rate = optimizer.kind == Kind::AdamW ? kAdamWRate : kSgdRate;
    }
    add_updates(out->graph, layers.parameters(), means, optimizer);
    out->loss = mean.of(mean.summed());
    out->correct = several ? accumulate(model.correct) : model.correct;
  } catch (const GraphError& error) {
    return base::usage_error(error.what());
  }
  return out;
}

base::Result<LayoutRules> layout_rules(const TrainOptions& options) {
  auto rules = LayoutRules::parse(options.layout);
  if (!rules || options.task == "lm") return rules;
  const auto is = [](const char* name) {
    return [name](const auto& rule) { return rule.first == name; };
  };
  const auto found = std::ranges::find_if(rules->rules, is("hidden"));
  const bool once = std::ranges::none_of(rules->rules, is("hidden1"));
  if (once && found != rules->rules.end()) found->first = "hidden1";
  return rules;
}

base::Result<ChosenLayout> choose(const TrainOptions& options, const StepGraph& step,
                                  comm::Communicator& end) {
  ChosenLayout out;
  auto mesh = MeshShape::parse(options.mesh);
  if (!mesh) return base::failure(mesh.error());
  out.mesh = std::move(*mesh);
  if (out.mesh.axes().empty() && options.layout.empty() && end.size() > 1) {
    out.mesh = MeshShape(std::vector<Dim>{Dim{"ranks", end.size()}});
    out.rules.rules.emplace_back("batch", "ranks");
    out.said = fmt::format(
        "no --mesh: the batch is split over the {} ranks (--mesh \"{}\" --layout \"{}\")\n",
        end.size(), out.mesh.text(), out.rules.text());
    return out;
  }
  if (options.layout != "auto") {
    auto rules = layout_rules(options);
    if (!rules) return base::failure(rules.error());
    out.rules = std::move(*rules);
    return out;
  }
  const auto costs =
      planner_costs(options, out.mesh.axes().empty() ? end.size() : out.mesh.devices(), end);
  if (!costs) return base::failure(costs.error());
  const bool overlaps = options.overlap != Overlap::Off && end.size() > 1;
  const PlannerOptions wanted{Objective::Time,
                              *costs,
                              options.memory_limit_bytes,
                              options.micro_batches,
                              [] { return stop_requested.load(); },
                              overlaps ? options.bucket_bytes : 0};
  const std::vector<NodeId> roots = step.roots();
  const auto choice = out.mesh.axes().empty()
                          ? choose_mesh_and_layout(step.graph, roots, end.size(), wanted)
                          : choose_layout(step.graph, roots, out.mesh, wanted);
  const auto stopped = agreed_to_stop(end);
  if (!stopped) return base::failure(stopped.error());
  out.stopped = *stopped;
  if (out.stopped) return out;
  if (!choice) return base::failure(choice.error());
  out.mesh = choice->mesh;
  out.rules = choice->rules;
  out.predicted_step_s = choice->step_s;
  out.said = fmt::format(
      "planner: mesh \"{}\" layout \"{}\", best of {} legal ones; predicted {:.4g} s per step, {} "
      "bytes per device ({} --costs \"{}\")\n",
      out.mesh.text(), out.rules.text(), choice->examined, choice->step_s, choice->memory_bytes,
      options.costs.empty() ? "measured" : "given", costs_text(*costs));
  return out;
}

base::Result<std::vector<MeshShape>> planner_meshes(const TrainOptions& options, int ranks) {
  auto mesh = MeshShape::parse(options.mesh);
  if (!mesh) return base::failure(mesh.error());
  if (mesh->axes().empty()) return mesh_shapes(ranks);
  return std::vector<MeshShape>{std::move(*mesh)};
}

int64_t needed_bytes(const Plan& plan) {
  return plan.totals.variable_bytes + plan.totals.peak_value_bytes;
}

std::string memory_warning(const TrainOptions& options, const Plan& plan) {
  if (options.memory_limit_bytes == 0 || needed_bytes(plan) <= options.memory_limit_bytes) {
    return "";
  }
  return fmt::format(
      "the plan requires {} bytes per device ({} of variables, {} of values), the limit is {}; if "
      "the allocator rejects a tensor: {}",
      needed_bytes(plan), plan.totals.variable_bytes, plan.totals.peak_value_bytes,
      options.memory_limit_bytes, kLessMemory);
}

base::Status check_memory(const TrainOptions& options, const Plan& plan) {
  const int64_t limit = options.memory_limit_bytes, variables = plan.totals.variable_bytes;
  if (limit == 0 || variables <= limit) return {};
  return base::usage_error(
      fmt::format("the variables of a device are {} bytes, the limit is {}", variables, limit),
      kLessMemory);
}

base::Result<std::unique_ptr<TrainingStep>> TrainingStep::create(const TrainOptions& options,
                                                                 std::unique_ptr<StepGraph> step,
                                                                 const ChosenLayout& layout,
                                                                 comm::Communicator& end,
                                                                 DeviceMemory& memory) {
  // Checks the memory before anything is allocated.
  const auto plan =
      lower(step->graph, step->roots(), layout.mesh, layout.rules, 0, options.micro_batches);
  if (!plan) return base::failure(plan.error());
  if (auto s = check_memory(options, *plan); !s) return base::failure(s.error());
  const DeviceMemory::Charge charge(memory);
  std::unique_ptr<Variables> variables;
  try {
    variables =
        std::make_unique<Variables>(step->graph, layout.mesh, layout.rules, end, memory.device());
    variables->initialize(options.seed);
  } catch (const c10::Error& error) {
    return base::failed(fmt::format("variables: {}", error.what_without_backtrace()));
  }
  std::shared_ptr<comm::AsyncReducer> reducer;
  // Through the host, a GPU waits for each copy, and nothing overlaps.
  const bool possible = memory.device().is_cpu() || end.takes_device_data();
  if (options.overlap != Overlap::Off && end.size() > 1 && possible) {
    auto started = comm::AsyncReducer::start(end);
    if (!started) return base::failure(started.error());
    reducer = std::move(*started);
  }
  return finish(options, std::move(step), std::move(variables), memory, std::move(reducer));
}

base::Result<std::unique_ptr<TrainingStep>> TrainingStep::sharing(const TrainOptions& options,
                                                                  TrainingStep& of) {
  auto step = build_step(options);
  if (!step) return base::failure(step.error());
  auto variables = std::make_unique<Variables>((*step)->graph, of.variables());
  auto out = finish(options, std::move(*step), std::move(variables), *of.memory_, of.reducer_);
  if (!out) return out;
  if (auto s = check_memory(options, (*out)->plan()); !s) return base::failure(s.error());
  return out;
}

base::Result<std::unique_ptr<TrainingStep>> TrainingStep::finish(
    const TrainOptions& options, std::unique_ptr<StepGraph> step,
    std::unique_ptr<Variables> variables, DeviceMemory& memory,
    std::shared_ptr<comm::AsyncReducer> reducer) {
  std::vector<Tensor> fetches = {step->loss, step->correct};
  for (const ScalarSummary& each : step->summaries)
    fetches.push_back(step->graph.tensor(each.value));
  if (step->gate >= 0) fetches.push_back(step->graph.tensor(step->gate));
  auto program = Program::create(
      *variables, {fetches, true, options.micro_batches, options.overlap, options.bucket_bytes,
                   options.bf16_buckets, reducer.get(), step->gradients, step->gate});
  if (!program) return base::failure(program.error());
  std::unique_ptr<TrainingStep> out(new TrainingStep);
  out->reducer_ = std::move(reducer);
  out->step_ = std::move(step);
  out->variables_ = std::move(variables);
  out->program_ = std::move(*program);
  out->memory_ = &memory;
  out->micro_batches_ = options.micro_batches;
  return out;
}

base::Result<StepValues> TrainingStep::run(const std::vector<Feeds>& feeds, int64_t number) {
  const DeviceMemory::Charge charge(*memory_);
  auto values = program_->run(feeds, static_cast<uint64_t>(number));
  if (!values) return base::failure(values.error());
  StepValues out;
  if (step_->gate >= 0) {
    out.is_skipped = values->back().item<double>() == 0;
    values->pop_back();
  }
  out.loss = (*values)[0].item<double>();
  out.correct = (*values)[1].item<double>();
  for (size_t i = 2; i < values->size(); ++i) out.summaries.push_back((*values)[i].item<double>());
  return out;
}

std::vector<Feeds> TrainingStep::zero_feeds() const {
  Feeds feeds;
  const Graph& graph = step_->graph;
  for (size_t i = 0; i < graph.size(); ++i) {
    const Node& node = graph.node(static_cast<NodeId>(i));
    if (node.op != Op::Input) continue;
    std::vector<int64_t> sizes;
    for (const Dim& dim : node.shape.dims()) sizes.push_back(dim.size);
    feeds[node.name] = at::zeros(sizes, scalar_type(node.dtype));
  }
  return std::vector<Feeds>(static_cast<size_t>(micro_batches_), feeds);
}

}  // namespace goban::train::trainer
