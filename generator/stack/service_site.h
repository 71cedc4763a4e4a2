// The services of a spec become stages in the streams of the stack.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "generator/services/service.h"
#include "generator/stack/stack.h"

namespace rocegen::stack {

using spec::Attach;

/// Makes the services of the completed spec: reads their files, compiles their arithmetic, and tells the library.
/// Faults are diagnostics.
void make_services(Stack& stack, spec::Diagnostics& diagnostics);

/// Puts the stages in, and remembers what of them the rest of the stack has to be connected to.
class ServiceSite final : public services::Site {
 public:
  /// All must outlive the site.
  ServiceSite(Stack& stack, netlist::Builder& top, int low_latency, spec::Diagnostics& diagnostics)
      : stack_(stack), top_(top), low_latency_(low_latency), diagnostics_(diagnostics) {}

  /// Puts all stages of one attach point behind `source`; returns the stream of the last one.
  netlist::StreamRef chain(Attach point, const netlist::StreamRef& source);

  /// The parameters of svc_mask.
  netlist::Params mask_params() const;

  netlist::Builder& top() override { return top_; }
  const netlist::Library& library() const override { return stack_.library; }
  const spec::StackSpec& spec() const override { return stack_.spec; }
  int low_latency() const override { return low_latency_; }
  netlist::InstanceHandle stage(Attach point, std::string_view module, netlist::Params params,
                                const std::string& comment) override;
  netlist::InstanceHandle side(const std::string& suffix, std::string_view module, netlist::Params params,
                               const std::string& comment) override;
  netlist::InstanceHandle completions(const std::string& suffix, std::string_view module, netlist::Params params,
                                      const std::string& comment) override;
  void set_up(netlist::InstanceHandle instance) override { set_ups_.push_back(instance); }
  void erase(netlist::InstanceHandle instance) override { erasers_.push_back(instance); }
  void window(netlist::InstanceHandle instance) override { windows_.emplace_back(index_, instance); }
  void life(netlist::InstanceHandle instance) override { lives_.push_back(instance); }

  const std::vector<netlist::InstanceHandle>& set_ups() const { return set_ups_; }
  const std::vector<netlist::InstanceHandle>& erasers() const { return erasers_; }
  const std::vector<netlist::InstanceHandle>& lives() const { return lives_; }
  /// Stages of the completions, in their order.
  const std::vector<netlist::InstanceHandle>& completion_stages() const { return completions_; }
  /// Service and the instance that answers its window, by service.
  std::vector<std::pair<int, netlist::InstanceHandle>> windows() const;
  /// Name of a counter, from the instance and the port that it is counted at.
  std::string counter_name(const std::string& instance, const std::string& name) const;

 private:
  netlist::Params with_own(std::string_view module, netlist::Params params) const;
  netlist::InstanceHandle instance(const std::string& name, std::optional<Attach> point, std::string_view module,
                                   netlist::Params params, const std::string& comment);

  Stack& stack_;
  netlist::Builder& top_;
  int low_latency_;
  spec::Diagnostics& diagnostics_;
  int index_ = 0;  // service whose stages are put in
  netlist::StreamRef current_;
  std::vector<netlist::InstanceHandle> set_ups_, erasers_, lives_, completions_;
  std::vector<std::pair<int, netlist::InstanceHandle>> windows_;
};

}  // namespace rocegen::stack
