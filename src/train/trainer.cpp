#include "train/trainer.hpp"

#include <ATen/core/Tensor.h>
#include <array>
#include <cmath>
#include <filesystem>
#include <fmt/format.h>
#include <memory>
#include <span>

#include "base/number.hpp"
#include "mesh/checkpoint.hpp"
#include "mesh/gradient.hpp"
#include "mesh/planner.hpp"
#include "train/batches.hpp"
#include "train/run_files.hpp"

namespace goban::train {

std::atomic<bool> stop_requested = false;

namespace {

using namespace mesh;

constexpr int64_t kStopInterval = 8;  // steps between agreements on stopping
constexpr int64_t kLargestTestBatch = 500;

Model build(const TrainOptions& options, Layers& layers, int64_t batch) {
  if (options.task == "lm") {
    TransformerShape shape = options.transformer;
    shape.batch = batch;
    shape.causal = options.model != "masked";
    return transformer_model(layers, shape);
  }
  return options.model == "mlp" ? mlp_model(layers, batch, options.hidden)
                                : mnist_model(layers, batch, options.hidden);
}

base::Result<std::unique_ptr<Batches>> open_data(const TrainOptions& options) {
  if (options.task == "lm") {
    return text_batches(options.texts, options.transformer.length, options.model != "masked",
                        options.seed, options.train_limit, options.test_limit);
  }
  auto set = data::read_image_set(options.data_dir + "/" + options.task);
  if (!set) {
    base::Error error = set.error();
    error.remedy = fmt::format("goban-train data fetch {} --to {}", options.task, options.data_dir);
    return base::failure(error);
  }
  return image_batches(*set, options.seed, options.train_limit, options.test_limit);
}

/// A run on one rank, from its graphs to its last epoch.
class Run {
 public:
  Run(const TrainOptions& options, comm::Communicator& end) : options_(options), end_(end) {}

  base::Result<std::vector<EpochResult>> all() {
    try {
      if (auto s = prepare(); !s) return base::failure(s.error());
    } catch (const GraphError& error) {
      return base::usage_error(error.what());
    }
    if (options_.explain) return std::vector<EpochResult>{};
    if (auto s = resume(); !s) return base::failure(s.error());
    std::vector<EpochResult> results;
    while (epoch_ < options_.epochs && !stopped_) {
      auto result = one_epoch();
      if (!result) return base::failure(result.error());
      if (stopped_) break;
      results.push_back(*result);
    }
    return results;
  }

 private:
  bool speaks() const { return end_.rank() == 0 && !options_.quiet; }

  base::Status prepare() {
    auto mesh = MeshShape::parse(options_.mesh);
    if (!mesh) return base::failure(mesh.error());
    const bool automatic = options_.layout == "auto";
    auto rules = LayoutRules::parse(automatic ? "" : options_.layout);
    if (!rules) return base::failure(rules.error());
    if (options_.micro_batches < 1 || options_.batch_size % options_.micro_batches != 0) {
      return base::usage_error(fmt::format("a batch of {} does not divide into {} micro-batches",
                                           options_.batch_size, options_.micro_batches));
    }
    micro_ = options_.batch_size / options_.micro_batches;
    Layers layers(graph_, options_.precision);
    const Model model = build(options_, layers, micro_);
    predictions_ = model.predictions * options_.micro_batches;
    std::vector<Tensor> values, means;
    for (const Parameter& each : layers.parameters()) values.push_back(each.value);
    const double share = 1.0 / options_.micro_batches;
    const bool several = options_.micro_batches > 1;
    for (const Tensor& each : gradients(model.loss, values)) {
      means.push_back(several ? accumulate(cast(each, DType::F32)) * share : each);
    }
    add_updates(graph_, layers.parameters(), means, options_.optimizer);
    const Tensor loss = several ? accumulate(model.loss) * share : model.loss;
    const Tensor correct = several ? accumulate(model.correct) : model.correct;
    if (automatic) {
      if (auto s = choose({loss, correct}, *mesh, *rules); !s) return s;
    }
    if (options_.explain) return explain_plan({loss, correct}, *mesh, *rules);
    variables_ = std::make_unique<Variables>(graph_, *mesh, *rules, end_);
    variables_->initialize(options_.seed);
    auto program = Program::create(*variables_, {{loss, correct}, true, options_.micro_batches});
    if (!program) return base::failure(program.error());
    program_ = std::move(*program);
    if (auto s = check_memory(); !s) return s;
    if (speaks()) {
      for (const std::string& warning : program_->plan().warnings) {
        fmt::print(stderr, "warning: {}\n", warning);
      }
    }
    auto batches = open_data(options_);
    if (!batches) return base::failure(batches.error());
    batches_ = std::move(*batches);
    steps_ = batches_->train_size() / options_.batch_size;
    if (steps_ == 0) {
      return base::usage_error(fmt::format("a batch of {} is larger than the {} training samples",
                                           options_.batch_size, batches_->train_size()));
    }
    return prepare_test();
  }

