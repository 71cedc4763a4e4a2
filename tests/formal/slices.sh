#!/bin/bash
# stream_skid and stream_reg: proofs, and mutants that must be caught.
. "$(dirname "$0")/suite.sh"
files=("$formal/formal_order.sv" "$lib/stream_skid.sv" "$lib/stream_reg.sv" "$lib/stream_fifo.sv" "$lib/ram_sdp.sv")
skid=$lib/stream_skid.sv
reg=$lib/stream_reg.sv

holds formal_order "Kind=0 Held=2" "${files[@]}"
holds formal_order "Kind=1 Held=1" "${files[@]}"
# Not a mutant: the claim that nothing ever arrives must be refuted.
fails '1s/^/ /' "$skid" formal_order "Kind=0 Held=2 Reach=1" "${files[@]}"

m() { fails "$1" "$skid" formal_order "Kind=0 Held=2" "${files[@]}"; }
m 's/skid_full \? skid_q : s_axis_tdata/s_axis_tdata/'                   # the skid beat is dropped
m 's/if \(ready_q\) skid_q/if (!ready_q) skid_q/'                        # the skid takes the wrong beat
m 's/ready_q <= 1.b0;$/ready_q <= 1'"'"'b1;/'                            # never closes: overrun
m 's/skid_full \|\| \(s_axis_tvalid \&\& ready_q\)/s_axis_tvalid \&\& ready_q/'  # the skid beat is forgotten
m 's/skid_full \|\| \(s_axis_tvalid \&\& ready_q\)/skid_full || s_axis_tvalid/'  # a beat that was not taken is sent
m 's/advance = m_axis_tready \|\| !valid_q/advance = m_axis_tready/'     # stuck when empty
m 's/advance = m_axis_tready \|\| !valid_q/advance = 1'"'"'b1/'          # overwrites a stalled beat
m 's/if \(advance\) data_q/data_q/'                                      # payload not held
m 's/end else if \(s_axis_tvalid\) begin/end else begin/'                # closes without a beat

m() { fails "$1" "$reg" formal_order "Kind=1 Held=1" "${files[@]}"; }
m 's/s_axis_tready = m_axis_tready \|\| !valid_q/s_axis_tready = 1'"'"'b1/'
m 's/s_axis_tready = m_axis_tready \|\| !valid_q/s_axis_tready = m_axis_tready/'
m 's/s_axis_tready = m_axis_tready \|\| !valid_q/s_axis_tready = !valid_q/'
m 's/if \(s_axis_tready\) data_q/data_q/'
m 's/if \(s_axis_tready\) data_q/if (m_axis_tready) data_q/'
m 's/else if \(s_axis_tready\) valid_q <= s_axis_tvalid/else if (s_axis_tready) valid_q <= 1'"'"'b1/'
m 's/else if \(s_axis_tready\) valid_q/else valid_q/'
finish
