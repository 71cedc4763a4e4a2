// Services on the packet path: what a type of service is to the rest of the generator. docs/services.md says how one is
// written; the records and streams of the attach points are those of templates/services and roce_pkg.
//
// A new type: a class derived from ServiceType in a folder of its own, and one line in types.cpp.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "generator/netlist/ir.h"
#include "generator/outputs/registers.h"
#include "generator/spec/diagnostic.h"
#include "generator/spec/schema.h"
#include "generator/spec/spec.h"

namespace rocegen::services {

using spec::Attach;

/// A module whose text the generator writes for a service.
struct ModuleText {
  std::string name;
  std::string text;
  int latency = 0;  ///< clock cycles from input to output; 0 when combinational or not fixed
  int levels = 0;   ///< estimated LUT6 levels of the deepest stage; 0 where nothing was estimated
};

/// A file that the user gave: its text goes into the output as it is.
struct UserFile {
  std::string shown;  ///< path for messages, as the library knows it
  std::string path;   ///< in the output: "rtl/xor_mask.sv"
  std::string text;
};

/// A register of a service, in its window: `address` counts from the window's first byte (0..0xFFC).
using WindowRegister = outputs::Register;

/// How a service puts its modules into the stack.
class Site {
 public:
  virtual ~Site() = default;

  virtual netlist::Builder& top() = 0;
  virtual const netlist::Library& library() const = 0;
  virtual const spec::StackSpec& spec() const = 0;
  /// Parameter LowLatency of this variant.
  virtual int low_latency() const = 0;
  /// Adds a stage of the stream at `point`: an instance of a module with the streams s_pkt and m_pkt. It gets DataW,
  /// QpCount and Index beside `params`, as far as the module has them. Call it once a stage, in the order in which the
  /// service's data passes; stages of later entries follow (at egress: precede).
  virtual netlist::InstanceHandle stage(Attach point, std::string_view module, netlist::Params params,
                                        const std::string& comment) = 0;
  /// Adds an instance that stands in no stream (tables that two stages share).
  virtual netlist::InstanceHandle side(const std::string& suffix, std::string_view module, netlist::Params params,
                                       const std::string& comment) = 0;
  /// Adds a stage of the completions on their way to the host: an instance of a module with the streams s_cqe and
  /// m_cqe. It gets QpCount and Index beside `params`, as far as the module has them.
  virtual netlist::InstanceHandle completions(const std::string& suffix, std::string_view module,
                                              netlist::Params params, const std::string& comment) = 0;
  /// The instance has the stream s_cfg: it gets every set-up and change of a queue pair.
  virtual void set_up(netlist::InstanceHandle instance) = 0;
  /// The instance has the stream s_cfg: it gets every set-up before anything else of the stack is of the new life, and
  /// every change to RESET when all else is done with it; it takes them without waiting for any other module.
  virtual void erase(netlist::InstanceHandle instance) = 0;
  /// The instance has the pins ctl_*: it answers the service's register window. At most one a service.
  virtual void window(netlist::InstanceHandle instance) = 0;
  /// The instance has the pin life_i (valid with its s_cfg).
  virtual void life(netlist::InstanceHandle instance) = 0;
};

/// One entry of `services`, ready to become hardware.
class Service {
 public:
  virtual ~Service() = default;
  /// Modules that were compiled for this entry. Names are unique in the stack: begin with the entry's name.
  virtual std::vector<ModuleText> modules() const { return {}; }
  /// Files that the user gave.
  virtual std::vector<UserFile> files() const { return {}; }
  /// Called once when the library knows modules() and files(): looks at what was read. Faults are diagnostics.
  virtual void link(const spec::StackSpec& /*spec*/, const netlist::Library& /*library*/,
                    spec::Diagnostics& /*diagnostics*/) {}
  /// Registers of its window, named within the service; empty: it has none.
  virtual std::vector<WindowRegister> registers() const { return {}; }
  /// Called once for each attach point, after link(): puts the stages in.
  virtual void attach(Attach point, Site& site) const = 0;
  /// Cycles that a packet spends more at this point, from its first beat in to its first beat out, when nothing
  /// waits; for documents.
  virtual int latency(Attach point) const = 0;
};

/// A type of service.
class ServiceType {
 public:
  virtual ~ServiceType() = default;
  /// The word in "type".
  virtual std::string_view name() const = 0;
  /// A sentence or two for the reference.
  virtual std::string_view doc() const = 0;
  /// Its keys beside type and name: pointers within the entry ("/module"), groups before their members; below a list
  /// of objects "/columns" the object itself is "/columns/*" (Kind::object), its members "/columns/*/name".
  virtual std::vector<spec::Field> fields() const = 0;
  /// At most one entry of this type.
  virtual bool once() const { return false; }
  /// Where the entry takes packets.
  virtual std::vector<Attach> attach(const spec::ServiceSpec& entry) const = 0;
  /// Bytes that it appends at egress and takes off at ingress; a multiple of 4.
  virtual int trailer(const spec::ServiceSpec& /*entry*/) const { return 0; }
  /// Checks what a table of fields cannot say, also against the rest of the spec (which is complete, its services all
  /// read): orders that cannot be, files that are not there. Places come from the entry: entry.place("/files/0").
  virtual void check(const spec::StackSpec& /*spec*/, std::size_t /*index*/, spec::Diagnostics& /*diagnostics*/) const {
  }
  /// Reads the entry's files and compiles its arithmetic. Faults are diagnostics; then nothing is returned.
  virtual std::unique_ptr<Service> make(const spec::StackSpec& spec, std::size_t index,
                                        spec::Diagnostics& diagnostics) const = 0;
};

/// All types, in the order of the reference.
std::span<const ServiceType* const> types();
/// The type of this name, or null.
const ServiceType* find_type(std::string_view name);
/// All keys of a type's entry: the entry itself (pointer ""), type, name and its own.
std::vector<spec::Field> fields_of(const ServiceType& type);

/// Beats of the ingress buffer: three of the longest payloads, a power of two, at least a block RAM's depth.
int ingress_buffer_beats(const spec::StackSpec& spec);

}  // namespace rocegen::services
