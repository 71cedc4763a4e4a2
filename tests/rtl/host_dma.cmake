# DMA engines against AXI memories: every data width, corners of the other parameters, one port and several.
set(dma_lib
  templates/net/roce_pkg.sv templates/lib/stream_skid.sv templates/lib/stream_fifo.sv templates/lib/ram_sdp.sv
  templates/lib/byte_rotate.sv templates/lib/byte_rotate_level.sv templates/host/axi_burst.sv)
function(add_dma_benches suffix width address buffer reads writes stages targets low)
  add_rtl_bench(NAME host_dma_read_${suffix} TOP dma_read BENCH tests/rtl/host_dma_read_bench.cpp LABELS host
    SOURCES ${dma_lib} templates/host/dma_read.sv
    PARAMS DataW=${width} AddrW=${address} BufBeats=${buffer} MaxReads=${reads} RotateStages=${stages} Targets=${targets}
           LowLatency=${low})
  add_rtl_bench(NAME host_dma_write_${suffix} TOP dma_write BENCH tests/rtl/host_dma_write_bench.cpp LABELS host
    SOURCES ${dma_lib} templates/host/dma_write.sv
    PARAMS DataW=${width} AddrW=${address} MaxWrites=${writes} RotateStages=${stages} Targets=${targets}
           LowLatency=${low})
endfunction()
#               name      width address buffer reads writes stages targets low
add_dma_benches(64        64    64      1024   64    32     1      1       1)
add_dma_benches(64_ports  64    40      256    16    8      2      8       1)
add_dma_benches(128_small 128   33      256    2     2      4      1       1)
add_dma_benches(256_ports 256   40      400    128   128    3      3       0)
add_dma_benches(512       512   64      512    192   128    2      1       0)
add_dma_benches(512_ports 512   64      384    192   128    2      2       0)
add_dma_benches(1024      1024  64      384    256   64     2      1       1)
add_dma_benches(512_low   512   64      512    192   128    1      1       1)

# The whole way between the frame buffer and memory, with atomics.
function(add_host_path_bench suffix width address slots targets)
  add_rtl_bench(NAME host_path_${suffix} TOP host_path BENCH tests/rtl/host_path.cpp LABELS host
    SOURCES ${dma_lib} templates/lib/arb_grant.sv templates/lib/record_arb.sv templates/host/dma_read.sv
            templates/host/dma_write.sv templates/host/pay_route.sv templates/host/done_split.sv
            templates/host/atomic_pick.sv templates/host/atomic_unit.sv templates/host/axi_join.sv
            tests/rtl/host_path.sv
    PARAMS DataW=${width} AddrW=${address} BufBeats=512 Slots=${slots} Targets=${targets})
endfunction()
#                   name       width address slots targets
add_host_path_bench(64         64    40      3     1)
add_host_path_bench(128_ports  128   33      8     3)
add_host_path_bench(512        512   64      8     1)
add_host_path_bench(512_ports  512   64      32    2)
add_host_path_bench(1024       1024  64      2     1)
