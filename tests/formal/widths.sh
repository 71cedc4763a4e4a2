#!/bin/bash
# width_up and width_down: proofs, and mutants that must be caught.
. "$(dirname "$0")/suite.sh"
files=("$formal/formal_width.sv" "$lib/width_up.sv" "$lib/width_down.sv")
up=$lib/width_up.sv
down=$lib/width_down.sv

for pair in "1 2" "1 3" "1 4" "2 4" "2 1" "3 1" "4 1" "4 2"; do
  set -- $pair
  holds formal_width "InBytes=$1 OutBytes=$2" "${files[@]}"
done
# Not a mutant: the claim that nothing ever arrives must be refuted.
fails '1s/^/ /' "$up" formal_width "InBytes=1 OutBytes=3 Reach=1" "${files[@]}"
fails '1s/^/ /' "$down" formal_width "InBytes=3 OutBytes=1 Reach=1" "${files[@]}"

m() { fails "$1" "$up" formal_width "InBytes=1 OutBytes=3" "${files[@]}"; }
m 's/s_axis_tready = m_axis_tready \|\| !valid_q/s_axis_tready = 1'"'"'b1/'
m 's/s_axis_tready = m_axis_tready \|\| !valid_q/s_axis_tready = !valid_q/'
m 's/complete = s_axis_tlast \|\| slot_q\[Ratio-1\]/complete = slot_q[Ratio-1]/'      # a short packet stays inside
m 's/complete = s_axis_tlast \|\| slot_q\[Ratio-1\]/complete = s_axis_tlast/'         # a long packet is overwritten
m 's/complete = s_axis_tlast \|\| slot_q\[Ratio-1\]/complete = s_axis_tlast || slot_q[Ratio-2]/'
m 's/valid_q <= s_axis_tvalid \&\& complete/valid_q <= complete/'                     # a beat from nothing
m 's/last_q <= s_axis_tlast/last_q <= 1'"'"'b0/'
m 's/else if \(slot_q\[0\]\) keep_q.*//'                                              # old keep stays
m 's/else if \(take\) slot_q <= complete/else if (take) slot_q <= s_axis_tlast/'
m 's/else if \(take\) slot_q/else if (s_axis_tvalid) slot_q/'                         # the slot moves without a beat
m 's/if \(slot_q\[i\]\) data_q/if (slot_q[0]) data_q/'                                # bytes in the wrong place
m 's/user_q <= s_axis_tuser/user_q <= user_q/'

m() { fails "$1" "$down" formal_width "InBytes=3 OutBytes=1" "${files[@]}"; }
m 's/final_slice = !keep_q\[OutBytes\]/final_slice = 1'"'"'b1/'                       # only the first slice leaves
m 's/final_slice = !keep_q\[OutBytes\]/final_slice = 1'"'"'b0/'                       # stuck
m 's/\(m_axis_tready \&\& final_slice\)/m_axis_tready/'                               # the rest is overwritten
m 's/s_axis_tready = !valid_q \|\| \(m_axis_tready \&\& final_slice\)/s_axis_tready = !valid_q || final_slice/'
m 's/m_axis_tlast = last_q \&\& final_slice/m_axis_tlast = last_q/'                   # every slice is the last
m 's/m_axis_tlast = last_q \&\& final_slice/m_axis_tlast = final_slice/'
m 's/end else if \(m_axis_tready\) begin/end else begin/'                             # shifts a stalled beat away
m 's/keep_q <= keep_q >> OutBytes/keep_q <= keep_q/'                                  # repeats for ever
m 's/data_q >> \(OutBytes \* 8\)/data_q/'                                             # repeats the first slice
m 's/else if \(s_axis_tready\) valid_q <= s_axis_tvalid/else if (s_axis_tready) valid_q <= 1'"'"'b1/'
m 's/user_q <= s_axis_tuser/user_q <= user_q/'
finish
