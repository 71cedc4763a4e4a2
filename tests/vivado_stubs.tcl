# Runs a Vivado script or constraint file under tclsh: stand-ins for the commands that it may use, each with the options that
# the real one has (UG835). A command or an option that Vivado does not know fails, as it would there; files that
# are read must exist.
#   tclsh vivado_stubs.tcl SCRIPT
set ::options [dict create \
  create_project {-part -force -in_memory} add_files {-norecurse -fileset} set_property {-dict -name -value -objects} \
  get_files {} current_fileset {} get_runs {} get_property {} launch_runs {-jobs} wait_on_run {} open_run {} \
  read_verilog {-sv} read_xdc {-mode -unmanaged} \
  synth_design {-top -part -mode -flatten_hierarchy -include_dirs -generic -retiming} write_checkpoint {-force} \
  report_utilization {-hierarchical -file} report_timing_summary {-file} report_cdc {-file} \
  create_clock {-name -period} get_ports {} get_cells {-hierarchical -filter} \
  set_max_delay {-datapath_only -from -to} set_bus_skew {-from -to} set_false_path {-from -to}]
set ::calls 0
proc called {command arguments} {
  incr ::calls
  foreach word $arguments {
    if {[regexp {^-[a-z_]+$} $word] && $word ni [dict get $::options $command]} { error "$command: unknown option $word" }
  }
  if {$command in {read_verilog read_xdc add_files}} {
    foreach word $arguments {
      if {[string match -* $word] || $word in {out_of_context constrs_1}} { continue }
      foreach file $word { if {![file exists $file]} { error "$command: no file $file" } }
    }
  }
  # A finished run, as far as a script asks.
  if {$command eq "get_property"} { return "100%" }
  return $command
}
foreach command [dict keys $::options] { proc $command args "called $command \$args" }
proc unknown {args} { error "unknown command: [lindex $args 0]" }
set script [lindex $argv 0]
if {[catch {source $script} message]} {
  puts "$script: $message"
  exit 1
}
puts "$script: $::calls calls"
