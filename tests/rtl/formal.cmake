# Unbounded proofs of the library's cells, each with mutants that the proof must catch (tests/formal/*.sh).
# Exit status 77: yosys-abc is missing, and the output says so.
foreach(suite slices fifo arbs widths)
  add_test(NAME formal.${suite} COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/formal/${suite}.sh)
  set_tests_properties(formal.${suite} PROPERTIES LABELS formal SKIP_RETURN_CODE 77 TIMEOUT 900)
endforeach()