  std::vector<NodeId> roots_of(const std::vector<Tensor>& fetches) const {
    std::vector<NodeId> roots;
    for (const Tensor& fetch : fetches) roots.push_back(fetch.id());
    for (const Assignment& each : graph_.assignments()) roots.push_back(each.value);
    return roots;
  }

  /// `--layout auto`: on the mesh given, or on the best mesh of all ranks.
  base::Status choose(const std::vector<Tensor>& fetches, MeshShape& mesh, LayoutRules& rules) {
    auto costs = measure_costs(end_);
    if (!costs) return base::failure(costs.error());
    const PlannerOptions options{Objective::Time, *costs, options_.memory_limit_bytes,
                                 options_.micro_batches};
    const std::vector<NodeId> roots = roots_of(fetches);
    const auto choice = mesh.axes().empty()
                            ? choose_mesh_and_layout(graph_, roots, end_.size(), options)
                            : choose_layout(graph_, roots, mesh, options);
    if (!choice) return base::failure(choice.error());
    mesh = choice->mesh;
    rules = choice->rules;
    predicted_s_ = choice->step_s;
    if (speaks()) {
      fmt::print(
          "planner: mesh \"{}\" layout \"{}\", best of {} legal ones; predicted {:.4g} s a "
          "step, {} bytes a device (measured: {:.3g} s + {:.3g} s/byte a collective, {:.3g} "
          "flops/s, {:.3g} bytes/s)\n",
          mesh.text(), rules.text(), choice->examined, choice->step_s, choice->memory_bytes,
          costs->alpha_s, costs->beta_s_per_byte, costs->flops_per_s, costs->bytes_per_s);
    }
    return {};
  }

  /// Needs no ranks: a layout for a large machine is explained on a small one.
  base::Status explain_plan(const std::vector<Tensor>& fetches, const MeshShape& mesh,
                            const LayoutRules& rules) const {
    const std::vector<NodeId> roots = roots_of(fetches);
    const auto plan = lower(graph_, roots, mesh, rules, 0, options_.micro_batches);
    if (!plan) return base::failure(plan.error());
    if (speaks()) fmt::print("{}", explain(graph_, *plan));
    return {};
  }

  base::Status check_memory() const {
    const PlanTotals& totals = program_->plan().totals;
    const int64_t needed = totals.variable_bytes + totals.peak_value_bytes;
    if (options_.memory_limit_bytes == 0 || needed <= options_.memory_limit_bytes) return {};
    return base::usage_error(
        fmt::format("a device needs {} bytes ({} of variables, {} of values), the limit is {}",
                    needed, totals.variable_bytes, totals.peak_value_bytes,
                    options_.memory_limit_bytes),
        "split more dimensions, use more devices, micro-batches or recomputation");
  }

  /// The test graph reads the training graph's variables; its batch divides the test set.
  base::Status prepare_test() {
    const int64_t size = batches_->test_size();
    base::Status last = base::usage_error("the test set is empty");
    for (int64_t batch = std::min(size, kLargestTestBatch); batch >= 1; --batch) {
      if (size % batch != 0) continue;
      test_graph_ = std::make_unique<Graph>();
      Layers layers(*test_graph_, options_.precision);
      const Model model = build(options_, layers, batch);
      test_variables_ =
          std::make_unique<Variables>(*test_graph_, variables_->mesh(), variables_->rules(), end_);
      // The optimiser's variables come after the model's: the first ones are the same.
      for (size_t i = 0; i < test_variables_->size(); ++i) {
        const auto id = static_cast<VariableId>(i);
        test_variables_->slice(id) = variables_->slice(id);
      }
      auto program = Program::create(*test_variables_, {{model.loss, model.correct}, false, 1});
      if (program) {
        test_program_ = std::move(*program);
        test_batch_ = batch;
        return {};
      }
      last = base::failure(program.error());
    }
    return last;
  }

