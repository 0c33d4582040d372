#include "train/mesh/program.hpp"

#include <c10/core/InferenceMode.h>
#include <c10/util/Exception.h>
#include <fmt/format.h>

#include "train/mesh/executor.hpp"

namespace goban::train::mesh {

struct Program::Impl {
  Impl(Variables& state, ProgramOptions wanted) : variables(state), options(std::move(wanted)) {}
  Variables& variables;
  ProgramOptions options;
  Plan plan;
  std::unique_ptr<Executor> executor;
};

Program::Program(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Program::~Program() = default;
const Plan& Program::plan() const { return impl_->plan; }

base::Result<std::unique_ptr<Program>> Program::create(Variables& variables,
                                                       ProgramOptions options) {
  auto impl = std::make_unique<Impl>(variables, std::move(options));
  const comm::Communicator& end = variables.end();
  const MeshShape& mesh = variables.mesh();
  if (mesh.devices() != end.size()) {
    return base::usage_error(fmt::format("the mesh \"{}\" has {} devices, but there are {} ranks",
                                         mesh.text(), mesh.devices(), end.size()),
                             "start one rank per device of the mesh");
  }
  std::vector<NodeId> roots;
  for (const Tensor& fetch : impl->options.fetches) roots.push_back(fetch.id());
  if (impl->options.gate >= 0) roots.push_back(impl->options.gate);
  if (impl->options.update) {
    for (const Assignment& assignment : variables.graph().assignments()) {
      roots.push_back(assignment.value);
      if (assignment.adam && assignment.adam->factor >= 0) roots.push_back(assignment.adam->factor);
    }
  }
  auto plan = lower(variables.graph(), roots, mesh, variables.rules(), end.rank(),
                    impl->options.micro_batches);
  if (!plan) return base::failure(plan.error());
  impl->plan = std::move(*plan);
  impl->executor = std::make_unique<Executor>(variables, variables.graph(), impl->plan);
  if (impl->options.overlap != Overlap::Off && impl->options.reducer != nullptr) {
    if (auto s = impl->executor->overlap(impl->options); !s) return base::failure(s.error());
  }
  return std::unique_ptr<Program>(new Program(std::move(impl)));
}

base::Result<std::vector<at::Tensor>> Program::run(const std::vector<Feeds>& feeds, uint64_t step) {
  const c10::InferenceMode no_gradients;
  if (feeds.size() != static_cast<size_t>(impl_->options.micro_batches)) {
    return base::usage_error(fmt::format("{} micro-batches were fed, expected {}", feeds.size(),
                                         impl_->options.micro_batches));
  }
  Executor& executor = *impl_->executor;
  try {
    for (size_t i = 0; i < feeds.size(); ++i) executor.run_inner(feeds[i], step, i);
    executor.run_outer(feeds.back(), step);
    std::vector<at::Tensor> out;
    for (const Tensor& fetch : impl_->options.fetches) {
      out.push_back(executor.whole(fetch.id()));
    }
    if (impl_->options.update) {
      const NodeId gate = impl_->options.gate;
      const bool open = gate < 0 || executor.whole(gate).item<double>() != 0;
      executor.assign(impl_->variables.graph().assignments(), open);
    }
    executor.clear();
    return out;
  } catch (const ExecutionStopped& stopped) {
    executor.clear();
    return base::failure(stopped.error);
  } catch (const c10::Error& error) {
    executor.clear();
    return base::failed(fmt::format("operation '{}': {}", executor.current_operation(),
                                    error.what_without_backtrace()));
  }
}

}  // namespace goban::train::mesh
