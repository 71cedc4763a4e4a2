# Preprocessing: pre_stage with the compiled modules of a layout at every data width, of a pair of a logarithm and a
# hash and of random ones, and pre_complete. pre_gen writes the modules, a top, and the layout for the model.
add_executable(pre_gen rtl/pre_gen.cpp)
target_link_libraries(pre_gen PRIVATE rocegen_core rocegen_flags)

set(pre_library templates/net/roce_pkg.sv templates/lib/stream_skid.sv templates/lib/stream_fifo.sv
    templates/lib/ram_sdp.sv templates/lib/byte_rotate_level.sv templates/lib/byte_rotate.sv templates/net/delay_line.sv)

set(pre_files templates/services/pre_join.sv templates/services/pre_stage.sv)

function(add_pre_bench width levels qps layout)
  if(NOT ROCEGEN_RTL_TESTS)
    return()
  endif()
  set(name pre_stage_${width}_${layout})
  set(dir ${CMAKE_CURRENT_BINARY_DIR}/preprocess/${name})
  add_custom_command(OUTPUT ${dir}/pre_modules.sv ${dir}/layout.json
    COMMAND pre_gen ${dir} ${width} ${levels} ${qps} ${layout}
    DEPENDS pre_gen COMMENT "compiled modules of ${name}" VERBATIM)
  file(CONFIGURE OUTPUT ${dir}/bench.cpp CONTENT "#define P_DataW ${width}
#define P_QpCount ${qps}
#define PRE_LAYOUT \"${dir}/layout.json\"
#include \"tests/rtl/pre_stage.cpp\"
#include \"sim/model/preprocess.cpp\"
")
  add_rtl_bench(NAME ${name} TOP pre_bench BENCH ${dir}/bench.cpp LABELS services
    SOURCES ${pre_library} ${pre_files} ${dir}/pre_modules.sv
    DEPENDS ${PROJECT_SOURCE_DIR}/tests/rtl/pre_stage.cpp ${PROJECT_SOURCE_DIR}/sim/model/preprocess.cpp
            ${PROJECT_SOURCE_DIR}/sim/model/preprocess.h)
endfunction()
#             width levels qps layout
add_pre_bench(128   10     5   1)
add_pre_bench(512   8      6   24)
if("$ENV{ROCEGEN_LONG}" STREQUAL "ON")
  add_pre_bench(64    8      3   pair)
  add_pre_bench(64    5      37  22)
  add_pre_bench(256   6      2   9)
  add_pre_bench(1024  10     5   9)
endif()

# pre_length of one of them in pre_complete.
if(ROCEGEN_RTL_TESTS)
  set(dir ${CMAKE_CURRENT_BINARY_DIR}/preprocess/pre_stage_512_24)
  file(CONFIGURE OUTPUT ${dir}/complete.cpp CONTENT "#define PRE_LAYOUT \"${dir}/layout.json\"
#include \"tests/rtl/pre_complete.cpp\"
#include \"sim/model/preprocess.cpp\"
")
  add_rtl_bench(NAME pre_complete TOP pre_complete BENCH ${dir}/complete.cpp LABELS services
    SOURCES ${pre_library} templates/lib/ram_clear.sv templates/services/svc_mask.sv templates/services/pre_complete.sv
            ${pre_files} ${dir}/pre_modules.sv
    DEPENDS ${PROJECT_SOURCE_DIR}/tests/rtl/pre_complete.cpp ${PROJECT_SOURCE_DIR}/sim/model/preprocess.cpp
    PARAMS QpCount=11 Services=3 Index=2 LengthLatency=8)
endif()
