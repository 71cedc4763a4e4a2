# Library cells: each bench drives a top with one lane for each cell and parameter set.
set(lib templates/lib)
foreach(width 1 40 577)
  add_rtl_bench(NAME lib_streams_${width} TOP lib_streams BENCH tests/rtl/lib_streams_bench.cpp LABELS lib
    SOURCES ${lib}/stream_skid.sv ${lib}/stream_reg.sv ${lib}/stream_fifo.sv ${lib}/ram_sdp.sv tests/rtl/lib_streams.sv
    PARAMS Width=${width})
endforeach()
foreach(registered 0 1)
  add_rtl_bench(NAME lib_arbs_${registered} TOP lib_arbs BENCH tests/rtl/lib_arbs_bench.cpp LABELS lib
    SOURCES ${lib}/arb_grant.sv ${lib}/stream_arb.sv ${lib}/record_arb.sv tests/rtl/lib_arbs.sv
    PARAMS DataW=32 UserW=5 Registered=${registered})
endforeach()
add_rtl_bench(NAME lib_widths TOP lib_widths BENCH tests/rtl/lib_widths_bench.cpp LABELS lib
  SOURCES ${lib}/width_up.sv ${lib}/width_down.sv tests/rtl/lib_widths.sv
  PARAMS UserW=9)
add_rtl_bench(NAME lib_rams TOP lib_rams BENCH tests/rtl/lib_rams_bench.cpp LABELS lib
  SOURCES ${lib}/ram_sdp.sv ${lib}/ram_clear.sv tests/rtl/lib_rams.sv
  PARAMS Width=37)
add_rtl_bench(NAME lib_misc TOP lib_misc BENCH tests/rtl/lib_misc_bench.cpp LABELS lib
  SOURCES ${lib}/stream_fork.sv ${lib}/counter_bank.sv ${lib}/ram_sdp.sv ${lib}/byte_rotate.sv ${lib}/byte_rotate_level.sv tests/rtl/lib_misc.sv)
add_rtl_bench(NAME lib_cdc TOP lib_cdc BENCH tests/rtl/lib_cdc_bench.cpp LABELS lib
  SOURCES ${lib}/stream_cdc.sv ${lib}/sync_bit.sv ${lib}/sync_reset.sv tests/rtl/lib_cdc.sv
  PARAMS Width=40)
