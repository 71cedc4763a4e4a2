# Benches of what keeps lives of a QP and answers apart: cfg_order, ack_split, rsp_guard, cmd_bypass,
# tx_share.
set(order_lib templates/net/roce_pkg.sv templates/lib/arb_grant.sv templates/lib/stream_arb.sv)
foreach(settle 1 64)
  add_rtl_bench(NAME cfg_order_${settle} TOP cfg_order BENCH tests/rtl/cfg_order.cpp LABELS transport
    SOURCES ${order_lib} templates/lib/ram_sdp.sv templates/lib/ram_clear.sv templates/transport/cfg_order.sv
    PARAMS QpCount=5 Settle=${settle}
    DEPENDS ${PROJECT_SOURCE_DIR}/templates/lib/rocegen_assert.svh)
  add_rtl_bench(NAME ack_split_${settle} TOP ack_split BENCH tests/rtl/ack_split.cpp LABELS transport
    SOURCES ${order_lib} templates/transport/ack_split.sv PARAMS Settle=${settle}
    DEPENDS ${PROJECT_SOURCE_DIR}/templates/lib/rocegen_assert.svh)
endforeach()
foreach(shape "64 1" "256 4" "512 16")
  separate_arguments(shape)
  list(GET shape 0 width)
  list(GET shape 1 entries)
  add_rtl_bench(NAME rsp_guard_${width} TOP rsp_guard BENCH tests/rtl/rsp_guard.cpp LABELS host
    SOURCES ${order_lib} templates/host/rsp_guard.sv PARAMS DataW=${width} Entries=${entries}
    DEPENDS ${PROJECT_SOURCE_DIR}/templates/lib/rocegen_assert.svh)
endforeach()
foreach(shape "64 1 7" "512 128 128")
  separate_arguments(shape)
  list(GET shape 0 width)
  list(GET shape 1 linger)
  list(GET shape 2 full)
  add_rtl_bench(NAME tx_share_${width} TOP tx_share BENCH tests/rtl/tx_share.cpp LABELS net
    SOURCES ${order_lib} templates/net/tx_share.sv PARAMS DataW=${width} Linger=${linger} FullLinger=${full}
    DEPENDS ${PROJECT_SOURCE_DIR}/templates/lib/rocegen_assert.svh)
endforeach()
foreach(empty 0 1)
  add_rtl_bench(NAME cmd_bypass_${empty} TOP cmd_bypass BENCH tests/rtl/cmd_bypass.cpp LABELS host
    SOURCES templates/net/roce_pkg.sv templates/host/cmd_bypass.sv PARAMS EmptyThrough=${empty}
    DEPENDS ${PROJECT_SOURCE_DIR}/templates/lib/rocegen_assert.svh)
endforeach()
