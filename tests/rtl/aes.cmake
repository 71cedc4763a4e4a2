# AES service: arithmetic, cipher, both directions with their tables; against OpenSSL.
set(aes_arithmetic aes_pkg aes_sbox aes_sbox_quarter aes_round gf_clmul32 gf_product)
set(aes_modules aes_core aes_ghash aes_hash_key aes_refs aes_keys aes_control aes_packet aes_strip aes_stream aes_egress
    aes_ingress aes_tables)
list(TRANSFORM aes_arithmetic REPLACE "(.+)" "templates/services/\\1.sv")
list(TRANSFORM aes_modules REPLACE "(.+)" "templates/services/\\1.sv")
set(aes_lib templates/net/roce_pkg.sv templates/lib/ram_sdp.sv templates/lib/ram_clear.sv templates/lib/stream_skid.sv
    templates/lib/stream_fifo.sv templates/lib/byte_rotate_level.sv templates/lib/byte_rotate.sv
    templates/net/delay_line.sv)

add_rtl_bench(NAME aes_parts TOP aes_parts BENCH tests/rtl/aes_parts.cpp LABELS services
  SOURCES ${aes_arithmetic} tests/rtl/aes_parts.sv LIBS crypto)

#              lanes key stage
set(aes_shapes "1 128 1" "2 256 14")
if("$ENV{ROCEGEN_LONG}" STREQUAL "ON")
  list(APPEND aes_shapes "1 256 2" "4 256 1" "8 128 3")
endif()
foreach(shape ${aes_shapes})
  separate_arguments(shape)
  list(GET shape 0 lanes)
  list(GET shape 1 bits)
  list(GET shape 2 rounds)
  add_rtl_bench(NAME aes_core_${lanes}_${bits}_${rounds} TOP aes_core BENCH tests/rtl/aes_core.cpp LABELS services
    SOURCES ${aes_arithmetic} templates/services/aes_core.sv
    PARAMS Lanes=${lanes} KeyBits=${bits} RoundsPerStage=${rounds} LIBS crypto)
endforeach()

#              width gcm key qps stage index
set(aes_shapes "64 0 256 5 2 0" "64 1 128 1 1 7" "256 1 128 5 6 3")
if("$ENV{ROCEGEN_LONG}" STREQUAL "ON")  # minutes each to compile
  list(APPEND aes_shapes "128 0 128 37 6 1" "128 1 256 5 2 0" "256 0 256 4 2 2" "512 0 128 16 1 0" "512 1 256 512 2 1" "1024 0 256 3 2 0"
       "1024 1 256 5 2 5")
endif()
foreach(shape ${aes_shapes})
  separate_arguments(shape)
  list(GET shape 0 width)
  list(GET shape 1 gcm)
  list(GET shape 2 bits)
  list(GET shape 3 qps)
  list(GET shape 4 rounds)
  list(GET shape 5 index)
  add_rtl_bench(NAME aes_pair_${width}_${gcm}_${bits} TOP aes_pair BENCH tests/rtl/aes_pair.cpp LABELS services
    SOURCES ${aes_arithmetic} ${aes_lib} ${aes_modules} tests/rtl/aes_pair.sv
    DEPENDS ${PROJECT_SOURCE_DIR}/templates/lib/rocegen_assert.svh LIBS crypto
    PARAMS DataW=${width} Gcm=${gcm} KeyBits=${bits} QpCount=${qps} RoundsPerStage=${rounds} Index=${index})
endforeach()