  std::string checkpoint_path() const { return options_.checkpoint + "/checkpoint.goban"; }

  base::Status resume() {
    if (options_.checkpoint.empty()) return {};
    std::error_code error;
    std::filesystem::create_directories(options_.checkpoint, error);
    if (!std::filesystem::exists(checkpoint_path())) return {};
    auto bookmark = load_checkpoint(checkpoint_path(), *variables_);
    if (!bookmark) return base::failure(bookmark.error());
    const auto number = [&](const char* key) {
      const auto found = bookmark->find(key);
      return found == bookmark->end() ? std::nullopt : base::parse_int(found->second);
    };
    const auto epoch = number("epoch"), position = number("position"), step = number("step");
    if (!epoch || !position || !step || number("batch") != options_.batch_size ||
        number("seed") != static_cast<int64_t>(options_.seed)) {
      return base::bad_data({checkpoint_path(), 0, 0, ""},
                            "is of a run with another batch size or seed",
                            "use an empty --checkpoint folder, or the same options");
    }
    epoch_ = *epoch;
    position_ = *position;
    step_ = *step;
    loss_sum_ = std::strtod((*bookmark)["loss_sum"].c_str(), nullptr);
    if (speaks()) fmt::print(stderr, "resumed at epoch {}, step {}\n", epoch_, step_);
    return {};
  }

  base::Status save() {
    if (options_.checkpoint.empty()) return {};
    return save_checkpoint(checkpoint_path(), *variables_,
                           {{"epoch", std::to_string(epoch_)},
                            {"position", std::to_string(position_)},
                            {"step", std::to_string(step_)},
                            {"batch", std::to_string(options_.batch_size)},
                            {"seed", std::to_string(options_.seed)},
                            {"loss_sum", fmt::format("{:a}", loss_sum_)}});
  }

  /// True on all ranks if a signal came to any.
  base::Result<bool> agreed_to_stop() {
    std::array<int64_t, 1> stop = {stop_requested ? 1 : 0};
    const auto status =
        end_.all_reduce(comm::whole_world(end_.size()), std::as_writable_bytes(std::span(stop)),
                        comm::Element::I64, comm::Reduction::Max, "stop?");
    if (!status) return base::failure(status.error());
    return stop[0] != 0;
  }

