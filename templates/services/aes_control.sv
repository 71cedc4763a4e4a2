// aes_control: registers and set-ups of the AES service: owner of what the key tables hold.
//
// A set-up of a queue pair (s_cfg with setup 1) makes its four slots (two a direction) invalid, erases their
// keys and puts the references back (aes_refs): a nonce of the former life can't come again. A change to RESET
// erases too, and the queue pair takes no keys until it is set up. Both take some 50 cycles, and erase salt and
// key that were written for that queue pair (register QPN) without a command. Other records are taken at once.
//
// Register window (ctl_*; byte addresses; ctl_ready_o answers, in the cycle it stands, a read with ctl_rdata_o):
//   0x00 QPN; 0x04 salt; 0x08, 0x0C first PSN of requests, of responses; 0x10 command (bit 0: 1 received, 0
//   sent; bit 1: AES-256; bit 2: erase both slots of the direction); 0x14 status; 0x20..0x3C key, first
//   byte in bits 7:0 of 0x20.
// A command is answered when it is in force, (with Gcm up to 130 cycles a power later). It takes the older of
// the two slots, an invalid one first. It is refused, and changes nothing, for a queue pair that does not
// exist or is not set up (result 1), a key size that KeyBits does not allow (2), or when the salt equals that
// of a valid slot of the other direction (3): two directions must not share nonces. Salt, key and hash key are
// erased when a command ends, and are never read back: they read 0, as does all but QPN and status.
// Status of the queue pair in QPN: bits 1:0 valid slots sent, 2 which is newer, 3 the newer is in
// force for requests, 4 for responses; 12:8 the same, received; 19:16 result of the last command.
//
// slot_*, key_*: writes to the two aes_keys (bit 0 sent, bit 1 received).
// QpCount: queue pairs, 1..16384. KeyBits: 128, 256. Gcm: 1, with powers of H. Powers: how many.
`include "rocegen_assert.svh"
`default_nettype none

