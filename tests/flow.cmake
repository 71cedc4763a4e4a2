# The whole program on whole specifications: generate, lint in both tools, simulate, synthesise.
#
# Scenarios, captures and soaks run on the Verilated RTL of each variant; `rocegen sim` keeps the model by content, so that the tests
# of one variant build it once.
set(FLOW_DIR ${CMAKE_CURRENT_BINARY_DIR}/flow)
file(MAKE_DIRECTORY ${FLOW_DIR})
set(FLOW_TIMEOUT 1500)
if("$ENV{ROCEGEN_LONG}" STREQUAL "ON")
  set(FLOW_TIMEOUT 40000)
endif()

# flow_test(NAME n VARIANT v COMMAND ... [COST c] [LABELS l]): a test that needs variant v generated.
function(flow_test)
  cmake_parse_arguments(F "" "NAME;VARIANT;COST" "COMMAND;LABELS" ${ARGN})
  add_test(NAME ${F_NAME} COMMAND ${F_COMMAND} WORKING_DIRECTORY ${FLOW_DIR})
  set_tests_properties(${F_NAME} PROPERTIES LABELS "flow;${F_LABELS}" FIXTURES_REQUIRED gen.${F_VARIANT} TIMEOUT ${FLOW_TIMEOUT}
                       ENVIRONMENT "ROCEGEN_HOME=${PROJECT_SOURCE_DIR}")
  if(F_COST)
    set_tests_properties(${F_NAME} PROPERTIES COST ${F_COST})
  endif()
endfunction()

