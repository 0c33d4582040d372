#include "train/trainer/sweep.hpp"

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <mutex>
#include <numeric>
#include <optional>
#include <set>
#include <thread>

#include "base/counted.hpp"
#include "base/files.hpp"
#include "base/number.hpp"
#include "train/mesh/layout.hpp"
#include "train/trainer/batches.hpp"
#include "train/trainer/folder_lock.hpp"
#include "train/trainer/run_files.hpp"
#include "train/trainer/same_on_ranks.hpp"
#include "train/trainer/stopping.hpp"
#include "train/trainer/sweep_files.hpp"
#include "train/trainer/sweep_folder.hpp"
#include "train/trainer/sweep_report.hpp"

namespace goban::train::trainer {
namespace {

namespace fs = std::filesystem;

/// The layout with the two axes of the mesh exchanged.
base::Result<std::string> turned(const std::string& layout, const std::string& mesh_text) {
  const auto mesh = mesh::MeshShape::parse(mesh_text);
  if (!mesh) return base::failure(mesh.error());
  auto rules = mesh::LayoutRules::parse(layout);
  if (!rules) return base::failure(rules.error());
  if (mesh->axes().size() != 2) {
    return base::usage_error(
        fmt::format("--both-orientations requires a mesh with two axes, not \"{}\"", mesh_text),
        "--mesh \"rows:2;cols:2\" --layout \"batch:rows;hidden1:cols\"");
  }
  const std::string& first = mesh->axes()[0].name;
  const std::string& second = mesh->axes()[1].name;
  for (auto& [dimension, axis] : rules->rules) {
    axis = axis == first ? second : axis == second ? first : axis;
  }
  return rules->text();
}

/// What all ranks must have in common.
Facts facts_of_sweep(const SweepOptions& o) {
  Facts out = facts_of(o.train);
  std::vector<int> controls;
  for (const Control each : o.controls) controls.push_back(static_cast<int>(each));
  const auto set = [&](const std::string& name, const std::string& value) {
    const auto found = std::ranges::find(out, name, &Facts::value_type::first);
    if (found == out.end()) return out.emplace_back(name, value), void();
    found->second = value;
  };
  set("--batch-size", fmt::format("{}", fmt::join(o.batch_sizes, ",")));
  set("--hidden", fmt::format("{}", fmt::join(o.hidden, ",")));
  set("--layout", fmt::format("{}", fmt::join(o.layouts, " and ")));
  set("--learning-rate", fmt::format("{}", fmt::join(o.learning_rates, ",")));
  set("--seeds", std::to_string(o.seeds));
  set("--layout-seeds", std::to_string(o.layout_seeds));
  set("--both-orientations", fmt::format("{}", o.both_orientations));
  set("--controls (numbers)", fmt::format("{}", fmt::join(controls, ",")));
  return out;
}

class Sweep {
 public:
  Sweep(const SweepOptions& options, const Launcher& launcher)
      : options_(options), launcher_(launcher) {}

  base::Result<SweepResult> run() {
    if (auto s = launcher_.same(facts_of_sweep(options_)); !s) return base::failure(s.error());
    const auto points = grid_of(options_);
    if (!points) return base::failure(points.error());
    if (options_.jobs > 1 && !launcher_.several_at_once) {
      return base::usage_error("--jobs starts the ranks of each run as threads",
                               "run the sweep without mpirun, or without --jobs");
    }
    if (options_.train.task != "lm" && names_shards(options_.train.data_dir)) {
      return base::usage_error("--data: a sweep trains on the data sets of a folder, not on shards",
                               "name the folder of mnist or fashion");
    }
    const auto data = open_batches(options_.train);
    if (!data) return base::failure(data.error());
    samples_ = (*data)->train_size();
    of_data_ = facts_of(**data);
    // All processes continue or none: the first one checks whether the folder belongs to this
    // sweep.
    base::Status folder;
    if (launcher_.first) folder = claim();
    const auto go = launcher_.agree(folder.has_value());
    if (!go) return base::failure(go.error());
    if (!*go) {
      return folder ? base::usage_error("the first rank rejected the sweep's folder")
                    : base::failure(folder.error());
    }
    SweepResult result;
    if (auto s = run_all(*points, result.runs); !s) return base::failure(s.error());
    result.stopped = stopped_;
    const base::Status trained = some_trained(result.runs);  // equal on all processes
    if (!launcher_.first && !trained) return base::failure(trained.error());
    if (!launcher_.first) return result;
    if (stopped_) {
      fmt::print(stderr,
                 "stopped with {} of {} runs complete; the same command resumes the sweep\n",
                 std::ranges::count_if(result.runs, &SweepRun::complete), points->size());
    }
    if (trained) {
      if (auto s = search_largest(result); !s) return base::failure(s.error());
    }
    if (auto s = write_sweep_files(options_, launcher_.ranks, result); !s) {
      return base::failure(s.error());
    }
    if (!trained) return base::failure(trained.error());
    return result;
  }

