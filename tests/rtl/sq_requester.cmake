# Bench of the sending half of sq_engine (sq_post and sq_requester), in the shapes of sq.cmake.
set(sq_requester_sources
    templates/net/roce_pkg.sv
    templates/transport/sq_post.sv
    templates/transport/sq_enqueue.sv
    templates/transport/sq_requester.sv
    templates/transport/sq_sched.sv
    templates/transport/sq_turn.sv
    templates/transport/sq_fetch.sv
    templates/transport/sq_segment.sv
    templates/transport/sq_emit.sv
    tests/rtl/sq_requester_bench.sv)

# The narrowest: one QP, one packet in flight, a turn of one packet. Each shape with few cycles or short paths.
add_rtl_bench(NAME sq_requester_1 TOP sq_requester_bench BENCH tests/rtl/sq_requester.cpp
  SOURCES ${sq_requester_sources} LABELS transport
  PARAMS QpCount=1 WqeSlots=4 AckInterval=1 WindowPkts=1 Quantum=1 RdDepth=1 LowLatency=1)
# Nothing a power of two, AckReq only by the window (L18).
add_rtl_bench(NAME sq_requester_5 TOP sq_requester_bench BENCH tests/rtl/sq_requester.cpp
  SOURCES ${sq_requester_sources} LABELS transport
  PARAMS QpCount=5 WqeSlots=37 AckInterval=200 WindowPkts=7 Quantum=3 RdDepth=2 LowLatency=0)
foreach(low 0 1)
  add_rtl_bench(NAME sq_requester_16_${low} TOP sq_requester_bench BENCH tests/rtl/sq_requester.cpp
    SOURCES ${sq_requester_sources} LABELS transport
    PARAMS QpCount=16 WqeSlots=300 AckInterval=5 WindowPkts=12 Quantum=8 RdDepth=4 LowLatency=${low})
  # As in nic_100g; also measures throughput.
  add_rtl_bench(NAME sq_requester_512_${low} TOP sq_requester_bench BENCH tests/rtl/sq_requester.cpp
    SOURCES ${sq_requester_sources} LABELS transport
    PARAMS QpCount=512 WqeSlots=8192 AckInterval=16 WindowPkts=256 Quantum=16 RdDepth=16 LowLatency=${low})
endforeach()
