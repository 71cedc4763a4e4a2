# Compiled dataflow modules against plain references: dataflow_gen writes the modules, one top that holds them all, and
# vectors; dataflow_bench.cpp runs them. The Yosys tests check that the same files are clean in the second tool and that
# the level estimates bound what it builds.
add_executable(dataflow_gen rtl/dataflow_gen.cpp)
target_link_libraries(dataflow_gen PRIVATE rocegen_core rocegen_flags)
find_program(YOSYS yosys)

# add_dataflow_bench(SUITE s KIND k NUMBERS n... MODULES names...)
function(add_dataflow_bench)
  cmake_parse_arguments(D "" "SUITE;KIND" "NUMBERS;MODULES" ${ARGN})
  if(NOT ROCEGEN_RTL_TESTS)
    return()
  endif()
  set(dir ${CMAKE_CURRENT_BINARY_DIR}/dataflow/${D_SUITE})
  set(top dataflow_${D_SUITE})
  set(files "")
  foreach(m ${D_MODULES} ${top})
    list(APPEND files ${dir}/${m}.sv)
  endforeach()
  add_custom_command(OUTPUT ${files} ${dir}/${top}.txt
    COMMAND dataflow_gen ${dir} ${D_SUITE} ${D_KIND} ${D_NUMBERS}
    DEPENDS dataflow_gen COMMENT "compiled modules of ${top}" VERBATIM)
  add_rtl_bench(NAME ${top} TOP ${top} BENCH tests/rtl/dataflow_bench.cpp LABELS dataflow SOURCES ${files}
                DEFINES DATAFLOW_VECTORS="${dir}/${top}.txt" DEPENDS ${dir}/${top}.txt)
  if(YOSYS)
    add_test(NAME rtl.${top}_yosys
      COMMAND ${YOSYS} -q -e "implicitly declared|conflicting drivers|out of bounds"
              -p "read_verilog -sv ${dir}/*.sv; hierarchy -check -top ${top}; proc; check -assert")
    set_tests_properties(rtl.${top}_yosys PROPERTIES LABELS "rtl;dataflow")
  endif()
endfunction()

# 8 and 72 bits: one byte, and no power of two.
set(dataflow_icrc_widths 8 64 72 128 256)
set(dataflow_icrc_wide_widths 512 1024)
foreach(suite icrc icrc_wide)
  set(dataflow_modules "")
  foreach(w ${dataflow_${suite}_widths})
    list(APPEND dataflow_modules icrc_data_w${w}_b5 icrc_data_w${w}_b2 icrc_step_w${w} icrc_rewind_w${w}_b8
         icrc_rewind_w${w}_b3 icrc_residue_w${w})
  endforeach()
  add_dataflow_bench(SUITE ${suite} KIND icrc NUMBERS ${dataflow_${suite}_widths} MODULES ${dataflow_modules})
endforeach()

set(dataflow_budgets 1 3 10)
set(dataflow_modules ipv4_checksum_comb)
foreach(b ${dataflow_budgets})
  list(APPEND dataflow_modules ipv4_checksum_b${b})
endforeach()
add_dataflow_bench(SUITE checksum KIND checksum NUMBERS ${dataflow_budgets} MODULES ${dataflow_modules})

set(dataflow_widths 1 7 20 70)
set(dataflow_modules "")
foreach(w ${dataflow_widths})
  list(APPEND dataflow_modules ops_w${w}_comb ops_w${w}_b3 ops_w${w}_b10)
  if(w LESS 33)
    list(APPEND dataflow_modules ops_w${w}_b1)
  endif()
endforeach()
add_dataflow_bench(SUITE ops KIND ops NUMBERS ${dataflow_widths} MODULES ${dataflow_modules})

set(dataflow_seeds 1 2 3 4 5)
set(dataflow_modules "")
foreach(s ${dataflow_seeds})
  list(APPEND dataflow_modules random_s${s}_comb random_s${s}_b1 random_s${s}_b4)
endforeach()
add_dataflow_bench(SUITE random KIND random NUMBERS ${dataflow_seeds} MODULES ${dataflow_modules})

# What Yosys builds of the compiled modules: LUT6 levels against the estimates, LUT counts against the ceilings.
if(YOSYS AND ROCEGEN_RTL_TESTS)
  add_executable(dataflow_synth rtl/dataflow_synth.cpp)
  target_link_libraries(dataflow_synth PRIVATE rocegen_core rocegen_flags doctest::doctest)
  add_test(NAME rtl.dataflow_synth COMMAND dataflow_synth)
  set_tests_properties(rtl.dataflow_synth PROPERTIES LABELS "rtl;dataflow;synth")
endif()
