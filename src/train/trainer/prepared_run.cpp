#include "train/trainer/prepared_run.hpp"

#include <fmt/format.h>

#include "base/file_checksum.hpp"
#include "train/mesh/device.hpp"
#include "train/trainer/same_on_ranks.hpp"

namespace goban::train::trainer {
namespace {

using namespace mesh;

/// Prints the plan. Independent of the number of ranks: a layout for a large machine can be
/// explained on a small one.
base::Status explain_plan(const TrainOptions& options, const StepGraph& step,
                          const ChosenLayout& layout, bool speaks) {
  const auto plan =
      lower(step.graph, step.roots(), layout.mesh, layout.rules, 0, options.micro_batches);
  if (!plan) return base::failure(plan.error());
  if (speaks) fmt::print("{}", explain(step.graph, *plan));
  return {};
}

/// Plan and data of all ranks. Collective.
base::Status compare_plan_and_data(const TrainOptions& options, comm::Communicator& end,
                                   const PreparedRun& run) {
  if (end.size() == 1) return {};
  const StepGraph& step = run.whole->step();
  const Plan& mine = run.whole->plan();
  const auto plan =
      lower(step.graph, step.roots(), mine.mesh, mine.rules, 0, options.micro_batches);
  if (!plan) return base::failure(plan.error());
  Facts facts = facts_of(*run.batches);
  facts.emplace_back("mesh", mine.mesh.text());
  facts.emplace_back("layout", mine.rules.text());
  facts.emplace_back("checksum of the plan",
                     fmt::format("{:08x}", base::crc32_of(explain(step.graph, *plan))));
  return same_on_ranks(end, facts, "the ranks have different plans or data",
                       "give all ranks the same program and the same data files");
}

/// Counts the whole batches of an epoch, and prepares the smaller one at its end.
base::Status count_steps(const TrainOptions& options, PreparedRun& run, bool speaks) {
  const int64_t size = run.batches->train_size(), rest = size % options.batch_size;
  run.whole_steps = size / options.batch_size;
  run.steps = run.whole_steps;
  if (run.steps == 0) {
    return base::usage_error(fmt::format("a batch of {} is larger than the {} training samples",
                                         options.batch_size, size));
  }
  if (rest == 0) return {};
  if (options.overlap == Overlap::Delayed && options.last_batch == LastBatch::Keep) {
    return base::usage_error(
        fmt::format("--overlap delayed needs batches of one size; the last one has {}", rest),
        "use --last-batch drop");
  }
  if (options.last_batch == LastBatch::Drop) {
    if (speaks) {
      fmt::print(stderr, "note: {} of {} samples are excluded from each epoch\n", rest, size);
    }
    return {};
  }
  TrainOptions last = options;
  last.batch_size = rest;
  if (rest % last.micro_batches != 0) last.micro_batches = 1;
  last.lr_scale = LrScale::None;  // keeps the learning rate of a whole batch
  last.optimizer.scale = batch_scale(options);
  auto smaller = TrainingStep::sharing(last, *run.whole);
  if (!smaller) {
    base::Error error = smaller.error();
    error.message =
        fmt::format("the last batch of an epoch has {} samples: {}", rest, error.message);
    error.remedy = "use --last-batch drop, or a batch size that divides the data set";
    return base::failure(error);
  }
  run.last = std::move(*smaller);
  ++run.steps;
  return {};
}

base::Status prepare_test(const TrainOptions& options, PreparedRun& run, bool speaks) {
  auto evaluation = Evaluation::create(options, *run.whole, run.batches->test_size());
  if (!evaluation) return base::failure(evaluation.error());
  run.evaluation = std::move(*evaluation);
  if (run.evaluation->left_out() > 0 && speaks) {
    fmt::print(stderr,
               "note: {} of {} test samples are excluded: the layout does not divide them\n",
               run.evaluation->left_out(), run.batches->test_size());
  }
  return {};
}

}  // namespace

base::Result<PreparedRun> prepare_run(const TrainOptions& options, comm::Communicator& end) {
  const bool speaks = end.rank() == 0 && !options.quiet;
  Facts facts = facts_of(options);
  facts.emplace_back("--fixed-order", end.options().fixed_order ? "given" : "not given");
  if (auto s = same_options(end, facts); !s) return base::failure(s.error());
  auto step = build_step(options);
  if (!step) return base::failure(step.error());
  auto layout = choose(options, **step, end);
  if (!layout) return base::failure(layout.error());
  PreparedRun run;
  if (layout->stopped) {
    run.stopped = true;
    if (speaks) fmt::print(stderr, "stopped before the first step\n");
    return run;
  }
  run.predicted_s = layout->predicted_step_s;
  if (speaks) fmt::print("{}", layout->said);
  if (options.explain) {
    if (auto s = explain_plan(options, **step, *layout, speaks); !s)
      return base::failure(s.error());
    return run;
  }
  const auto device = resolve_device(options.device, end.local_rank());
  if (!device) return base::failure(device.error());
  run.memory = std::make_unique<DeviceMemory>(options.memory_limit_bytes, *device);
  auto laid_out = TrainingStep::create(options, std::move(*step), *layout, end, *run.memory);
  if (!laid_out) return base::failure(laid_out.error());
  run.whole = std::move(*laid_out);
  if (speaks) {
    for (const std::string& warning : run.whole->plan().warnings) {
      fmt::print(stderr, "warning: {}\n", warning);
    }
    const std::string memory = memory_warning(options, run.whole->plan());
    if (!memory.empty()) fmt::print(stderr, "warning: {}\n", memory);
  }
  // A rank that is fed more than its own part sends that part alone, when it uses it.
  const FedPart part = fed_part(run.whole->plan());
  const bool own = end.size() == 1 || part.parts > 1;
  auto batches = open_batches(options, part, own ? *device : c10::Device(c10::kCPU));
  if (!batches) return base::failure(batches.error());
  run.batches = std::move(*batches);
  if (auto s = count_steps(options, run, speaks); !s) return base::failure(s.error());
  if (auto s = prepare_test(options, run, speaks); !s) return base::failure(s.error());
  if (auto s = compare_plan_and_data(options, end, run); !s) return base::failure(s.error());
  return run;
}

}  // namespace goban::train::trainer
