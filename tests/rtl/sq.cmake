# Benches of the requester: one program, four shapes of engine.
set(SQ_SOURCES
    templates/net/roce_pkg.sv
    templates/transport/sq_engine.sv
    templates/transport/sq_post.sv
    templates/transport/sq_enqueue.sv
    templates/transport/sq_requester.sv
    templates/transport/sq_sched.sv
    templates/transport/sq_turn.sv
    templates/transport/sq_fetch.sv
    templates/transport/sq_segment.sv
    templates/transport/sq_emit.sv
    templates/transport/sq_ack.sv
    templates/transport/sq_ack_rules.sv
    templates/transport/sq_choose.sv
    templates/transport/sq_setup.sv
    templates/transport/sq_tell.sv
    templates/transport/sq_peer.sv
    templates/transport/sq_completer.sv
    templates/transport/sq_retire.sv
    templates/transport/sq_retire_fetch.sv
    templates/transport/qp_timer.sv)

# The narrowest: one QP, one packet in flight, a turn of one packet.
add_rtl_bench(NAME sq_engine_1 TOP sq_engine BENCH tests/rtl/sq_engine.cpp SOURCES ${SQ_SOURCES}
  PARAMS QpCount=1 WqeSlots=4 TickCycles=16 AckInterval=1 WindowPkts=1 Quantum=1)
# Nothing a power of two, AckReq only by the window (L18).
add_rtl_bench(NAME sq_engine_5 TOP sq_engine BENCH tests/rtl/sq_engine.cpp SOURCES ${SQ_SOURCES}
  PARAMS QpCount=5 WqeSlots=37 TickCycles=16 AckInterval=200 WindowPkts=7 Quantum=3)
add_rtl_bench(NAME sq_engine_16 TOP sq_engine BENCH tests/rtl/sq_engine.cpp SOURCES ${SQ_SOURCES}
  PARAMS QpCount=16 WqeSlots=300 TickCycles=40 AckInterval=5 WindowPkts=12 Quantum=8)
# As in nic_100g; also measures throughput.
add_rtl_bench(NAME sq_engine_512 TOP sq_engine BENCH tests/rtl/sq_engine.cpp SOURCES ${SQ_SOURCES}
  PARAMS QpCount=512 WqeSlots=8192 TickCycles=100 AckInterval=16 WindowPkts=256 Quantum=16)