 private:
  /// Runs all points, or those that begin before a stop; `runs` has them in the order of the
  /// points.
  base::Status run_all(const std::vector<SweepPoint>& points, std::vector<SweepRun>& runs) {
    std::vector<size_t> order(points.size());
    std::iota(order.begin(), order.end(), size_t{0});
    if (options_.jobs > 1) {
      std::ranges::stable_sort(order, {}, [&](size_t i) { return points[i].batch; });
    }
    std::vector<std::optional<SweepRun>> done(points.size());
    std::mutex mutex;  // of what follows
    size_t begun = 0;
    base::Status failure;
    const auto work = [&] {
      while (true) {
        size_t number = 0;
        {
          const std::scoped_lock lock(mutex);
          if (begun == order.size() || stopped_ || !failure) return;
          number = order[begun++];
        }
        auto one = one_run(points[number], number + 1, points.size());
        const std::scoped_lock lock(mutex);
        if (one) {
          done[number] = std::move(*one);
        } else if (failure) {
          failure = base::failure(one.error());
          if (options_.jobs > 1) stop_requested = true;
        }
      }
    };
    {
      std::vector<std::jthread> others;
      for (int i = 1; i < options_.jobs; ++i) others.emplace_back(work);
      work();
    }
    if (!failure) return failure;
    for (auto& each : done) {
      if (each) runs.push_back(std::move(*each));
    }
    return {};
  }

  /// Checks that the folder is of this sweep and reserves it.
  base::Status claim() {
    if (auto s = claim_folder(options_, of_data_); !s) return s;
    auto lock = FolderLock::take(options_.out, "--out");
    if (!lock) return base::failure(lock.error());
    lock_ = std::move(*lock);
    return {};
  }

  /// The mark of a run that diverged; empty if there is none. Equal on all processes but for the
  /// text, which the first one has.
  base::Result<std::string> divergence(const TrainOptions& train) const {
    const auto mark = launcher_.first ? base::read_small_file(divergence_mark(train.out))
                                      : base::Result<std::string>("");
    const auto marked = launcher_.agree(mark.has_value());
    if (!marked) return base::failure(marked.error());
    if (!*marked) return std::string();
    std::string text = "diverged: " + mark.value_or("");
    while (text.ends_with('\n')) text.pop_back();
    return text + " (remove its folder '" + train.out + "' to train it again)";
  }

