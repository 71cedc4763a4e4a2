# Benches of the requester: two programs (work requests and errors; READs, atomics, flow control), four shapes of
# engine, its timer alone, and sq_turn alone with selective recovery.
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
    templates/transport/sq_read.sv
    templates/transport/sq_read_fetch.sv
    templates/transport/sq_read_done.sv
    templates/transport/sq_completer.sv
    templates/transport/sq_retire.sv
    templates/transport/sq_retire_fetch.sv
    templates/transport/qp_timer.sv)

# The narrowest: one QP, one packet in flight, a turn of one packet.
set(SQ_SHAPE_1 QpCount=1 WqeSlots=4 TickCycles=16 AckInterval=1 WindowPkts=1 Quantum=1 RdDepth=1 LowLatency=1 Services=0)
# Nothing a power of two, AckReq only by the window (L18). Short paths rather than few cycles, as in the largest.
set(SQ_SHAPE_5 QpCount=5 WqeSlots=37 TickCycles=16 AckInterval=200 WindowPkts=7 Quantum=3 RdDepth=2 Services=1)
set(SQ_SHAPE_16 QpCount=16 WqeSlots=300 TickCycles=40 AckInterval=5 WindowPkts=12 Quantum=8 RdDepth=8 LowLatency=1 Services=0)
# As in nic_100g; also measures throughput.
set(SQ_SHAPE_512 QpCount=512 WqeSlots=8192 TickCycles=100 AckInterval=16 WindowPkts=256 Quantum=16 RdDepth=16 Services=0)
foreach(shape 1 5 16 512)
  foreach(bench sq_engine sq_read)
    add_rtl_bench(NAME ${bench}_${shape} TOP sq_engine BENCH tests/rtl/${bench}.cpp SOURCES ${SQ_SOURCES}
      PARAMS ${SQ_SHAPE_${shape}})
  endforeach()
endforeach()

# A window of far more than 256 packets, with selective recovery.
foreach(low 0 1)
  add_rtl_bench(NAME sq_turn_${low} TOP sq_turn BENCH tests/rtl/sq_turn.cpp
    PARAMS QpW=2 SlotW=5 IdxW=7 WindowPkts=4194304 Quantum=8 RdDepth=4 Selective=1 LowLatency=${low}
    SOURCES templates/net/roce_pkg.sv templates/transport/sq_turn.sv)
endforeach()

# A quarter of 4.096 us is one cycle, and a number of cycles that is not whole.
add_rtl_bench(NAME sq_timer_4 TOP qp_timer BENCH tests/rtl/sq_timer.cpp PARAMS QpCount=4 QpW=2 TickCycles=4
  SOURCES templates/net/roce_pkg.sv templates/transport/qp_timer.sv)
add_rtl_bench(NAME sq_timer_20 TOP qp_timer BENCH tests/rtl/sq_timer.cpp PARAMS QpCount=20 QpW=5 TickCycles=7
  SOURCES templates/net/roce_pkg.sv templates/transport/qp_timer.sv)
# A quarter much longer than a walk: the start of a wait within it matters.
add_rtl_bench(NAME sq_timer_256 TOP qp_timer BENCH tests/rtl/sq_timer.cpp PARAMS QpCount=8 QpW=3 TickCycles=256
  SOURCES templates/net/roce_pkg.sv templates/transport/qp_timer.sv)
