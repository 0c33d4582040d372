/* A scheduling policy in C++ or C, outside of Goban: the interface between a shared library and
 * `goban simulate --plugin libmine.so`, or lab.plugin("libmine.so") of the Python package.
 *
 *     #include <goban_lab.hpp>
 *
 *     struct SmallFirst {
 *       static constexpr const char* name = "small-first";
 *       static constexpr const char* parts = "easy-backfill";
 *       void order(const goban_lab::Jobs& jobs, double* keys) {
 *         for (size_t i = 0; i < jobs.count; ++i) {
 *           keys[i] = jobs.gpus[i] * jobs.estimate_s[i] - 10 * jobs.wait_s[i];
 *         }
 *       }
 *     };
 *     GOBAN_LAB_PLUGIN(SmallFirst)
 *
 * The first half of this file is the C interface, the second writes it for a class. This header
 * needs no library and no other header of Goban. docs/lab.md describes the methods. */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* Of this interface. A library of another version is refused. 2: `size`, and steps of jobs. */
#define GOBAN_LAB_VERSION 2

#ifdef __cplusplus
extern "C" {
#endif

/* C has typedef and no namespaces.
 * NOLINTBEGIN(modernize-use-using, readability-identifier-naming) */

/* Jobs, an entry each in every column. Valid during the call. Times in seconds on the clock of the
 * trace. */
typedef struct goban_lab_jobs {
  uint64_t count;
  double now_s;       /* NaN where keys are computed once */
  int32_t free_gpus;  /* in `select`; else -1 */
  int32_t reserved;   /* 0 */
  const int32_t* job; /* number of the job in the trace */
  const int32_t* gpus;
  const int32_t* priority; /* larger is more urgent */
  const int32_t* user;     /* -1: unknown */
  const int32_t* starts;   /* launches so far */
  const int32_t* running;  /* 1: it runs; only policies with `preempt` see such jobs */
  const double* submit_s;
  const double* wait_s;
  const double* attained_s; /* time for which it has held its GPUs */
  const double* estimate_s; /* the walltime limit, else the mean of the user's earlier jobs */
  const double* limit_s;    /* 0: none */
  const double* duration_s; /* the true run time; null unless the policy is an oracle */
} goban_lab_jobs;

/* Jobs whose number of GPUs is to be chosen: the running elastic ones by arrival, then all that
 * wait in their order; a rigid job has one size. Valid during the call. */
typedef struct goban_lab_sizes {
  const goban_lab_jobs* jobs;
  int32_t total_gpus; /* free, or held by these jobs */
  int32_t reserved;   /* 0 */
  const int32_t* gpus_min;
  const int32_t* gpus_max;
  const double* steps_left; /* of a rigid job its estimate; inf: only the true run time tells */
  const double* deadline_s; /* inf: none */
  /* Row i can run on level_gpus[j] GPUs, at level_steps_per_s[j], for j from first_level[i] to
   * first_level[i + 1] - 1, numbers ascending: of the GPU model that it holds, else of any. */
  const uint64_t* first_level; /* count + 1 entries */
  const int32_t* level_gpus;
  const double* level_steps_per_s;
} goban_lab_sizes;

/* A job that is to be placed, and the GPUs that it may use. Valid during the call. */
typedef struct goban_lab_place {
  double now_s; /* when the job would start */
  int32_t job;
  int32_t gpus;
  int32_t priority;
  int32_t user;
  double submit_s;
  double estimate_s;
  double limit_s;
  double duration_s; /* -1 unless the policy is an oracle */
  uint32_t num_nodes;
  uint32_t num_gpus;
  const void* host; /* for the functions below */
  /* The number of free GPUs of a node; 0 if there is no such node. */
  uint32_t (*free_on_node)(const void* host, uint32_t node);
  /* 1: the GPU is free. */
  int32_t (*is_free)(const void* host, uint32_t gpu);
  /* Each writes `gpus` ids and returns 1, or returns 0: there are too few. */
  int32_t (*lowest)(const void* host, uint32_t gpus, int64_t* out);
  int32_t (*one_node)(const void* host, uint32_t gpus,
                      int64_t* out); /* the fullest that suffices */
  int32_t (*on_node)(const void* host, uint32_t node, uint32_t gpus, int64_t* out);
} goban_lab_place;

/* A policy. Functions that it lacks are null; parts by name stand in for them. Each run of the
 * simulator makes an object of its own, and several may run at once on threads: share nothing. */
typedef struct goban_lab_policy {
  const char* name;
  const char* parts;       /* joined by '+', as for goban simulate --policy; "" for the defaults */
  const char* when;        /* "event", "arrival", or an interval such as "360s" */
  int32_t places_anywhere; /* 1: `place` succeeds whenever enough GPUs are free */
  int32_t oracle;          /* 1: it sees true run times; results say so */
  void* (*create)(uint64_t seed); /* null: it failed */
  void (*destroy)(void* object);
  /* Each returns 0, or another number: error() then says what went wrong. */
  int32_t (*order)(void* object, const goban_lab_jobs* jobs, double* keys);
  int32_t (*preempt)(void* object, const goban_lab_jobs* jobs, double* keys);
  /* Writes at most jobs->count rows and their number. */
  int32_t (*select)(void* object, const goban_lab_jobs* jobs, int64_t* rows, uint64_t* num_rows);
  /* Writes view->gpus ids; `placed` 0: not now. */
  int32_t (*place)(void* object, const goban_lab_place* view, int64_t* gpus, int32_t* placed);
  /* Writes a number of GPUs for each row, one of its levels; 0, which stands there before: the job
   * waits, or is stopped. */
  int32_t (*size)(void* object, const goban_lab_sizes* view, int32_t* gpus);
  const char* (*error)(void* object);
} goban_lab_policy;

/* What a library exports as goban_lab_plugin(). The version comes first in all versions. */
typedef struct goban_lab_plugin_info {
  uint32_t version;      /* GOBAN_LAB_VERSION of the header that it was built with */
  uint32_t policy_bytes; /* sizeof(goban_lab_policy) */
  uint64_t num_policies;
  const goban_lab_policy* policies;
} goban_lab_plugin_info;
/* NOLINTEND(modernize-use-using, readability-identifier-naming) */

#ifdef __cplusplus
} /* extern "C" */

