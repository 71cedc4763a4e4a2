# Benches of the receive rings (rq_engine) and of write_gate.
set(rq_parts templates/transport/rq_rings.sv templates/transport/rq_post.sv templates/transport/rq_control.sv
    templates/transport/rq_flush.sv templates/transport/rq_complete.sv templates/transport/rq_engine.sv)
set(rq_lib templates/net/roce_pkg.sv templates/lib/ram_sdp.sv templates/lib/ram_clear.sv templates/lib/stream_skid.sv
    templates/lib/stream_fifo.sv)

# The smallest; odd numbers of everything; powers of two; the largest.
foreach(shape "1 0 2" "5 3 100" "64 16 1024" "16384 4096 65536")
  separate_arguments(shape)
  list(GET shape 0 qps)
  list(GET shape 1 srqs)
  list(GET shape 2 slots)
  add_rtl_bench(NAME rq_engine_${qps} TOP rq_engine BENCH tests/rtl/rq_engine.cpp SOURCES ${rq_lib} ${rq_parts}
                PARAMS QpCount=${qps} SrqCount=${srqs} RqeSlots=${slots} LABELS transport
                DEPENDS ${PROJECT_SOURCE_DIR}/templates/lib/rocegen_assert.svh)
endforeach()

# Receive completions, READ requests and answers, as the generator sets the gate up; records that are dropped with their
# QP; a FIFO of the least depth.
foreach(gate "rcq 512 189 172 148 0 -1 1 256 32 0 0 64" "read 16 269 19 243 0 -1 1 64 16 0 1 64"
        "read_psn 16 269 19 243 0 187 2 64 16 0 1 64" "ack 5 112 0 82 74 50 1 20 7 2 1 64"
        "drop 16 269 19 243 0 -1 1 64 16 1 1 64" "small 1 112 0 82 74 50 1 4 1 0 1 3")
  separate_arguments(gate)
  list(POP_FRONT gate name qps width tag qpn syn psn psns depth slack drop drain settle)
  add_rtl_bench(NAME write_gate_${name} TOP write_gate BENCH tests/rtl/host_write_gate.cpp
                SOURCES ${rq_lib} templates/host/write_gate.sv
                PARAMS QpCount=${qps} Width=${width} TagLsb=${tag} QpnLsb=${qpn} SynLsb=${syn} PsnLsb=${psn}
                       PsnCount=${psns} Depth=${depth} Slack=${slack} DropErr=${drop} Drain=${drain} Settle=${settle}
                LABELS host DEPENDS ${PROJECT_SOURCE_DIR}/templates/lib/rocegen_assert.svh)
endforeach()
