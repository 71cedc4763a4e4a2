// aes_pkg: what FIPS 197 and SP 800-38D fix, and widths that the modules of the AES service share.
//
// Elements of GF(2^128) are polynomials here: bit i is the coefficient of x^i. A block has byte i (the
// first on the wire is byte 0) in bits [8*i+:8]; SP 800-38D numbers its bits from the top of byte 0, so
// `flip`, which turns the bits of every byte round, leads from one to the other and back.
// verilator lint_off UNUSEDPARAM
// Reason: a package serves all modules; no single compilation uses every constant.
package aes_pkg;

  // The S-box (FIPS 197, section 5.1.1): S(255) first, S(0) last.
  localparam logic [2047:0] SBox = {
    128'h16BB54B0_0F2D9941_6842E6BF_0D89A18C,
    128'hDF2855CE_E9871E9B_948ED969_1198F8E1,
    128'h9E1DC186_B9573561_0EF60348_66B53E70,
    128'h8A8BBD4B_1F74DDE8_C6B4A61C_2E2578BA,
    128'h08AE7A65_EAF4566C_A94ED58D_6D37C8E7,
    128'h79E49591_62ACD3C2_5C240649_0A3A32E0,
    128'hDB0B5EDE_14B8EE46_88902A22_DC4F8160,
    128'h73195D64_3D7EA7C4_1744975F_EC130CCD,
    128'hD2F3FF10_21DAB6BC_F5389D92_8F40A351,
    128'hA89F3C50_7F02F945_85334D43_FBAAEFD0,
    128'hCF584C4A_39BECB6A_5BB1FC20_ED00D153,
    128'h842FE329_B3D63B52_A05A6E1B_1A2C8309,
    128'h75B227EB_E2801207_9A059618_C323C704,
    128'h1531D871_F1E5A534_CCF73F36_2693FDB7,
    128'hC072A49C_AFA2D4AD_F04759FA_7DC982CA,
    128'h76ABD7FE_2B670130_C56F6BF2_7B777C63
  };

  // Bits of a PSN that is counted on beyond its 24 bits: at 150 million packets a second they last for 15 years.
  localparam int ExtW = 56;
  // Of these in the nonce.
  localparam int NonceW = 39;
  // Packets that a key is in force for.
  localparam int KeyLife = 38;  // log2
  // Packets after which the older of two keys is not used any more.
  localparam int KeyLinger = 20;  // log2
  // Cycles from a look-up to its key.
  localparam int LookupLatency = 7;

  // Is a PSN older than the reference? step: PSN less reference, modulo 2^24. At most 2^22 packets lie in front
  // of what was sent last, 2^23 and more may be behind it, so the window is not symmetric: what is further ahead
  // than 3/8 of the circle is taken for 5/8 behind.
  function automatic logic older(input logic [23:0] step);
    older = step >= 24'h600000;
  endfunction

  function automatic logic [127:0] flip(input logic [127:0] block);
    for (int i = 0; i < 128; i++) flip[i] = block[8*(i/8)+7-i%8];
  endfunction

  // ---- products in GF(2^128) by Karatsuba's rule, twice: 9 products of 32 by 32 bits ------------
  // The nine words of an operand; linear.
  function automatic logic [287:0] gf_words(input logic [127:0] a);
    gf_words = {a[127:96] ^ a[95:64] ^ a[63:32] ^ a[31:0], a[127:96] ^ a[63:32],
        a[95:64] ^ a[31:0], a[127:96] ^ a[95:64], a[127:96], a[95:64], a[63:32] ^ a[31:0],
        a[63:32], a[31:0]};
  endfunction

  // x^128 = x^7 + x^2 + x + 1.
  function automatic logic [127:0] gf_reduce(input logic [254:0] p);
    logic [133:0] once;
    logic [126:0] high;
    high = p[254:128];
    once = {6'd0, p[127:0]} ^ {7'd0, high} ^ {6'd0, high, 1'b0} ^ {5'd0, high, 2'b00} ^
        {high, 7'd0};
    gf_reduce = once[127:0] ^ {115'd0, once[133:128], 7'd0} ^ {120'd0, once[133:128], 2'b00} ^
        {121'd0, once[133:128], 1'b0} ^ {122'd0, once[133:128]};
  endfunction

  // The product, from the nine products of the words (63 bits each); linear.
  function automatic logic [127:0] gf_fold(input logic [566:0] s);
    logic [126:0] low;
    logic [126:0] high;
    logic [126:0] middle;
    low = {64'd0, s[62:0]} ^ {32'd0, s[62:0] ^ s[125:63] ^ s[188:126], 32'd0} ^ {s[125:63], 64'd0};
    high = {64'd0, s[251:189]} ^ {32'd0, s[251:189] ^ s[314:252] ^ s[377:315], 32'd0} ^
        {s[314:252], 64'd0};
    middle = {64'd0, s[440:378]} ^ {32'd0, s[440:378] ^ s[503:441] ^ s[566:504], 32'd0} ^
        {s[503:441], 64'd0};
    gf_fold = gf_reduce({128'd0, low} ^ {64'd0, low ^ high ^ middle, 64'd0} ^ {high, 128'd0});
  endfunction

  // As gf_clmul32 does it, and aes_round: for simulation, where one function is worth more than many gates.
  function automatic logic [62:0] gf_clmul(input logic [31:0] a, input logic [31:0] b);
    /* verilator no_inline_task */
    gf_clmul = '0;
    for (int i = 0; i < 32; i++) gf_clmul = gf_clmul ^ (({63{b[i]}} & {31'd0, a}) << i);
  endfunction

  // SubBytes and, with mix, MixColumns of a column; byte 0 lowest.
  function automatic logic [31:0] column(input logic [31:0] bytes, input logic mix);
    /* verilator no_inline_task */
    logic [31:0] w;
    logic [31:0] t;
    for (int r = 0; r < 4; r++) w[8*r+:8] = SBox[{bytes[8*r+:8], 3'b000}+:8];
    t = {w[30:24], 1'b0, w[22:16], 1'b0, w[14:8], 1'b0, w[6:0], 1'b0} ^
        ({7'd0, w[31], 7'd0, w[23], 7'd0, w[15], 7'd0, w[7]} * 32'h1B);
    t = t ^ {t[7:0], t[31:8]} ^ {w[7:0], w[31:8]} ^ {w[15:0], w[31:16]} ^ {w[23:0], w[31:24]};
    column = mix ? t : w;
  endfunction

endpackage