#include <exception>
#include <string>
#include <type_traits>

namespace goban_lab {

using Jobs = goban_lab_jobs;

/// A job that is to be placed. Functions return true and write `gpus` ids if there are enough.
struct Place : goban_lab_place {
  [[nodiscard]] uint32_t on_node_free(uint32_t node) const { return free_on_node(host, node); }
  [[nodiscard]] bool free(uint32_t gpu) const { return is_free(host, gpu) != 0; }
  bool take_lowest(int64_t* out) const { return lowest(host, count(), out) != 0; }
  bool take_one_node(int64_t* out) const { return one_node(host, count(), out) != 0; }
  bool take_on_node(uint32_t node, int64_t* out) const {
    return on_node(host, node, count(), out) != 0;
  }

 private:
  [[nodiscard]] uint32_t count() const { return static_cast<uint32_t>(gpus); }
};

/// Jobs whose number of GPUs is to be chosen.
struct Sizes : goban_lab_sizes {
  /// The numbers of GPUs on which a job can run, ascending, and its speed on each.
  struct Levels {
    uint64_t count;
    const int32_t* gpus;
    const double* steps_per_s;

    /// The greatest number up to `most`; 0 if there is none.
    [[nodiscard]] int32_t at_most(int32_t most) const {
      int32_t best = 0;
      for (uint64_t i = 0; i < count && gpus[i] <= most; ++i) best = gpus[i];
      return best;
    }
  };

  [[nodiscard]] uint64_t count() const { return jobs->count; }
  [[nodiscard]] Levels levels(uint64_t row) const {
    const uint64_t first = first_level[row];
    return {first_level[row + 1] - first, level_gpus + first, level_steps_per_s + first};
  }
};

namespace detail {

/// The policy's object, and its last error.
template <typename Policy>
struct Object {
  Policy policy;
  std::string error;

