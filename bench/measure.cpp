#include "bench/measure.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

namespace goban::bench {

Cost measure_in_child(const std::function<void()>& work) {
  const auto begin = std::chrono::steady_clock::now();
  std::fflush(nullptr);
  const pid_t child = fork();
  if (child == 0) {
    work();
    std::fflush(nullptr);
    _exit(0);
  }
  int status = 0;
  rusage used{};
  if (child < 0 || wait4(child, &status, 0, &used) != child || status != 0) {
    std::fprintf(stderr, "a measured run failed (status %d)\n", status);
    std::exit(1);
  }
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) * 1e-6;
  };
  const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - begin;
  return {seconds(used.ru_utime) + seconds(used.ru_stime), wall.count(),
          static_cast<double>(used.ru_maxrss) / 1024};
}

Cost median_of(int runs, const std::function<void()>& work) {
  std::vector<Cost> costs;
  for (int i = 0; i < runs; ++i) costs.push_back(measure_in_child(work));
  std::ranges::sort(costs, {}, &Cost::cpu_s);
  return costs[costs.size() / 2];
}

}  // namespace goban::bench
