# suite.sh: sourced by the suites. holds and fails each run one proof; finish gives the exit status.
#
#   holds TOP "PARAMS" FILE...                  the proof must succeed
#   fails "SED" FILE TOP "PARAMS" FILE...       the proof must find a counterexample after the sed script
#                                               has changed FILE, one of the later files
set -u
formal=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
lib=$formal/../../templates/lib
if ! command -v yosys >/dev/null || ! command -v yosys-abc >/dev/null; then
  echo "skipped: yosys-abc is missing (Debian package yosys)"
  exit 77
fi
bad=0
proofs=0
mutants=0
mutant_dir=$(mktemp -d)
trap 'rm -rf "$mutant_dir"' EXIT

holds() {
  local line
  line=$("$formal/prove.sh" "$@")
  local status=$?
  echo "$line"
  proofs=$((proofs + 1))
  if [ $status -ne 0 ]; then
    echo "FAILED: this proof must succeed"
    bad=$((bad + 1))
  fi
}

fails() {
  local edit=$1 file=$2 top=$3 params=$4
  shift 4
  mutants=$((mutants + 1))
  sed -E "$edit" "$file" >"$mutant_dir/$(basename "$file")"
  if cmp -s "$file" "$mutant_dir/$(basename "$file")"; then
    echo "FAILED: the mutation '$edit' changes nothing in $(basename "$file")"
    bad=$((bad + 1))
    return
  fi
  local files=()
  local f
  for f in "$@"; do
    if [ "$f" = "$file" ]; then files+=("$mutant_dir/$(basename "$file")"); else files+=("$f"); fi
  done
  local line
  line=$("$formal/prove.sh" "$top" "$params" "${files[@]}")
  local status=$?
  if [ $status -eq 1 ]; then
    echo "caught: $(basename "$file") with '$edit': $line"
  else
    echo "FAILED: $(basename "$file") with '$edit' should be refuted: $line"
    bad=$((bad + 1))
  fi
}

finish() {
  echo "$proofs proofs, $mutants mutants, $bad wrong"
  [ $bad -eq 0 ]
  exit
}