  base::Result<EpochResult> one_epoch() {
    const double start = now_s();
    const int64_t first = position_;
    int64_t seen = 0;
    double right = 0;
    ProgressBar bar(speaks(), epoch_ + 1, options_.epochs, steps_);
    for (; position_ < steps_; ++position_) {
      if (position_ % kStopInterval == 0) {
        const auto stop = agreed_to_stop();
        if (!stop) return base::failure(stop.error());
        if (*stop) {
          stopped_ = true;
          if (auto s = save(); !s) return base::failure(s.error());
          if (speaks()) fmt::print(stderr, "stopped at epoch {}, step {}\n", epoch_ + 1, step_);
          return EpochResult{};
        }
      }
      const double before = now_s();
      std::vector<Feeds> feeds;
      for (int i = 0; i < options_.micro_batches; ++i) {
        feeds.push_back(
            batches_->train(epoch_, position_ * options_.batch_size + i * micro_, micro_));
      }
      const double fed = now_s();
      const int64_t sent = end_.traffic().total_bytes();
      auto values = program_->run(feeds, static_cast<uint64_t>(step_));
      if (!values) return base::failure(values.error());
      bytes_per_step_ = end_.traffic().total_bytes() - sent;
      const double loss = (*values)[0].item<double>();
      if (!std::isfinite(loss)) {
        return base::failed(
            fmt::format("the loss of step {} (epoch {}) is {}", step_, epoch_ + 1, loss),
            "lower the learning rate or use fp32; the last checkpoint is intact");
      }
      loss_sum_ += loss;
      right += (*values)[1].item<double>();
      ++step_;
      ++seen;
      const double taken = now_s() - before;
      statistics_.steps += 1;
      statistics_.sum_s += taken;
      statistics_.sum_s2 += taken * taken;
      statistics_.input_s += fed - before;
      const double rate = static_cast<double>(seen * options_.batch_size) / (now_s() - start);
      const int64_t left = (options_.epochs - epoch_) * steps_ - position_ - 1;
      bar.show(position_ + 1, loss_sum_ / static_cast<double>(position_ + 1),
               right / (static_cast<double>(seen) * predictions_), rate,
               static_cast<double>(left * options_.batch_size) / rate);
    }
    EpochResult result;
    result.train_s = now_s() - start;
    result.samples_per_s =
        static_cast<double>((steps_ - first) * options_.batch_size) / result.train_s;
    result.train_loss = loss_sum_ / static_cast<double>(steps_);
    result.epoch = ++epoch_;
    result.step = step_;
    position_ = 0;
    loss_sum_ = 0;
    if (auto s = evaluate(result); !s) return base::failure(s.error());
    if (auto s = save(); !s) return base::failure(s.error());
    return report(result);
  }

  base::Status evaluate(EpochResult& result) {
    const int64_t batches = batches_->test_size() / test_batch_;
    double loss = 0, right = 0, predicted = 0;
    for (int64_t i = 0; i < batches; ++i) {
      const Feeds feeds = batches_->test(i * test_batch_, test_batch_);
      auto values = test_program_->run({feeds}, 0);
      if (!values) return base::failure(values.error());
      loss += (*values)[0].item<double>();
      right += (*values)[1].item<double>();
      const auto weight = feeds.find("weight");
      const auto targets = feeds.find("targets");
      predicted += weight != feeds.end()    ? weight->second.sum().item<double>()
                   : targets != feeds.end() ? static_cast<double>(targets->second.numel())
                                            : static_cast<double>(test_batch_);
    }
    result.test_loss = loss / static_cast<double>(batches);
    result.test_accuracy = right / predicted;
    return {};
  }

  base::Result<EpochResult> report(const EpochResult& result) {
    if (end_.rank() != 0) return result;
    if (speaks()) {
      fmt::print(
          "epoch {} step {} train_loss {:.5f} test_acc {:.4f} test_loss {:.5f} "
          "train {:.1f} s {:.0f}/s\n",
          result.epoch, result.step, result.train_loss, result.test_accuracy, result.test_loss,
          result.train_s, result.samples_per_s);
      if (predicted_s_ > 0) {
        const double measured = statistics_.sum_s / static_cast<double>(statistics_.steps);
        fmt::print("planner: {:.4g} s a step measured, {:.4g} s predicted ({:.2f} times)\n",
                   measured, predicted_s_, measured / predicted_s_);
      }
      std::fflush(stdout);
    }
    if (auto s = write_metrics(options_, result); !s) return base::failure(s.error());
    if (auto s = write_profile(options_, result, statistics_, program_->plan(), bytes_per_step_);
        !s) {
      return base::failure(s.error());
    }
    return result;
  }

  const TrainOptions& options_;
  comm::Communicator& end_;
  Graph graph_;
  std::unique_ptr<Graph> test_graph_;
  std::unique_ptr<Variables> variables_, test_variables_;
  std::unique_ptr<Program> program_, test_program_;
  std::unique_ptr<Batches> batches_;
  int64_t micro_ = 0, steps_ = 0, test_batch_ = 0;
  double predictions_ = 0, predicted_s_ = 0;
  int64_t epoch_ = 0, position_ = 0, step_ = 0;
  double loss_sum_ = 0;
  int64_t bytes_per_step_ = 0;
  StepStatistics statistics_;
  bool stopped_ = false;
};

}  // namespace

base::Result<std::vector<EpochResult>> train(const TrainOptions& options, comm::Communicator& end) {
  return Run(options, end).all();
}

}  // namespace goban::train
