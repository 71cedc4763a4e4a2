# Benches of rsp_engine: one program, six shapes.
set(RSP_SOURCES
    templates/net/roce_pkg.sv
    templates/lib/ram_sdp.sv
    templates/lib/ram_clear.sv
    templates/lib/stream_skid.sv
    templates/lib/stream_fifo.sv
    templates/transport/sq_sched.sv
    templates/transport/rsp_engine.sv
    templates/transport/rsp_enter.sv
    templates/transport/rsp_sort.sv
    templates/transport/rsp_answers.sv
    templates/transport/rsp_rows.sv
    templates/transport/rsp_turn.sv
    templates/transport/rsp_fetch.sv
    templates/transport/rsp_serve.sv
    templates/transport/rsp_emit.sv)

# The narrowest: one QP that remembers one request, a turn of one packet. The last: duplicates as long as their originals.
foreach(shape "1 1 1 0" "1 16 16 0" "5 2 3 0" "5 128 64 0" "512 16 16 0" "3 16 16 1")
  separate_arguments(shape)
  list(GET shape 0 qps)
  list(GET shape 1 depth)
  list(GET shape 2 quantum)
  list(GET shape 3 exact)
  add_rtl_bench(NAME rsp_engine_${qps}_${depth} TOP rsp_engine BENCH tests/rtl/rsp_engine.cpp SOURCES ${RSP_SOURCES}
                PARAMS QpCount=${qps} RdDepth=${depth} Quantum=${quantum} Exact=${exact} LABELS transport
                DEPENDS ${PROJECT_SOURCE_DIR}/templates/lib/rocegen_assert.svh)
endforeach()
