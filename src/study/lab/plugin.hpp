// Policies in shared libraries, by the interface of goban_lab.hpp.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "study/lab/goban_lab.hpp"
#include "study/lab/lab.hpp"

namespace goban::study::lab {

/// A policy of a plugin, for any number of runs.
struct PluginPolicy {
  PolicyText text;
  const goban_lab_policy* functions = nullptr;
};

/// A shared library with policies. It stays loaded until the program ends, since code of it may be
/// referred to.
class Plugin {
 public:
  /// Loads a library; its initialisers run. Errors: Failed if it cannot be loaded; BadData if it
  /// has no policies, was built for another version of the interface, or states something wrong of
  /// a policy.
  [[nodiscard]] static base::Result<Plugin> load(const std::string& path);
  /// The same from what a library exports. `path`: for messages.
  [[nodiscard]] static base::Result<Plugin> from(const goban_lab_plugin_info* info,
                                                 const std::string& path);

  [[nodiscard]] const std::vector<PluginPolicy>& policies() const { return policies_; }
  /// Null if there is no policy of this name.
  [[nodiscard]] const PluginPolicy* find(const std::string& name) const;

 private:
  std::vector<PluginPolicy> policies_;
};

/// The methods of a policy in one run. Each throws Fault with what the library says.
class PluginMethods final : public Methods {
 public:
  /// Throws Fault if the library cannot make an object.
  PluginMethods(const PluginPolicy& policy, const core::model::JobHistory& history, uint64_t seed);
  ~PluginMethods() override;
  PluginMethods(const PluginMethods&) = delete;
  PluginMethods& operator=(const PluginMethods&) = delete;

  void order(const JobRows& rows, std::span<double> keys) override;
  void preempt(const JobRows& rows, std::span<double> keys) override;
  void select(const JobRows& rows, int32_t free_gpus, std::vector<int64_t>& chosen) override;
  [[nodiscard]] bool place(const PlaceView& view, std::vector<int64_t>& gpus) override;
  void size(const SizeRows& rows, std::span<double> gpus) override;

 private:
  void check(const char* method, int32_t returned, JobId job, std::optional<TimeNs> now);

  const PluginPolicy& policy_;
  const core::model::JobHistory& history_;
  void* object_;
};

}  // namespace goban::study::lab
