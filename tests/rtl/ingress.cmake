# The first end of the attach point ingress: a beat smaller than any header and one table entry; odd numbers; the largest.
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