  base::Result<SweepRun> one_run(const SweepPoint& point, size_t number, size_t all) {
    SweepRun out;
    out.point = point;
    TrainOptions train = options_of(options_, point, samples_);
    const auto expected = static_cast<size_t>(options_.train.epochs);
    auto diverged = divergence(train);
    if (!diverged) return base::failure(diverged.error());
    if (!diverged->empty()) return not_completed(std::move(out), *diverged);
    for (int attempt = 0; attempt < 3; ++attempt) {
      if (launcher_.first) {
        auto rows = read_metrics(train.out + "/metrics.csv");
        if (!rows) return base::failure(rows.error());
        out.rows = std::move(*rows);
      }
      const auto complete = launcher_.agree(out.rows.size() >= expected);
      if (!complete) return base::failure(complete.error());
      if (*complete) {
        out.rows.resize(launcher_.first ? expected : 0);
        out.complete = true;
        return out;
      }
      if (attempt == 1 && launcher_.first) {
        // The run is finished but lines are missing: it was interrupted between a checkpoint and
        // its line.
        fmt::print(stderr, "  '{}' has incomplete metrics; training again\n", train.out);
        std::error_code error;
        fs::remove_all(train.out, error);
      }
      say(point, number, all);
      const auto trained = launcher_.train(train);
      if (!trained && trained.error().code == base::ErrorCode::Usage) {
        return not_completed(std::move(out), trained.error().text());
      }
      if (!trained) {
        diverged = divergence(train);
        if (!diverged || diverged->empty()) return base::failure(trained.error());
        return not_completed(std::move(out), *diverged);
      }
      // A process may have received a signal after the run's last agreement.
      const auto stop = launcher_.any(stop_requested);
      if (!stop) return base::failure(stop.error());
      if (*stop) stopped_ = true;
      if (*stop) return out;
    }
    return base::failed(fmt::format("'{}' has {} of {} lines of metrics, even after training again",
                                    train.out, out.rows.size(), expected),
                        "check that no other process uses the folder");
  }

  static base::Status some_trained(const std::vector<SweepRun>& runs) {
    const bool is_none =
        std::ranges::none_of(runs, [](const SweepRun& run) { return run.refused.empty(); });
    if (!is_none || runs.empty()) return {};
    return base::usage_error("none of the runs could be trained: " + runs.front().refused);
  }

  SweepRun not_completed(SweepRun run, const std::string& why) const {
    run.refused = why;
    if (launcher_.first) fmt::print(stderr, "  not completed: {}\n", why);
    return run;
  }

  void say(const SweepPoint& p, size_t number, size_t all) const {
    if (!launcher_.first) return;
    fmt::print(stderr, "run {}/{}: {} batch {} hidden {} layout \"{}\" learning rate {} seed {}\n",
               number, all, control_name(p.control), p.batch, p.hidden, p.layout, p.learning_rate,
               p.seed);
  }

  base::Status search_largest(SweepResult& result) const {
    if (options_.largest_limit_bytes == 0 || options_.train.task == "lm") return {};
    std::vector<Largest> known = read_largest(options_);
    LargestOptions wanted;
    wanted.train = options_.train;
    wanted.train.hidden = options_.hidden.front();
    wanted.train.layout = wanted.train.mesh = "";
    wanted.train.memory_limit_bytes = options_.largest_limit_bytes;
    const std::set<int> asked(options_.largest_ranks.begin(), options_.largest_ranks.end());
    for (const int ranks : asked) {
      if (result.stopped) break;
      if (std::ranges::find(known, ranks, &Largest::ranks) != known.end()) continue;
      fmt::print(stderr, "largest batch on {} within {} bytes per device\n",
                 base::counted(ranks, "rank"), options_.largest_limit_bytes);
      wanted.ranks = {ranks};
      auto largest = find_largest(wanted);
      if (!largest) return base::failure(largest.error());
      result.stopped = stop_requested;
      if (result.stopped) {
        fmt::print(stderr,
                   "stopped in the search for the largest batch; the same command resumes the "
                   "sweep\n");
        break;
      }
      known.insert(known.end(), largest->begin(), largest->end());
      if (auto s = write_largest(options_, known); !s) return s;
    }
    for (Largest& each : known) {
      if (asked.contains(each.ranks)) result.largest.push_back(std::move(each));
    }
    std::ranges::sort(result.largest, {}, &Largest::ranks);
    return {};
  }