  template <typename Call>
  int32_t run(const Call& call) {
    try {
      call(policy);
      return 0;
    } catch (const std::exception& problem) {
      error = problem.what();
    } catch (...) {
      error = "an exception that is no std::exception";
    }
    return 1;
  }
};

template <typename Policy>
void* create(uint64_t seed) {
  try {
    // An aggregate would take the seed for its first member.
    if constexpr (!std::is_aggregate_v<Policy> && requires { Policy(seed); }) {
      return new Object<Policy>{Policy(seed), {}};
    } else {
      return new Object<Policy>{Policy{}, {}};
    }
  } catch (...) {
    return nullptr;
  }
}

template <typename Policy>
goban_lab_policy describe() {
  using Held = Object<Policy>;
  goban_lab_policy out{};
  out.name = Policy::name;
  out.parts = "";
  out.when = "event";
  if constexpr (requires { Policy::parts; }) out.parts = Policy::parts;
  if constexpr (requires { Policy::when; }) out.when = Policy::when;
  if constexpr (requires { Policy::places_anywhere; })
    out.places_anywhere = Policy::places_anywhere;
  if constexpr (requires { Policy::oracle; }) out.oracle = Policy::oracle;
  out.create = create<Policy>;
  out.destroy = [](void* object) { delete static_cast<Held*>(object); };
  out.error = [](void* object) { return static_cast<Held*>(object)->error.c_str(); };
  if constexpr (requires { &Policy::order; }) {
    out.order = [](void* object, const goban_lab_jobs* jobs, double* keys) {
      return static_cast<Held*>(object)->run([&](Policy& p) { p.order(*jobs, keys); });
    };
  }
  if constexpr (requires { &Policy::preempt; }) {
    out.preempt = [](void* object, const goban_lab_jobs* jobs, double* keys) {
      return static_cast<Held*>(object)->run([&](Policy& p) { p.preempt(*jobs, keys); });
    };
  }
  if constexpr (requires { &Policy::select; }) {
    out.select = [](void* object, const goban_lab_jobs* jobs, int64_t* rows, uint64_t* num_rows) {
      return static_cast<Held*>(object)->run([&](Policy& p) { *num_rows = p.select(*jobs, rows); });
    };
  }
  if constexpr (requires { &Policy::place; }) {
    out.place = [](void* object, const goban_lab_place* view, int64_t* gpus, int32_t* placed) {
      return static_cast<Held*>(object)->run([&](Policy& p) {
        const Place given{*view};
        *placed = p.place(given, gpus) ? 1 : 0;
      });
    };
  }
  if constexpr (requires { &Policy::size; }) {
    out.size = [](void* object, const goban_lab_sizes* view, int32_t* gpus) {
      return static_cast<Held*>(object)->run([&](Policy& p) { p.size(Sizes{*view}, gpus); });
    };
  }
  return out;
}

}  // namespace detail
}  // namespace goban_lab

/// Exports these classes as policies. Each has `name`, any of `parts`, `when`, `places_anywhere`
/// and `oracle` as static constexpr members, and any of the methods
///
///     void order(const goban_lab::Jobs& jobs, double* keys);
///     void preempt(const goban_lab::Jobs& jobs, double* keys);
///     uint64_t select(const goban_lab::Jobs& jobs, int64_t* rows);   // the number of rows
///     bool place(const goban_lab::Place& view, int64_t* gpus);
///     void size(const goban_lab::Sizes& view, int32_t* gpus);
///
/// An object is made for each run, by Policy(uint64_t seed) if there is such a constructor.
#define GOBAN_LAB_PLUGIN(...)                                                                      \
  namespace {                                                                                      \
  template <typename... Policies>                                                                  \
  const goban_lab_plugin_info* goban_lab_info_of() {                                               \
    static const goban_lab_policy policies[] = {goban_lab::detail::describe<Policies>()...};       \
    static const goban_lab_plugin_info info = {GOBAN_LAB_VERSION, sizeof(goban_lab_policy),        \
                                               sizeof...(Policies), policies};                     \
    return &info;                                                                                  \
  }                                                                                                \
  }                                                                                                \
  extern "C" __attribute__((visibility("default"))) const goban_lab_plugin_info* goban_lab_plugin( \
      void) {                                                                                      \
    return goban_lab_info_of<__VA_ARGS__>();                                                       \
  }
#endif /* __cplusplus */
