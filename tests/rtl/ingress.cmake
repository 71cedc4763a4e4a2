# The ends of the attach points, and the table of masks. ingress_open: a beat smaller than any header and one table
# entry; odd numbers; the largest.
set(ingress_lib templates/net/roce_pkg.sv templates/lib/ram_sdp.sv templates/lib/ram_clear.sv templates/lib/stream_skid.sv
    templates/lib/stream_fifo.sv templates/services/svc_mask.sv)

foreach(shape "64 1 1 4" "256 11 3 5" "1024 512 8 16")
  separate_arguments(shape)
  list(POP_FRONT shape width qps services depth)
  add_rtl_bench(NAME ingress_open_${width} TOP ingress_open BENCH tests/rtl/ingress_open.cpp LABELS services
                SOURCES ${ingress_lib} templates/services/ingress_open.sv
                PARAMS DataW=${width} QpCount=${qps} Services=${services} Depth=${depth}
                DEPENDS ${PROJECT_SOURCE_DIR}/templates/lib/rocegen_assert.svh)
endforeach()

# Largest payloads that are no whole number of beats, and the least depth; LowLatency.
foreach(shape "64 64 100 8 1" "256 128 1000 13 0" "1024 128 4096 32 0")
  separate_arguments(shape)
  list(POP_FRONT shape width beats payload depth low)
  add_rtl_bench(NAME ingress_close_${width} TOP ingress_close BENCH tests/rtl/ingress_close.cpp LABELS services
                SOURCES ${ingress_lib} templates/net/rx_buffer.sv templates/net/rx_fetch.sv templates/services/ingress_close.sv
                PARAMS DataW=${width} BufBeats=${beats} MaxPayload=${payload} HdrDepth=${depth} LowLatency=${low}
                DEPENDS ${PROJECT_SOURCE_DIR}/templates/lib/rocegen_assert.svh)
endforeach()

# Any places in tuser; one QP; as for tx_pkt_t (no bit that takes packets out); as for rx_cmd_t.
foreach(shape "64 30 3 0 1 1" "256 303 272 -1 11 3" "1024 158 88 157 512 8")
  separate_arguments(shape)
  list(POP_FRONT shape width user qpn off qps services)
  add_rtl_bench(NAME svc_open_${width} TOP svc_open BENCH tests/rtl/svc_open.cpp LABELS services
                SOURCES ${ingress_lib} templates/services/svc_open.sv
                PARAMS DataW=${width} UserW=${user} QpnLsb=${qpn} OffLsb=${off} QpCount=${qps} Services=${services}
                DEPENDS ${PROJECT_SOURCE_DIR}/templates/lib/rocegen_assert.svh)
  add_rtl_bench(NAME svc_mask_${qps} TOP svc_mask BENCH tests/rtl/svc_mask.cpp LABELS services SOURCES ${ingress_lib}
                PARAMS QpCount=${qps} Services=${services}
                DEPENDS ${PROJECT_SOURCE_DIR}/templates/lib/rocegen_assert.svh)
endforeach()
