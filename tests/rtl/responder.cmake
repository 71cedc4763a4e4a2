# Benches of the responder: rx_responder, its parts responder_sequence (what takes too long in the whole), mr_table, ack_queue, and
# rx_dispatch in front of it.
set(responder_lib templates/net/roce_pkg.sv templates/lib/ram_sdp.sv templates/lib/ram_clear.sv
    templates/lib/stream_skid.sv templates/lib/stream_fifo.sv)
set(responder_parts "")
foreach(part decode mtu setup packet sequence ahead ring buffer reads region recent retire)
  list(APPEND responder_parts templates/transport/responder_${part}.sv)
endforeach()
list(APPEND responder_parts templates/transport/rx_responder.sv)

# Queue pairs, regions, shared rings, READs of a QP, cycles that answers are collected, LowLatency, Services.
foreach(shape "1 1 0 1 0 1 0" "5 3 1 8 30 0 1" "16 16 4 16 0 1 0" "512 256 0 128 500 0 0" "16384 4096 4096 16 64 1 1")
  separate_arguments(shape)
  list(GET shape 0 qps)
  list(GET shape 1 mrs)
  list(GET shape 2 srqs)
  list(GET shape 3 reads)
  list(GET shape 4 hold)
  list(GET shape 5 low)
  list(GET shape 6 services)
  add_rtl_bench(NAME responder_${qps} TOP rx_responder BENCH tests/rtl/responder.cpp
                SOURCES ${responder_lib} ${responder_parts}
                PARAMS QpCount=${qps} MrCount=${mrs} SrqCount=${srqs} RdDepth=${reads} Selective=0 LowLatency=${low} Services=${services}
                LABELS transport
                DEPENDS ${PROJECT_SOURCE_DIR}/templates/lib/rocegen_assert.svh)
  add_rtl_bench(NAME ack_queue_${qps} TOP ack_queue BENCH tests/rtl/responder_ack_queue.cpp
                SOURCES ${responder_lib} templates/transport/ack_queue.sv
                PARAMS QpCount=${qps} HoldCycles=${hold} LABELS transport
                DEPENDS ${PROJECT_SOURCE_DIR}/templates/lib/rocegen_assert.svh)
endforeach()

foreach(shape "1 1 0 1 1" "5 3 1 8 0" "512 256 2 128 1")
  separate_arguments(shape)
  list(GET shape 0 qps)
  list(GET shape 1 mrs)
  list(GET shape 2 srqs)
  list(GET shape 3 reads)
  list(GET shape 4 low)
  add_rtl_bench(NAME responder_selective_${qps} TOP rx_responder BENCH tests/rtl/responder.cpp
                SOURCES ${responder_lib} ${responder_parts}
                PARAMS QpCount=${qps} MrCount=${mrs} SrqCount=${srqs} RdDepth=${reads} Selective=1 LowLatency=${low} Services=0
                LABELS transport
                DEPENDS ${PROJECT_SOURCE_DIR}/templates/lib/rocegen_assert.svh)
endforeach()

add_rtl_bench(NAME responder_sequence TOP responder_sequence BENCH tests/rtl/responder_sequence.cpp
              SOURCES ${responder_lib} templates/transport/responder_sequence.sv PARAMS QpCount=1 Selective=1 LABELS transport
              DEPENDS ${PROJECT_SOURCE_DIR}/templates/lib/rocegen_assert.svh)

foreach(mrs 1 5 256 1000)
  add_rtl_bench(NAME mr_table_${mrs} TOP mr_table BENCH tests/rtl/responder_mr_table.cpp
                SOURCES ${responder_lib} templates/transport/mr_table.sv PARAMS MrCount=${mrs} LABELS transport
                DEPENDS ${PROJECT_SOURCE_DIR}/templates/lib/rocegen_assert.svh)
endforeach()

foreach(shape "2 1" "32 0")
  separate_arguments(shape)
  list(POP_FRONT shape depth services)
  add_rtl_bench(NAME rx_dispatch_${depth} TOP rx_dispatch BENCH tests/rtl/responder_dispatch.cpp
                SOURCES ${responder_lib} templates/transport/rx_dispatch.sv PARAMS RspDepth=${depth} Services=${services} LABELS transport
                DEPENDS ${PROJECT_SOURCE_DIR}/templates/lib/rocegen_assert.svh)
endforeach()
