# Control side: the register block of variants from no counter to hundreds, the event queue, the stall watch. control_gen
# writes csr.sv at build time, and the register map that it was made from as a C++ table for the bench.
add_executable(control_gen rtl/control_gen.cpp)
target_link_libraries(control_gen PRIVATE rocegen_core rocegen_flags)

function(add_csr_bench counters data_width qps mrs slots clock_mhz clock_khz ttl tos hash)
  if(NOT ROCEGEN_RTL_TESTS)
    return()
  endif()
  set(dir ${CMAKE_CURRENT_BINARY_DIR}/control/csr_${counters})
  add_custom_command(OUTPUT ${dir}/csr.sv ${dir}/csr_map.h
    COMMAND control_gen ${dir} ${counters} ${data_width} ${qps} ${mrs} ${slots} ${clock_mhz} ${ttl} ${tos} ${hash}
    DEPENDS control_gen COMMENT "csr with ${counters} counters" VERBATIM)
  # The bench gets the numbers from here, not from the generator that it checks.
  file(CONFIGURE OUTPUT ${dir}/bench.cpp CONTENT "#define V_COUNTERS ${counters}U
#define V_DATA_WIDTH ${data_width}U
#define V_QPS ${qps}U
#define V_MRS ${mrs}U
#define V_SLOTS ${slots}U
#define V_CLOCK_KHZ ${clock_khz}U
#define V_TTL ${ttl}U
#define V_TOS ${tos}U
#define V_SPEC_HASH 0x${hash}U
#include \"${dir}/csr_map.h\"
#include \"tests/rtl/control_csr.cpp\"
")
  add_rtl_bench(NAME control_csr_${counters} TOP csr BENCH ${dir}/bench.cpp LABELS control
    SOURCES templates/net/roce_pkg.sv ${dir}/csr.sv
    DEPENDS ${dir}/csr_map.h ${PROJECT_SOURCE_DIR}/tests/rtl/control_csr.cpp)
  if(YOSYS)
    add_test(NAME rtl.control_csr_${counters}_yosys
      COMMAND ${YOSYS} -q -e "implicitly declared|conflicting drivers|out of bounds"
              -p "read_verilog -sv ${PROJECT_SOURCE_DIR}/templates/net/roce_pkg.sv ${dir}/csr.sv; hierarchy -check -top csr; proc; check -assert")
    set_tests_properties(rtl.control_csr_${counters}_yosys PROPERTIES LABELS "rtl;control")
  endif()
endfunction()
#             counters width qps   mrs   slots clock  kHz     ttl tos hash
add_csr_bench(0        64    1     1     16    156.25 156250  1   255 ffffffff)
add_csr_bench(1        128   37    64    256   200    200000  64  0   00000001)
add_csr_bench(80       512   500   300   8192  250    250000  64  106 0badcafe)
add_csr_bench(300      1024  16384 65536 65536 322.265625 322266 255 2 80000000)

set(fifo templates/lib/stream_fifo.sv templates/lib/stream_skid.sv templates/lib/ram_sdp.sv)
foreach(depth 2 5 64)
  add_rtl_bench(NAME control_event_queue_${depth} TOP event_queue BENCH tests/rtl/control_event_queue.cpp LABELS control
    SOURCES templates/net/roce_pkg.sv ${fifo} templates/host/event_queue.sv PARAMS Depth=${depth})
endforeach()

foreach(shape "64 2" "128 3" "512 256" "1024 65535")
  separate_arguments(shape)
  list(GET shape 0 width)
  list(GET shape 1 cycles)
  add_rtl_bench(NAME control_stall_watch_${width} TOP stall_watch BENCH tests/rtl/control_stall_watch.cpp LABELS control
    SOURCES templates/net/stall_watch.sv PARAMS DataW=${width} Cycles=${cycles})
endforeach()
