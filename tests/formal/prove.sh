#!/bin/bash
# prove.sh TOP "PARAM=VALUE ..." FILE.sv...
#
# Proves all assertions below TOP without bound: Yosys turns the design into an and-inverter graph, the
# engine `pdr` of yosys-abc (property-directed reachability) finds an inductive invariant or a counterexample.
# Prints one line. Exit status: 0 proved, 1 a counterexample exists, 2 neither (error or out of time).
# Registers without a reset start at zero.
set -u
here=$(cd "$(dirname "$0")" && pwd)
top=$1
params=$2
shift 2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

chparam=""
for p in $params; do chparam+=" -chparam ${p%%=*} ${p#*=}"; done

# The two-step reading keeps hierarchy parameters and flattening apart; memories become registers, every
# free signal an input; what is left is and-gates, registers, assertions and assumptions.
cat >"$work/script.ys" <<YS
read_verilog -formal -sv -I $here/../../templates/lib $*
hierarchy -check -top $top$chparam
proc
flatten
opt_expr
opt_clean
check -assert
memory -nordff -nomap
memory_map -formal
async2sync
dffunmap
setundef -undriven -anyseq
setundef -anyseq
delete -output
chformal -cover -remove
opt -full -nodffe -nosdff
techmap
opt -fast -nodffe -nosdff
dffunmap
abc -g AND -fast
opt_clean
write_aiger -I -B -zinit $work/design.aig
YS
if ! yosys -Q -T -q -s "$work/script.ys" >"$work/yosys.log" 2>&1; then
  echo "error: yosys failed on $top $params"
  tail -5 "$work/yosys.log"
  exit 2
fi

# yosys-abc always exits with 0: its words decide.
timeout "${PROVE_SECONDS:-60}" yosys-abc -c "read_aiger $work/design.aig; fold; strash; pdr" >"$work/abc.log" 2>&1
if grep -q 'Property proved' "$work/abc.log"; then
  echo "proved: $top $params ($(grep -o 'Time = *[0-9.]* sec' "$work/abc.log" | tail -1))"
  exit 0
fi
if grep -q 'was asserted in frame' "$work/abc.log"; then
  echo "refuted: $top $params ($(grep -o 'asserted in frame [0-9]*' "$work/abc.log" | head -1))"
  exit 1
fi
echo "error: no verdict on $top $params within ${PROVE_SECONDS:-60} s"
tail -3 "$work/abc.log"
exit 2
