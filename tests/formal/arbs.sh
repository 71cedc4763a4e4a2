#!/bin/bash
# stream_arb, record_arb, arb_grant: proofs, and mutants that must be caught.
. "$(dirname "$0")/suite.sh"
files=("$formal/formal_arb.sv" "$lib/arb_grant.sv" "$lib/stream_arb.sv" "$lib/record_arb.sv")
grant=$lib/arb_grant.sv
stream=$lib/stream_arb.sv
record=$lib/record_arb.sv

for records in 0 1 2; do
  for priority in 0 1; do
    for n in 2 3 4; do holds formal_arb "Records=$records N=$n Priority=$priority" "${files[@]}"; done
  done
done
# Not a mutant: the claim that nothing ever arrives must be refuted.
fails '1s/^/ /' "$stream" formal_arb "Records=0 N=3 Reach=1" "${files[@]}"
fails '1s/^/ /' "$record" formal_arb "Records=1 N=3 Reach=1" "${files[@]}"

m() { fails "$1" "$stream" formal_arb "Records=0 N=3" "${files[@]}"; }
m 's/sel = locked_q \? held_q : pick/sel = pick/'                              # the grant is not held
m 's/locked_q <= !beat\[DataW\+KeepW\]/locked_q <= 1'"'"'b0/'                  # never locks
m 's/locked_q <= !beat\[DataW\+KeepW\]/locked_q <= 1'"'"'b1/'                  # never lets go
m 's/held_q   <= sel/held_q   <= pick/'                                        # holds somebody else
m 's/load = m_axis_tready \|\| !valid_q/load = 1'"'"'b1/'                      # overwrites a stalled beat
m 's/load = m_axis_tready \|\| !valid_q/load = m_axis_tready/'                 # stuck when empty
m 's/s_axis_tready = sel \& \{N\{load\}\}/s_axis_tready = {N{load}}/'          # takes from all
m 's/s_axis_tready = sel \& \{N\{load\}\}/s_axis_tready = sel/'                # takes without room
m 's/if \(load\) beat_q/if (fire) beat_q/; s/if \(load\) valid_q <= fire/if (fire) valid_q <= 1'"'"'b1/'   # doubles
m 's/take_i\(fire \&\& !locked_q\)/take_i(1'"'"'b0)/'                          # unfair
m 's/IndexW.\(i\)\)/IndexW'"'"'(0))/'                                          # always lane 0's data
m 's/s_axis_tlast\[i < N \? i : 0\],$/s_axis_tlast[0],/'                                    # tlast of another input
m 's/tree\[\(2\*i\+1\)\*BeatW/tree[(2*i)*BeatW/'                               # selects wrong

m() { fails "$1" "$record" formal_arb "Records=1 N=3" "${files[@]}"; }
m 's/load  = m_axis_tready \|\| !valid_q/load = 1'"'"'b1/'
m 's/load  = m_axis_tready \|\| !valid_q/load = m_axis_tready/'
m 's/s_axis_tready = grant \& \{N\{load\}\}/s_axis_tready = {N{load}}/'
m 's/s_axis_tready = grant \& \{N\{load\}\}/s_axis_tready = grant/'
m 's/else if \(load\) valid_q <= offer/else if (load) valid_q <= 1'"'"'b1/'
m 's/take_i\(take\)/take_i(1'"'"'b0)/'
m 's/IndexW.\(i\)\)/IndexW'"'"'(0))/'

m() { fails "$1" "$record" formal_arb "Records=2 N=3" "${files[@]}"; }
m 's/grant = held_q \? grant_q : pick/grant = pick/'                           # the grant is not held
m 's/held_q <= offer \&\& !m_axis_tready/held_q <= offer/'                     # held too long
m 's/take  = offer \&\& !held_q/take  = 1'"'"'b0/'                             # whose turn it is never changes
m 's/s_axis_tready = grant \& \{N\{load\}\}/s_axis_tready = {N{load}}/'
m 's/m_axis_tvalid = offer/m_axis_tvalid = offer \&\& !held_q/'

m() { fails "$1" "$grant" formal_arb "Records=0 N=3" "${files[@]}"; }
m 's/if \(later_req\[j\]\) later_first\[i\] = 1.b0;//'                         # two grants
m 's/\(later_req != .0\) \? later_first : any_first/any_first/'                # not round robin
m 's/above\[i\] = 1.b1/above[i] = 1'"'"'b0/'                                   # forgets whose turn it is
m 's/else if \(take_i\) later_q <= above/else later_q <= above/'               # moves on without service
fails 's/if \(req_i\[j\]\) any_first\[i\] = 1.b0;//' "$grant" formal_arb "Records=0 N=3 Priority=1" "${files[@]}"
fails 's/any_first\[i\] = req_i\[i\]/any_first[i] = req_i[i] \&\& (i != 1)/' "$grant" formal_arb "Records=0 N=3 Priority=1" "${files[@]}"
finish
