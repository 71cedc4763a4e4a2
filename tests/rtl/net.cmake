# Network side: rx_frontend and tx_framer, every data width, with different latencies of the compiled modules. Their
# modules icrc_* and ipv4_checksum are written at build time by net_compile.
add_executable(net_compile rtl/net_compile.cpp)
target_link_libraries(net_compile PRIVATE rocegen_core rocegen_flags)

set(net_shared templates/net/roce_pkg.sv templates/lib/ram_sdp.sv templates/lib/stream_skid.sv
    templates/lib/stream_fifo.sv templates/net/delay_line.sv templates/net/icrc_mask.sv)
set(net_rx rx_parse rx_ip_sum icrc_check rx_verdict rx_strip rx_header rx_buffer rx_fetch rx_frontend)
set(net_tx tx_lookup tx_header tx_assemble tx_seal tx_frame_buffer tx_framer)
list(TRANSFORM net_rx REPLACE "(.+)" "templates/net/\\1.sv")
list(TRANSFORM net_tx REPLACE "(.+)" "templates/net/\\1.sv")

function(add_net_benches width crc rewind csum rx_beats headers tx_beats qps low)
  if(NOT ROCEGEN_RTL_TESTS)
    return()
  endif()
  set(dir ${CMAKE_CURRENT_BINARY_DIR}/net/${width})
  set(parts icrc_data icrc_step icrc_residue icrc_rewind ipv4_checksum)
  list(TRANSFORM parts REPLACE "(.+)" "${dir}/\\1.sv")
  add_custom_command(OUTPUT ${parts} COMMAND net_compile ${dir} ${width} ${crc} ${rewind} ${csum}
    DEPENDS net_compile COMMENT "compiled modules for ${width} bit" VERBATIM)
  add_custom_target(net_parts_${width} DEPENDS ${parts})
  list(FILTER parts EXCLUDE REGEX "rewind|checksum")
  add_rtl_bench(NAME net_rx_${width} TOP rx_frontend BENCH tests/rtl/net_rx.cpp LABELS net
    SOURCES ${net_shared} ${net_rx} ${parts} DEPENDS net_parts_${width}
    PARAMS DataW=${width} BufBeats=${rx_beats} MaxPayload=4096 CrcLatency=${crc} HdrDepth=${headers}
           LowLatency=${low})
  list(TRANSFORM parts REPLACE "residue" "rewind")
  add_rtl_bench(NAME net_tx_${width} TOP tx_framer BENCH tests/rtl/net_tx.cpp LABELS net
    SOURCES ${net_shared} ${net_tx} ${parts} ${dir}/ipv4_checksum.sv DEPENDS net_parts_${width}
    PARAMS DataW=${width} QpCount=${qps} BufBeats=${tx_beats} CrcLatency=${crc} RewindLatency=${rewind}
           CsumLatency=${csum} LowLatency=${low})
endfunction()
#               width crc rewind csum rx_beats headers tx_beats qps low
add_net_benches(64    0   1      6    1024     16      1024     1   1)
add_net_benches(128   1   2      2    256      16      512      37  1)
add_net_benches(256   2   3      1    256      16      256      64  0)
add_net_benches(512   2   5      2    256      32      128      500 0)
add_net_benches(1024  0   6      3    64       16      64       512 1)

# Beside rx_frontend: puts its payload commands in order.
foreach(depth 2 5 64)
  foreach(low 0 1)
    add_rtl_bench(NAME fetch_merge_${depth}_${low} TOP fetch_merge BENCH tests/rtl/fetch_merge.cpp LABELS net
      SOURCES ${net_shared} templates/transport/fetch_merge.sv PARAMS Depth=${depth} LowLatency=${low})
  endforeach()
endforeach()
