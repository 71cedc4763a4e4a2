// The hand-off to Vivado: one Tcl script and the constraints that it reads.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "generator/outputs/outputs.h"

namespace rocegen::outputs {

namespace {

std::string write_clocks_xdc(const stack::Stack& stack) {
  std::string out = fmt::format(
      "# Clocks of {}, for out-of-context synthesis. In a design of your own the clocks come from there:\n"
      "# leave this file out and keep {}_cdc.xdc.\n",
      stack.spec.name, stack.spec.name);
  for (const netlist::Domain& domain : stack.design.top().domains)
    fmt::format_to(std::back_inserter(out), "create_clock -name {0} -period {1:.3f} [get_ports {0}]\n",
                   domain.clock_port(), 1000.0 / domain.mhz);
  return out;
}

std::string write_cdc_xdc(const stack::Stack& stack) {
  std::string out = fmt::format(
      "# Clock crossings of {}. Every crossing is a stream_cdc or a sync_* cell of the library, found by the names of\n"
      "# its registers: Gray pointers may not arrive further apart than one source period, synchronisers have no\n"
      "# timing at their first register, and FIFO words are stable long before they are read.\n",
      stack.spec.name);
  bool any = false;
  double fastest = 0;
  for (const netlist::Domain& domain : stack.design.top().domains) fastest = std::max(fastest, domain.mhz);
  for (const netlist::Instance& instance : stack.design.top().instances) {
    if (instance.interface.module != "stream_cdc") continue;
    any = true;
    const double period = 1000.0 / fastest;
    const auto path = [&](const char* from, const char* to) {
      fmt::format_to(std::back_inserter(out),
                     "set_max_delay -datapath_only {2:.3f} \\\n"
                     "  -from [get_cells -hierarchical -filter {{NAME =~ *{3}/{0}*}}] \\\n"
                     "  -to [get_cells -hierarchical -filter {{NAME =~ *{3}/{1}*}}]\n",
                     from, to, period, instance.name);
    };
    const auto skew = [&](const char* from, const char* to) {
      fmt::format_to(std::back_inserter(out),
                     "set_bus_skew {2:.3f} \\\n"
                     "  -from [get_cells -hierarchical -filter {{NAME =~ *{3}/{0}*}}] \\\n"
                     "  -to [get_cells -hierarchical -filter {{NAME =~ *{3}/{1}*}}]\n",
                     from, to, period, instance.name);
    };
    fmt::format_to(std::back_inserter(out), "\n# {}\n", instance.name);
    path("wr_gray_q_reg", "u_sync_wr/first_q_reg");
    skew("wr_gray_q_reg", "u_sync_wr/first_q_reg");
    path("rd_gray_q_reg", "u_sync_rd/first_q_reg");
    skew("rd_gray_q_reg", "u_sync_rd/first_q_reg");
    path("mem", "data_q_reg");
  }
  if (!any) out += "\n# This variant has one clock: nothing crosses.\n";
  return out;
}

std::string write_tcl(const stack::Stack& stack) {
  const spec::StackSpec& s = stack.spec;
  std::string out = fmt::format(
      "# Synthesis of {0} out of context, with utilisation and timing reports.\n"
      "#   vivado -mode batch -source vivado/create_project.tcl\n"
      "# Run it from anywhere: paths are taken from the place of this file. Results are in vivado/build.\n"
      "set name {0}\n"
      "set top {1}\n"
      "set part {2}\n"
      "set here [file dirname [file normalize [info script]]]\n"
      "set root [file dirname $here]\n"
      "set build [file join $here build]\n"
      "file mkdir $build\n\n"
      "# The one list of sources is filelist.f.\n"
      "set sources {{}}\n"
      "set include_dirs {{}}\n"
      "set list_file [open [file join $root filelist.f] r]\n"
      "while {{[gets $list_file line] >= 0}} {{\n"
      "  set line [string trim $line]\n"
      "  if {{$line eq \"\"}} {{ continue }}\n"
      "  if {{[string match \"+incdir+*\" $line]}} {{\n"
      "    lappend include_dirs [file join $root [string range $line 8 end]]\n"
      "  }} else {{\n"
      "    lappend sources [file join $root $line]\n"
      "  }}\n"
      "}}\n"
      "close $list_file\n\n",
      s.name, stack.design.top().name, s.target.part);
  if (s.target.vivado.mode == "project") {
    out +=
        "create_project $name $build -part $part -force\n"
        "add_files -norecurse $sources\n"
        "set_property include_dirs $include_dirs [current_fileset]\n"
        "set_property top $top [current_fileset]\n"
        "add_files -fileset constrs_1 -norecurse [list [file join $here ${name}_clocks.xdc] [file join $here "
        "${name}_cdc.xdc]]\n"
        "set_property USED_IN {synthesis implementation out_of_context} [get_files ${name}_clocks.xdc]\n"
        "set_property -name {STEPS.SYNTH_DESIGN.ARGS.MORE OPTIONS} -value {-mode out_of_context} -objects [get_runs "
        "synth_1]\n"
        "launch_runs synth_1\n"
        "wait_on_run synth_1\n"
        "if {[get_property PROGRESS [get_runs synth_1]] ne \"100%\"} { error \"synthesis of $name failed\" }\n"
        "open_run synth_1\n";
  } else {
    out +=
        "create_project -in_memory -part $part\n"
        "read_verilog -sv $sources\n"
        "read_xdc -mode out_of_context [file join $here ${name}_clocks.xdc]\n"
        "read_xdc [file join $here ${name}_cdc.xdc]\n"
        "synth_design -top $top -part $part -mode out_of_context -flatten_hierarchy rebuilt -include_dirs "
        "$include_dirs\n"
        "write_checkpoint -force [file join $build ${name}_synth.dcp]\n";
  }
  out +=
      "report_utilization -hierarchical -file [file join $build ${name}_utilization.rpt]\n"
      "report_timing_summary -file [file join $build ${name}_timing.rpt]\n"
      "report_cdc -file [file join $build ${name}_cdc.rpt]\n"
      "puts \"$name: reports are in $build\"\n";
  return out;
}

}  // namespace

void add_vivado(const stack::Stack& stack, FileSet& files) {
  const std::string& name = stack.spec.name;
  files.add("vivado/create_project.tcl", write_tcl(stack));
  files.add("vivado/" + name + "_clocks.xdc", write_clocks_xdc(stack));
  files.add("vivado/" + name + "_cdc.xdc", write_cdc_xdc(stack));
}

}  // namespace rocegen::outputs