module aes_control #(
  parameter int QpCount = 16,
  parameter int KeyBits = 256,
  parameter int Gcm = 1,
  parameter int Powers = 5
) (
  input  logic                       clk,
  input  logic                       rst,
  output logic                       ready_o,
  input  logic                       s_cfg_tvalid,
  output logic                       s_cfg_tready,
  input  roce_pkg::qp_cfg_t          s_cfg_tdata,
  input  logic [roce_pkg::LifeW-1:0] life_i,
  input  logic                       ctl_valid_i,
  input  logic                       ctl_write_i,
  input  logic [11:0]                ctl_addr_i,
  input  logic [31:0]                ctl_wdata_i,
  output logic                       ctl_ready_o,
  output logic [31:0]                ctl_rdata_o,
  output logic                       set_valid_o,
  input  logic                       set_ready_i,
  output logic [23:0]                set_qpn_o,
  output logic [23:0]                set_sq_psn_o,
  output logic [23:0]                set_rq_psn_o,
  output logic [roce_pkg::LifeW-1:0] set_life_o,
  input  logic                       ref_we_i,
  input  logic [(QpCount > 1 ? $clog2(QpCount) : 1):0] ref_addr_i,
  input  logic [aes_pkg::ExtW-1:0]   ref_i,
  output logic [3:0]                 slot_we_o,
  output logic [(QpCount > 1 ? $clog2(QpCount) : 1)-1:0] slot_qpn_o,
  output logic [2*aes_pkg::ExtW+1:0] slot_o,
  output logic [1:0]                 key_we_o,
  output logic                       key_slot_o,
  output logic [(QpCount > 1 ? $clog2(QpCount) : 1)-1:0] key_qpn_o,
  output logic [(Gcm != 0 ? 128 * Powers : 1) + KeyBits + 56 : 0] key_o
);

  if (QpCount < 1 || QpCount > 16384) begin : gen_check_qp
    $fatal(1, "aes_control: QpCount must be in 1..16384");
  end
  if (KeyBits != 128 && KeyBits != 256) begin : gen_check_key
    $fatal(1, "aes_control: KeyBits must be 128 or 256");
  end
  if (Gcm < 0 || Gcm > 1) begin : gen_check_gcm
    $fatal(1, "aes_control: Gcm must be 0 or 1");
  end

  localparam int QpW = QpCount > 1 ? $clog2(QpCount) : 1;
  localparam int ExtW = aes_pkg::ExtW;
  localparam int PowW = Gcm != 0 ? 128 * Powers : 1;
  localparam logic [3:0] Settle = 4'd15;  // from an invalid slot to its key's change: no look-up is between

  // What it remembers of a queue pair, one half a direction.
  typedef struct packed {
    logic [1:0]      valid;
    logic [1:0]      turn;  // of slot 1, 0; as in aes_keys
    logic [ExtW-1:0] first_rq;  // of the newer slot
    logic [ExtW-1:0] first_sq;
    logic [63:0]     salt;  // of slot 1, 0
  } half_t;
  localparam int HalfW = 4 + 2 * ExtW + 64;
  localparam int RowW = 25 + 2 * HalfW;  // {set up, peer's QPN, received, sent}

  typedef enum logic [3:0] {
    Idle,
    Read,
    Row,
    RefSq,
    RefRq,
    Status,
    Hash,
    Invalid,
    Wait,
    Erase,
    Erase2,
    Install,
    Valid,
    Set,
    Answer
  } state_t;

  state_t          state_q;
  logic            setup_q;  // a set-up or RESET, else a command or a read of the status
  logic            status_q;
  logic [3:0]      wait_q;
  logic [23:0]     qpn_q;
  logic [31:0]     salt_q;
  logic [23:0]     from_request_q, from_response_q;
  logic [KeyBits-1:0] key_q;
  logic [3:0]      result_q;
  logic [31:0]     rdata_q;
  logic [1:0]      sent_force_q, received_force_q;  // newer slot in force: requests, responses

  logic            command_dir, command_long, command_erase;
  assign command_dir = ctl_wdata_i[0];
  assign command_long = ctl_wdata_i[1];
  assign command_erase = ctl_wdata_i[2];

  logic        erases;  // the record is a set-up or RESET
  logic [23:0] row_qpn;
  logic        qpn_good;
  assign erases = s_cfg_tdata.setup || s_cfg_tdata.state == roce_pkg::QpReset;
  assign row_qpn = setup_q ? s_cfg_tdata.qpn : qpn_q;
  assign qpn_good = {8'd0, row_qpn} < 32'(QpCount);

  // ---- the row ----------------------------------------------------------------------------------
  logic            row_we;
  logic [RowW-1:0] row_d, row;
  logic            rows_ready;
  ram_clear #(
    .Width(RowW),
    .Depth(1 << QpW),
    .Latency(1)
  ) u_rows (
    .clk(clk),
    .rst(rst),
    .wr_en_i(row_we),
    .wr_addr_i(row_qpn[QpW-1:0]),
    .wr_data_i(row_d),
    .rd_en_i(state_q == Read),
    .rd_addr_i(row_qpn[QpW-1:0]),
    .rd_data_o(row),
    .ready_o(rows_ready)
  );
  half_t sent, received, mine, other;
  logic  is_set_up;
  logic [23:0] peer;
  assign {is_set_up, peer, received, sent} = row;
  assign mine = command_dir ? received : sent;
  assign other = command_dir ? sent : received;

  // ---- references, for what is told by PSNs of 24 bits ------------------------------------------
  logic [ExtW-1:0] reference;
  ram_sdp #(
    .Width(ExtW),
    .Depth(2 << QpW),
    .Latency(1)
  ) u_refs (
    .clk(clk),
    .wr_en_i(ref_we_i),
    .wr_addr_i(ref_addr_i),
    .wr_data_i(ref_i),
    .rd_en_i(state_q == Read || state_q == Row),
    .rd_addr_i({state_q == Row, row_qpn[QpW-1:0]}),
    .rd_data_o(reference)
  );
  // Space 0 (own requests): requests sent, responses received. State Row looks at space 0, RefSq at space 1.
  logic [23:0]     from, step;
  logic [ExtW-1:0] from_ext;
  logic [ExtW-1:0] first_sq_q, first_rq_q;
  logic [ExtW-1:0] past_sent, past_received;
  assign from = (state_q == Row) == command_dir ? from_response_q : from_request_q;
  assign step = from - reference[23:0];
  assign from_ext = reference + {{(ExtW-24){aes_pkg::older(step)}}, step};
  assign past_sent = reference - (state_q == Row ? sent.first_sq : sent.first_rq);
  assign past_received = reference - (state_q == Row ? received.first_sq : received.first_rq);

  // ---- the command's slot -----------------------------------------------------------------------
  logic sent_newer, received_newer, sent_newer_valid, received_newer_valid;
  assign sent_newer = sent.turn[1] ^ sent.turn[0];
  assign received_newer = received.turn[1] ^ received.turn[0];
  assign sent_newer_valid = sent_newer ? sent.valid[1] : sent.valid[0];
  assign received_newer_valid = received_newer ? received.valid[1] : received.valid[0];
  logic newer, slot, turn, refused;
  assign newer = command_dir ? received_newer : sent_newer;
  assign slot = (command_dir ? received_newer_valid : sent_newer_valid) ? !newer : newer;
  assign turn = slot ? !mine.turn[0] : mine.turn[1];
  logic slot_q, turn_q;
  logic [3:0] refusal;
  always_comb begin
    refusal = '0;
    if (!qpn_good || !is_set_up) refusal = 4'd1;
    else if (command_long && KeyBits != 256 && !command_erase) refusal = 4'd2;
    else if (!command_erase && ((other.valid[0] && other.salt[31:0] == salt_q) ||
        (other.valid[1] && other.salt[63:32] == salt_q))) refusal = 4'd3;
  end
  assign refused = refusal != '0;

  // ---- hash key ---------------------------------------------------------------------------------
  logic            hash_start, hash_done;
  logic [PowW-1:0] powers;
  if (Gcm != 0) begin : gen_hash
    aes_hash_key #(
      .KeyBits(KeyBits),
      .Powers(Powers)
    ) u_hash (
      .clk(clk),
      .rst(rst),
      .start_i(hash_start),
      .clear_i(state_q == Answer),
      .key_i(key_q),
      .long_i(command_long),
      .done_o(hash_done),
      .pow_o(powers)
    );
  end else begin : gen_no_hash
    logic unused_start;
    assign unused_start = hash_start;
    assign hash_done = 1'b1;
    assign powers = '0;
  end
  logic hash_started_q;
  assign hash_start = state_q == Hash && !hash_started_q;

  // ---- what a command or a set-up does, step by step --------------------------------------------
  always_ff @(posedge clk) begin
    if (rst) begin
      state_q         <= Idle;
      qpn_q           <= '0;
      salt_q          <= '0;
      from_request_q  <= '0;
      from_response_q <= '0;
      key_q           <= '0;
      result_q        <= '0;
      rdata_q         <= '0;
      hash_started_q  <= 1'b0;
    end else begin
      case (state_q)
        Idle: begin
          wait_q         <= '0;
          hash_started_q <= 1'b0;
          rdata_q        <= '0;
          if (ready_o && s_cfg_tvalid && erases) begin
            setup_q <= 1'b1;
            state_q <= Read;
          end else if (ready_o && ctl_valid_i) begin
            setup_q  <= 1'b0;
            status_q <= !ctl_write_i;
            state_q  <= Answer;
            if (!ctl_write_i) begin
              if (ctl_addr_i[11:2] == 10'h000) rdata_q <= {8'd0, qpn_q};
              if (ctl_addr_i[11:2] == 10'h005) state_q <= Read;
            end else begin
              case (ctl_addr_i[11:2])
                10'h000: qpn_q <= ctl_wdata_i[23:0];
                10'h001: salt_q <= ctl_wdata_i;
                10'h002: from_request_q <= ctl_wdata_i[23:0];
                10'h003: from_response_q <= ctl_wdata_i[23:0];
                10'h004: state_q <= Read;
                default: begin
                  for (int i = 0; i < KeyBits / 32; i++)
                    if (ctl_addr_i[11:2] == 10'(8 + i)) key_q[32*i+:32] <= ctl_wdata_i;
                end
              endcase
            end
          end
        end
        Read: state_q <= Row;
        Row: begin
          first_sq_q       <= from_ext;
          sent_force_q     <= {1'b0, past_sent[ExtW-1:aes_pkg::KeyLife] == '0};
          received_force_q <= {past_received[ExtW-1:aes_pkg::KeyLife] == '0, 1'b0};
          slot_q           <= slot;
          turn_q           <= turn;
          if (setup_q) begin
            state_q <= qpn_good ? Invalid : Answer;
          end else if (!status_q && refused) begin
            result_q <= refusal;
            state_q  <= Answer;
          end else begin
            state_q <= RefSq;
          end
        end
        RefSq: begin
          first_rq_q          <= from_ext;
          sent_force_q[1]     <= past_sent[ExtW-1:aes_pkg::KeyLife] == '0;
          received_force_q[0] <= past_received[ExtW-1:aes_pkg::KeyLife] == '0;
          state_q             <= RefRq;
        end
        RefRq: begin
          result_q <= status_q ? result_q : '0;
          state_q  <= status_q ? Status : command_erase ? Invalid : Hash;
        end
        Status: begin
          rdata_q[19:16] <= result_q;
          if (qpn_good) begin
            rdata_q[4:0]  <= {sent_newer_valid ? sent_force_q : 2'b00, sent_newer, sent.valid};
            rdata_q[12:8] <= {received_newer_valid ? received_force_q : 2'b00, received_newer,
                received.valid};
          end
          state_q <= Answer;
        end
        Hash: begin
          hash_started_q <= 1'b1;
          if (hash_started_q && hash_done) state_q <= Invalid;
        end
        Invalid: state_q <= Wait;
        Wait: begin
          wait_q <= wait_q + 1'b1;
          if (wait_q == Settle) state_q <= setup_q || command_erase ? Erase : Install;
        end
        Erase: state_q <= Erase2;
        Erase2: state_q <= setup_q && s_cfg_tdata.setup ? Set : Answer;
        Install: state_q <= Valid;
        Valid: state_q <= Answer;
        Set: if (set_ready_i) state_q <= Answer;
        default: begin  // Answer
          state_q <= Idle;
          if (setup_q ? s_cfg_tdata.qpn == qpn_q : ctl_write_i && ctl_addr_i[11:2] == 10'h004) begin
            key_q  <= '0;
            salt_q <= '0;
          end
        end
      endcase
    end
  end

  assign s_cfg_tready = s_cfg_tvalid && ready_o &&
      (erases ? state_q == Answer && setup_q : state_q == Idle);
  assign ctl_ready_o = state_q == Answer && !setup_q;
  assign ctl_rdata_o = rdata_q;
  assign set_valid_o = state_q == Set;
  assign set_qpn_o = s_cfg_tdata.qpn;
  assign set_sq_psn_o = s_cfg_tdata.sq_psn;
  assign set_rq_psn_o = s_cfg_tdata.rq_psn;
  assign set_life_o = life_i;

  // ---- writes -----------------------------------------------------------------------------------
  logic [1:0] dirs;
  assign dirs = setup_q ? 2'b11 : command_dir ? 2'b10 : 2'b01;
  always_comb begin
    slot_we_o = '0;
    if (state_q == Invalid) begin
      if (setup_q || command_erase) slot_we_o = {{2{dirs[1]}}, {2{dirs[0]}}};
      else slot_we_o = {dirs[1] && slot_q, dirs[1] && !slot_q, dirs[0] && slot_q, dirs[0] && !slot_q};
    end else if (state_q == Valid) begin
      slot_we_o = {dirs[1] && slot_q, dirs[1] && !slot_q, dirs[0] && slot_q, dirs[0] && !slot_q};
    end
  end
  assign slot_qpn_o = row_qpn[QpW-1:0];
  // An invalid slot must not look newer than the other one of the direction, so it keeps its own turn.
  assign slot_o = state_q == Valid ? {1'b1, turn_q, first_rq_q, first_sq_q} :
      {1'b0, setup_q || command_erase ? 1'b0 : (slot_q ? mine.turn[1] : mine.turn[0]), {(2*ExtW){1'b0}}};
  assign key_we_o = state_q == Erase || state_q == Erase2 || state_q == Install ? dirs : 2'b00;
  assign key_slot_o = state_q == Install ? slot_q : state_q == Erase2;
  assign key_qpn_o = row_qpn[QpW-1:0];
  assign key_o = state_q == Install ? {powers, key_q, command_dir ? qpn_q : peer,
      salt_q, command_long} : '0;

  half_t mine_d;
  always_comb begin
    mine_d = mine;
    if (command_erase) begin
      mine_d = '0;
    end else if (state_q == Invalid) begin
      mine_d.valid = mine.valid & (slot_q ? 2'b01 : 2'b10);
    end else begin
      mine_d.valid = mine.valid | (slot_q ? 2'b10 : 2'b01);
      mine_d.turn = slot_q ? {turn_q, mine.turn[0]} : {mine.turn[1], turn_q};
      mine_d.first_sq = first_sq_q;
      mine_d.first_rq = first_rq_q;
      mine_d.salt = slot_q ? {salt_q, mine.salt[31:0]} : {mine.salt[63:32], salt_q};
    end
  end
  assign row_we = state_q == Invalid || state_q == Valid;
  assign row_d = setup_q ? {s_cfg_tdata.setup, s_cfg_tdata.dqpn, {(2*HalfW){1'b0}}} :
      command_dir ? {is_set_up, peer, mine_d, sent} : {is_set_up, peer, received, mine_d};

  assign ready_o = rows_ready;

  `ROCEGEN_ASSERT(nothing_left, state_q != Idle || powers == '0)

  logic unused;
  assign unused = ^{s_cfg_tdata, ctl_addr_i[1:0], past_sent[aes_pkg::KeyLife-1:0],
      past_received[aes_pkg::KeyLife-1:0], other};

endmodule

`default_nettype wire
