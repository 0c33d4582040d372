// Every elastic job gets the same share of the GPUs: the policy EqualShares of docs/lab.md, in C++.
#include <algorithm>
#include <goban_lab.hpp>

namespace {

struct EqualShares {
  static constexpr const char* name = "equal-shares";

  void size(const goban_lab::Sizes& view, int32_t* gpus) {
    const auto jobs = static_cast<int32_t>(view.count());
    const int32_t share = std::max(1, view.total_gpus / jobs);
    for (uint64_t row = 0; row < view.count(); ++row) {
      const int32_t most = view.levels(row).at_most(share);
      gpus[row] = most > 0 ? most : view.gpus_min[row];
    }
  }
};

}  // namespace

GOBAN_LAB_PLUGIN(EqualShares)