  const SweepOptions& options_;
  const Launcher& launcher_;
  std::optional<FolderLock> lock_;
  int64_t samples_ = 0;
  Facts of_data_;
  std::atomic<bool> stopped_ = false;  // by a signal; equal on all processes
};

}  // namespace

const char* control_name(Control control) {
  switch (control) {
    case Control::Plain:
      return "plain";
    case Control::EqualSteps:
      return "equal-steps";
    case Control::EqualSchedule:
      return "equal-schedule";
  }
  return "";
}

int64_t largest_batch(const SweepOptions& options) {
  return *std::max_element(options.batch_sizes.begin(), options.batch_sizes.end());
}

base::Result<std::vector<SweepPoint>> grid_of(const SweepOptions& options) {
  if (options.batch_sizes.empty() || options.hidden.empty() || options.layouts.empty() ||
      options.learning_rates.empty() || options.seeds < 1) {
    return base::usage_error(
        "the grid is empty: each list must have at least one value, and --seeds must be >= 1");
  }
  std::vector<std::string> layouts;
  for (const std::string& layout : options.layouts) {
    layouts.push_back(layout);
    if (!options.both_orientations) continue;
    auto other = turned(layout, options.train.mesh);
    if (!other) return base::failure(other.error());
    layouts.push_back(*other);
  }
  std::vector<Control> controls = {Control::Plain};
  for (const Control control : options.controls) {
    // Only Adafactor's rate decreases; other schedules are equal anyway.
    const bool falls = options.train.optimizer.kind == mesh::OptimizerOptions::Kind::Adafactor;
    if (control == Control::EqualSchedule && !falls) continue;
    if (std::find(controls.begin(), controls.end(), control) == controls.end()) {
      controls.push_back(control);
    }
  }
  std::vector<SweepPoint> points;
  const int64_t largest = largest_batch(options);
  for (const Control control : controls) {
    for (const double rate : options.learning_rates) {
      if (control == Control::EqualSchedule && rate != 0) continue;
      for (const int64_t hidden : options.hidden) {
        for (const std::string& layout : layouts) {
          for (const int64_t batch : options.batch_sizes) {
            // The largest batch is its own control.
            if (control != Control::Plain && batch == largest) continue;
            const bool fewer = options.layout_seeds > 0 && layout != layouts.front();
            const int seeds = fewer ? options.layout_seeds : options.seeds;
            for (int seed = 1; seed <= seeds; ++seed) {
              const auto number = options.train.seed + static_cast<uint64_t>(seed - 1);
              const SweepPoint point{control, batch, hidden, layout, rate, number};
              if (std::find(points.begin(), points.end(), point) == points.end()) {
                points.push_back(point);
              }
            }
          }
        }
      }
    }
  }
  return points;
}

TrainOptions options_of(const SweepOptions& options, const SweepPoint& point, int64_t samples) {
  TrainOptions out = options.train;
  out.batch_size = point.batch;
  out.hidden = point.hidden;
  out.layout = point.layout;
  out.seed = point.seed;
  out.optimizer.learning_rate = point.learning_rate;
  out.quiet = true;
  const int64_t largest = largest_batch(options);
  if (point.control == Control::EqualSteps) {
    const bool keep = out.last_batch == LastBatch::Keep;
    out.evaluate_every = (samples + (keep ? largest - 1 : 0)) / largest;
    out.most_steps = out.epochs * out.evaluate_every;
  }
  if (point.control == Control::EqualSchedule) {
    out.optimizer.schedule_scale = static_cast<double>(point.batch) / static_cast<double>(largest);
  }
  std::string layout = point.layout.empty() ? "whole" : point.layout;
  for (char& c : layout) {
    if (c == ':') c = '-';
    if (c == ';') c = '_';
  }
  out.out = fmt::format("{}/runs/{}-batch{}-hidden{}-{}-rate{}-seed{}", options.out,
                        control_name(point.control), point.batch, point.hidden, layout,
                        base::number_text(point.learning_rate), point.seed);
  out.checkpoint = out.out;
  return out;
}

base::Result<SweepResult> run_sweep(const SweepOptions& options, const Launcher& launcher) {
  return Sweep(options, launcher).run();
}

}  // namespace goban::train::trainer
