#!/bin/bash
# stream_fifo: proofs at small depths (a power of two or not), and mutants that must be caught.
. "$(dirname "$0")/suite.sh"
files=("$formal/formal_order.sv" "$lib/stream_skid.sv" "$lib/stream_reg.sv" "$lib/stream_fifo.sv" "$lib/ram_sdp.sv")
fifo=$lib/stream_fifo.sv
ram=$lib/ram_sdp.sv

for depth in 2 3 4 5 6; do holds formal_order "Kind=2 Depth=$depth Held=$depth" "${files[@]}"; done
# Not a mutant: the claim that nothing ever arrives must be refuted.
fails '1s/^/ /' "$fifo" formal_order "Kind=2 Depth=3 Held=3 Reach=1" "${files[@]}"

m() { fails "$1" "$fifo" formal_order "Kind=2 Depth=3 Held=3" "${files[@]}"; }
m 's/wr_ptr_q == LastAddr \? .0 : wr_ptr_q \+ 1.b1/wr_ptr_q + 1'"'"'b1/'       # no wrap of the write pointer
m 's/rd_ptr_q == LastAddr \? .0 : rd_ptr_q \+ 1.b1/rd_ptr_q + 1'"'"'b1/'       # no wrap of the read pointer
m 's/wr_ptr_q \+ 1.b1/wr_ptr_q + 2'"'"'d2/'                                    # wrong increment
m 's/if \(read\) rd_ptr_q/if (pop) rd_ptr_q/'                                  # pointer moves with the wrong event
m 's/store = push/store = s_axis_tvalid/'                                      # writes what was not taken
m 's/\(Depth - 1\) \&\& push/(Depth) \&\& push/'                               # overrun by one
m 's/\&\& push \&\& !pop/\&\& !pop/'                                           # a place is never used
m 's/\? !pop :/? 1'"'"'b0 :/'                                                  # full is forgotten
m 's/out_free = m_axis_tready \|\| !valid_q/out_free = 1'"'"'b1/'                # overwrites a stalled output
m 's/out_free = m_axis_tready \|\| !valid_q/out_free = m_axis_tready/'         # the first word does not fall through
m 's/\(valid_q \&\& !m_axis_tready\)/valid_q/'                                 # the output beat is doubled
m 's/if \(push != pop\)/if (push || pop)/'                                     # level counts wrong
m 's/wr_addr_i\(wr_ptr_q\)/wr_addr_i(rd_ptr_q)/'                                 # writes to the wrong place
fails 's/if \(rd_en_i\) rd_q/rd_q/' "$ram" formal_order "Kind=2 Depth=3 Held=3" "${files[@]}"   # the output is not held
for depth in 3 4 5; do holds formal_order "Kind=2 Bypass=1 Depth=$depth Held=$depth" "${files[@]}"; done
m() { fails "$1" "$fifo" formal_order "Kind=2 Bypass=1 Depth=3 Held=3" "${files[@]}"; }
m 's/pass = Bypass != 0 \&\& push/pass = push \&\& !read;  wire unused = push/'   # overtakes what is in the RAM
m 's/store = push \&\& !pass/store = push/'                                    # passes and stores
m 's/\(wr_ptr_q == rd_ptr_q\) \&\& out_free;/(wr_ptr_q == rd_ptr_q);/'         # passes over a stalled output
m 's/\|\| pass \|\|/||/'                                                      # what passed does not show
finish
