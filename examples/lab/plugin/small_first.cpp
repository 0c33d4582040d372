// Least work first; waiting earns credit: the policy of examples/lab/small_first.py, in C++.
#include <goban_lab.hpp>

namespace {

struct SmallFirst {
  static constexpr const char* name = "small-first";
  static constexpr const char* parts = "easy-backfill";

  void order(const goban_lab::Jobs& jobs, double* keys) {
    for (size_t i = 0; i < jobs.count; ++i) {
      keys[i] = jobs.gpus[i] * jobs.estimate_s[i] - 10 * jobs.wait_s[i];
    }
  }

  bool place(const goban_lab::Place& view, int64_t* gpus) {
    return view.take_one_node(gpus) || view.take_lowest(gpus);
  }
};

}  // namespace

GOBAN_LAB_PLUGIN(SmallFirst)
