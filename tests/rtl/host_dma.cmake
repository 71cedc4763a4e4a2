# DMA engines against AXI memories: every data width, corners of the other parameters.
set(dma_lib
  templates/net/roce_pkg.sv templates/lib/stream_skid.sv templates/lib/stream_fifo.sv templates/lib/ram_sdp.sv
  templates/lib/byte_rotate.sv templates/host/axi_burst.sv)
function(add_dma_benches suffix width address buffer reads writes stages)
  add_rtl_bench(NAME host_dma_read_${suffix} TOP dma_read BENCH tests/rtl/host_dma_read_bench.cpp LABELS host
    SOURCES ${dma_lib} templates/host/dma_read.sv
    PARAMS DataW=${width} AddrW=${address} BufBeats=${buffer} MaxReads=${reads} RotateStages=${stages})
  add_rtl_bench(NAME host_dma_write_${suffix} TOP dma_write BENCH tests/rtl/host_dma_write_bench.cpp LABELS host
    SOURCES ${dma_lib} templates/host/dma_write.sv
    PARAMS DataW=${width} AddrW=${address} MaxWrites=${writes} RotateStages=${stages})
endfunction()
#               name      width address buffer reads writes stages
add_dma_benches(64        64    64      1024   64    32     1)
add_dma_benches(128_small 128   33      256    2     2      4)
add_dma_benches(256       256   40      400    128   128    3)
add_dma_benches(512       512   64      512    160   32     2)
add_dma_benches(1024      1024  64      384    256   64     2)