# flow_variant(SPEC file [SOAK messages] [LIVES messages] [FUZZ frames] [QPS n] [CAPTURES] [BENCH] [LOSS] [SYNTH] [COMB]
#              [SIM words] [NO_SIM])
# SIM: words for `rocegen sim` instead of all scenarios.
function(flow_variant)
  cmake_parse_arguments(V "CAPTURES;SYNTH;COMB;BENCH;LOSS;NO_SIM" "SPEC;SOAK;LIVES;FUZZ;QPS" "SIM" ${ARGN})
  if(NOT V_QPS)
    set(V_QPS 16)
  endif()
  cmake_path(ABSOLUTE_PATH V_SPEC BASE_DIRECTORY ${PROJECT_SOURCE_DIR} OUTPUT_VARIABLE spec)
  cmake_path(GET spec STEM name)
  set(out ${FLOW_DIR}/${name})
  set(run $<TARGET_FILE:rocegen>)
  add_test(NAME gen.${name} COMMAND ${run} gen ${spec} -o ${out} WORKING_DIRECTORY ${FLOW_DIR})
  set_tests_properties(gen.${name} PROPERTIES LABELS flow FIXTURES_SETUP gen.${name} FAIL_REGULAR_EXPRESSION "warning\\["
                       ENVIRONMENT "ROCEGEN_HOME=${PROJECT_SOURCE_DIR}")
  flow_test(NAME lint.${name} VARIANT ${name} COMMAND ${run} lint ${spec} -o ${out})
  if(V_COMB)
    set_property(GLOBAL APPEND PROPERTY COMB_VARIANTS ${name})
  endif()
  if(NOT V_NO_SIM)
    # The model is built by the first simulation; the others wait for it rather than for its lock.
    flow_test(NAME sim.${name} VARIANT ${name} COMMAND ${run} sim ${spec} -o ${out} ${V_SIM} COST 400)
    set_tests_properties(sim.${name} PROPERTIES FIXTURES_SETUP model.${name})
  endif()
  if(V_CAPTURES)
    file(GLOB captures CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tests/captures/*.pcap)
    flow_test(NAME replay.${name} VARIANT ${name} COMMAND ${run} sim ${spec} -o ${out} replay ${captures})
    set_tests_properties(replay.${name} PROPERTIES FIXTURES_REQUIRED "gen.${name};model.${name}")
  endif()
  if(V_SOAK)
    # Of a long soak the capture would have gigabytes: a short one gives it.
    set(soak ${run} sim ${spec} -o ${out} soak --qps ${V_QPS})
    set(capture --pcap ${FLOW_DIR}/${name}-soak.pcap)
    set(writes_capture soak.${name})
    if(V_SOAK GREATER 10000)
      set(writes_capture capture.${name})
      flow_test(NAME soak.${name} VARIANT ${name} COST 300 COMMAND ${soak} --messages ${V_SOAK})
      set_tests_properties(soak.${name} PROPERTIES FIXTURES_REQUIRED "gen.${name};model.${name}")
      flow_test(NAME capture.${name} VARIANT ${name} COMMAND ${soak} --messages 3000 ${capture})
    else()
      flow_test(NAME soak.${name} VARIANT ${name} COST 300 COMMAND ${soak} --messages ${V_SOAK} ${capture})
    endif()
    set_tests_properties(${writes_capture} PROPERTIES FIXTURES_REQUIRED "gen.${name};model.${name}" FIXTURES_SETUP pcap.${name})
    flow_test(NAME pcap.${name} VARIANT ${name} COMMAND python3 ${PROJECT_SOURCE_DIR}/tests/pcap_check.py ${FLOW_DIR}/${name}-soak.pcap)
    set_tests_properties(pcap.${name} PROPERTIES FIXTURES_REQUIRED pcap.${name} SKIP_RETURN_CODE 77)
  endif()
  if(V_LIVES)
    # Ten messages or so a life of a connection.
    flow_test(NAME lives.${name} VARIANT ${name} COST 100
              COMMAND ${run} sim ${spec} -o ${out} soak --messages ${V_LIVES} --resets 1 --abrupt 0.9 --check-every 20)
    set_tests_properties(lives.${name} PROPERTIES FIXTURES_REQUIRED "gen.${name};model.${name}")
  endif()
  if(V_FUZZ)
    flow_test(NAME fuzz.${name} VARIANT ${name} COST 300
              COMMAND ${run} sim ${spec} -o ${out} --pairs dut-model fuzz --qps 32 --frames ${V_FUZZ})
    set_tests_properties(fuzz.${name} PROPERTIES FIXTURES_REQUIRED "gen.${name};model.${name}")
  endif()
  if(V_BENCH)
    flow_test(NAME bench.${name} VARIANT ${name} COST 200
              COMMAND python3 ${PROJECT_SOURCE_DIR}/tests/bench_check.py ${run} ${spec} ${out})
    set_tests_properties(bench.${name} PROPERTIES FIXTURES_REQUIRED "gen.${name};model.${name}")
  endif()
  if(V_LOSS)
    flow_test(NAME loss.${name} VARIANT ${name} COST 100
              COMMAND python3 ${PROJECT_SOURCE_DIR}/tests/bench_check.py ${run} ${spec} ${out} loss)
    set_tests_properties(loss.${name} PROPERTIES FIXTURES_REQUIRED "gen.${name};model.${name}")
  endif()
  if(V_SYNTH)
    flow_test(NAME synth.${name} VARIANT ${name} COST 1000
              COMMAND python3 ${PROJECT_SOURCE_DIR}/tests/synth_check.py ${run} ${spec} ${out})
  endif()
endfunction()

if(ROCEGEN_RTL_TESTS)
  # Some 137,000 messages in all, three pairings, 60,000 of them over 2,000 set-ups a pairing; half a minute of forged frames
  # each; synthesis of the large ones takes ten minutes each.
  set(frames 50000)
  set(messages 3500)
  set(many 1500)
  set(lives 20000)
  set(synth "")
  set(loss "")
  if("$ENV{ROCEGEN_LONG}" STREQUAL "ON")
    set(frames 1000000)
    set(messages 200000)
    set(many 3000000)
    set(lives 200000)
    set(synth SYNTH)
    set(loss LOSS)
  endif()
  flow_variant(SPEC specs/nic_10g.json SYNTH FUZZ ${frames})
  flow_variant(SPEC specs/nic_25g.json SOAK ${messages} CAPTURES)
  flow_variant(SPEC specs/nic_100g.json ${synth} COMB SOAK ${many} QPS 512 CAPTURES BENCH)
  flow_variant(SPEC specs/nic_200g.json ${synth} SOAK ${messages} CAPTURES)
  flow_variant(SPEC tests/specs/w64.json SOAK ${messages} FUZZ ${frames} CAPTURES)
  flow_variant(SPEC tests/specs/w256.json SOAK ${messages} LIVES ${lives} CAPTURES ${loss})
  flow_variant(SPEC tests/specs/options.json COMB SOAK ${messages} FUZZ ${frames} CAPTURES)
  flow_variant(SPEC tests/specs/mac_domain.json SOAK 2000)
  flow_variant(SPEC tests/specs/selective.json COMB SOAK ${messages} CAPTURES ${loss})

  if("$ENV{ROCEGEN_LONG}" STREQUAL "ON")
    flow_variant(SPEC tests/specs/deep.json SYNTH)
  endif()

  flow_variant(SPEC specs/custom_xor.json SIM run services_xor)
  flow_variant(SPEC tests/specs/services.json COMB)
  # Masks 13: all but the one that judges payload, which is random here.
  flow_test(NAME soak.services VARIANT services COST 200
            COMMAND $<TARGET_FILE:rocegen> sim ${PROJECT_SOURCE_DIR}/tests/specs/services.json -o ${FLOW_DIR}/services --pairs dut-dut
                    --services 13 soak --qps 16 --messages ${messages} --loss 0.01)
  set_tests_properties(soak.services PROPERTIES FIXTURES_REQUIRED "gen.services;model.services")
  # An inspection at work between two NICs: tags, drops, refusals, events. Rows preprocessed, also under loss.
  flow_variant(SPEC tests/specs/dpi.json COMB SIM --pairs dut-dut run dpi_actions)
  flow_variant(SPEC tests/specs/recsys.json COMB SIM --pairs dut-dut run preprocess_rows preprocess_loss)
  # Encryption between two NICs, and a NIC and OpenSSL; every frame of a lossy run decrypts, and what is sent again is the same.
  foreach(mode ctr gcm)
    set(name aes_${mode})
    flow_variant(SPEC tests/specs/${name}.json COMB SIM run aes_operations)
    set(sim $<TARGET_FILE:rocegen> sim ${PROJECT_SOURCE_DIR}/tests/specs/${name}.json -o ${FLOW_DIR}/${name} --pairs dut-dut)
    set(capture ${FLOW_DIR}/${name}.pcap)
    flow_test(NAME keys.${name} VARIANT ${name} COMMAND ${sim} run aes_no_key aes_wrong_key aes_new_key aes_read_shorter)
    flow_test(NAME loss.${name} VARIANT ${name} COMMAND ${sim} --pcap ${capture} --keys ${FLOW_DIR}/${name}.keys.json run aes_loss)
    flow_test(NAME decrypt.${name} VARIANT ${name}
              COMMAND python3 ${PROJECT_SOURCE_DIR}/tests/aes_pcap_check.py ${capture} ${FLOW_DIR}/${name}.keys.json
                      --find 656e6372797074656420746578742121 --min-packets 300 --min-repeats 10)
    set_tests_properties(keys.${name} loss.${name} PROPERTIES FIXTURES_REQUIRED "gen.${name};model.${name}")
    set_tests_properties(loss.${name} PROPERTIES FIXTURES_SETUP capture.${name})
    set_tests_properties(decrypt.${name} PROPERTIES FIXTURES_REQUIRED "gen.${name};capture.${name}")
  endforeach()
  # Connections torn down at work and set up anew: each life has its own keys.
  flow_test(NAME soak.aes_gcm VARIANT aes_gcm COST 200
            COMMAND $<TARGET_FILE:rocegen> sim ${PROJECT_SOURCE_DIR}/tests/specs/aes_gcm.json -o ${FLOW_DIR}/aes_gcm --pairs dut-dut,dut-model
                    --services 1 soak --qps 12 --messages ${messages} --loss 0.01 --resets 1 --abrupt 0.9 --check-every 50)
  set_tests_properties(soak.aes_gcm PROPERTIES FIXTURES_REQUIRED "gen.aes_gcm;model.aes_gcm")
  # Every service in one stack: clean in both tools.
  flow_variant(SPEC specs/nic_100g_all.json NO_SIM)
  # The modules of several variants, each once.
  get_property(comb_variants GLOBAL PROPERTY COMB_VARIANTS)
  set(comb_folders ${comb_variants})
  list(TRANSFORM comb_folders PREPEND ${FLOW_DIR}/)
  list(TRANSFORM comb_folders APPEND /rtl)
  list(TRANSFORM comb_variants PREPEND gen.)
  add_test(NAME comb COMMAND python3 ${PROJECT_SOURCE_DIR}/tests/comb_check.py ${comb_folders})
  set_tests_properties(comb PROPERTIES LABELS flow COST 150 TIMEOUT ${FLOW_TIMEOUT} FIXTURES_REQUIRED "${comb_variants}")
  # Ordered pairs of services, with --long also all subsets at every width.
  add_test(NAME services.matrix COMMAND python3 ${PROJECT_SOURCE_DIR}/tests/services_matrix.py $<TARGET_FILE:rocegen> ${FLOW_DIR}/matrix)
  set_tests_properties(services.matrix PROPERTIES COST 300 LABELS flow TIMEOUT ${FLOW_TIMEOUT}
                       ENVIRONMENT "ROCEGEN_HOME=${PROJECT_SOURCE_DIR};ROCEGEN_LONG=$ENV{ROCEGEN_LONG}")
  # With --long: what `rocegen new-service` writes lints and passes its own test.
  if("$ENV{ROCEGEN_LONG}" STREQUAL "ON")
    add_test(NAME services.new WORKING_DIRECTORY ${FLOW_DIR}
             COMMAND python3 ${PROJECT_SOURCE_DIR}/tests/new_service.py $<TARGET_FILE:rocegen> ${FLOW_DIR}/new_service)
    set_tests_properties(services.new PROPERTIES LABELS flow COST 400 TIMEOUT ${FLOW_TIMEOUT}
                         ENVIRONMENT "ROCEGEN_HOME=${PROJECT_SOURCE_DIR};ROCEGEN_LONG=$ENV{ROCEGEN_LONG}")
  endif()

  # Line coverage of templates/transport and templates/net: scenarios and forged frames on three variants, merged. The models with counters
  # are slow: with --long only.
  if("$ENV{ROCEGEN_LONG}" STREQUAL "ON")
    set(COVERAGE ${PROJECT_SOURCE_DIR}/tests/coverage.py)
    set(coverage_run run all)
    set(coverage_fuzz --pairs dut-model fuzz --qps 32 --frames 20000)
    foreach(spec tests/specs/w256.json tests/specs/options.json tests/specs/selective.json)
      cmake_path(GET spec STEM name)
      foreach(what run fuzz)
        add_test(NAME coverage.${name}.${what} WORKING_DIRECTORY ${FLOW_DIR}
                 COMMAND python3 ${COVERAGE} run ${FLOW_DIR}/coverage $<TARGET_FILE:rocegen> ${PROJECT_SOURCE_DIR}/${spec} -- ${coverage_${what}})
        set_tests_properties(coverage.${name}.${what} PROPERTIES LABELS flow FIXTURES_SETUP coverage COST 900 TIMEOUT ${FLOW_TIMEOUT}
                             ENVIRONMENT "ROCEGEN_HOME=${PROJECT_SOURCE_DIR}")
      endforeach()
    endforeach()
    add_test(NAME coverage.report COMMAND python3 ${COVERAGE} report ${FLOW_DIR}/coverage)
    set_tests_properties(coverage.report PROPERTIES LABELS flow FIXTURES_REQUIRED coverage)
  endif()
endif()

# Expression graphs alone: the module equals the evaluator in Verilator; the passes are proved where SAT can do it.
file(GLOB graphs CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/specs/graphs/*.json)
foreach(graph ${graphs})
  cmake_path(GET graph STEM name)
  add_test(NAME compile.${name} WORKING_DIRECTORY ${FLOW_DIR}
           COMMAND rocegen compile ${graph} -o ${FLOW_DIR}/compile/${name} --check --synth)
  set_tests_properties(compile.${name} PROPERTIES LABELS flow TIMEOUT 600)
endforeach()
add_test(NAME compile.prove WORKING_DIRECTORY ${FLOW_DIR}
         COMMAND rocegen compile ${PROJECT_SOURCE_DIR}/specs/graphs/clamp_shift.json
                 -o ${FLOW_DIR}/compile/prove --prove)
set_tests_properties(compile.prove PROPERTIES LABELS flow TIMEOUT 600)
