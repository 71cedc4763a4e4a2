# Inspections: dpi_gen compiles a stage and writes packets with their classes, dpi_stage.cpp runs them through it.
add_executable(dpi_gen rtl/dpi_gen.cpp)
target_link_libraries(dpi_gen PRIVATE rocegen_core rocegen_flags)

set(dpi_library templates/net/roce_pkg.sv templates/net/delay_line.sv templates/lib/stream_fifo.sv templates/lib/stream_skid.sv
    templates/lib/ram_sdp.sv templates/lib/ram_clear.sv templates/services/dpi_gate.sv)

# add_dpi_bench(KIND WIDTH SEED)
function(add_dpi_bench kind width seed)
  set(dir ${CMAKE_CURRENT_BINARY_DIR}/dpi/${kind}_w${width})
  set(files ${dir}/dut_model.sv ${dir}/dut_stage.sv)
  set(sources ${dpi_library})
  if(kind MATCHES "network|chunk")
    list(APPEND sources templates/services/dpi_chunks.sv templates/services/dpi_fold.sv)
  else()
    list(APPEND files ${dir}/dut_beat.sv)
    list(APPEND sources templates/services/dpi_packet.sv)
  endif()
  add_custom_command(OUTPUT ${files} ${dir}/packets.txt
    COMMAND dpi_gen ${dir} packets ${kind} ${width} ${seed}
    DEPENDS dpi_gen COMMENT "inspection ${kind} at ${width} bits" VERBATIM)
  add_rtl_bench(NAME dpi_${kind}_w${width} TOP dut_stage BENCH tests/rtl/dpi_stage.cpp LABELS services
    SOURCES ${sources} ${files} PARAMS DataW=${width} QpCount=11 Index=3 DEFINES DPI_VECTORS="${dir}/packets.txt"
    DEPENDS ${dir}/packets.txt)
endfunction()

add_dpi_bench(chunk 512 512)
add_dpi_bench(packet 128 128)
if("$ENV{ROCEGEN_LONG}" STREQUAL "ON")
  foreach(width 64 128 256 512 1024)
    if(NOT width EQUAL 512)
      add_dpi_bench(chunk ${width} ${width})
    endif()
    if(NOT width EQUAL 128)
      add_dpi_bench(packet ${width} ${width})
    endif()
  endforeach()
  add_dpi_bench(network 512 2)
  add_dpi_bench(network 64 1)
  add_dpi_bench(network 1024 3)
  add_dpi_bench(categories 256 4)
endif()
