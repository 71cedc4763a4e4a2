// tx_lookup: takes packets to send and finds their connection.
//
// Handshake: a packet's beats come out one by one as m_*, together with the record, the peer's
// addresses and the lengths that follow from the record; m_ready_i takes a beat. Latency 1 cycle, a
// beat a cycle; s_pkt_tready depends only on m_ready_i. Bytes that tkeep does not name come out as
// zero. A set-up on s_cfg (with `setup`) stores the connection of a QP; it is in force for packets
// taken from the next cycle on. s_cfg is always ready. A QP must be set up before it sends: the
// table is not cleared. life_i is the number of the life that a set-up begins: a packet whose
// record has another one is marked with m_err_o, so that it does not reach the new peer.
//
// DataW: bits a beat, 64..1024, a power of two. QpCount: QPs, 1..16384; QPNs at or above it are
// ignored on s_cfg and must not be sent from.
//
// rocegen: record s_pkt.tuser tx_pkt_err
`default_nettype none

module tx_lookup #(
  parameter int DataW = 512,
  parameter int QpCount = 512,
  localparam int Bytes = DataW / 8
) (
  input  logic              clk,
  input  logic              rst,
  input  logic              s_cfg_tvalid,
  output logic              s_cfg_tready,
  input  roce_pkg::qp_cfg_t s_cfg_tdata,
  input  logic [roce_pkg::LifeW-1:0] life_i,
  input  logic              s_pkt_tvalid,
  output logic              s_pkt_tready,
  input  logic [DataW-1:0]  s_pkt_tdata,
  input  logic [Bytes-1:0]  s_pkt_tkeep,
  input  logic              s_pkt_tlast,
  input  logic [roce_pkg::TxPktW:0] s_pkt_tuser,  // {err, tx_pkt_t}
  output logic              m_valid_o,
  input  logic              m_ready_i,
  output logic [DataW-1:0]  m_data_o,
  output logic              m_last_o,
  output logic              m_err_o,      // not to be sent; valid with m_last_o
  output logic              m_stale_o,    // as the QP was set up anew since
  output roce_pkg::tx_pkt_t m_pkt_o,
  output logic [2:0]        m_off_o,      // where the payload is placed: see tx_assemble
  output logic [5:0]        m_ext_o,      // extension headers: see tx_header
  output logic [13:0]       m_words_o,    // IP total length in words of four bytes
  output logic [47:0]       m_dmac_o,
  output logic [31:0]       m_dip_o,
  output logic [23:0]       m_dqpn_o,
  output logic [15:0]       m_sport_o,
  output logic [15:0]       m_pkey_o
);

  localparam int AddrW = QpCount > 1 ? $clog2(QpCount) : 1;
  localparam int LifeW = roce_pkg::LifeW;
  localparam int ConnW = LifeW + 48 + 32 + 24 + 16 + 16;

  if (QpCount < 1 || QpCount > 16384) begin : gen_check_qps
    $fatal(1, "tx_lookup: QpCount must be 1 to 16384");
  end

  roce_pkg::tx_pkt_t pkt;
  logic              load;
  logic              err_q;

  assign pkt = s_pkt_tuser[roce_pkg::TxPktW-1:0];
  assign s_pkt_tready = !m_valid_o || m_ready_i;
  assign load = s_pkt_tvalid && s_pkt_tready;

  logic reth;
  logic aeth;
  logic imm_near;    // ImmDt or IETH right behind the BTH
  logic imm_far;     // ImmDt behind the RETH
  logic atomic;      // AtomicETH
  logic atomic_ack;  // AETH and AtomicAckETH

  always_comb begin
    reth       = 1'b0;
    aeth       = 1'b0;
    imm_near   = 1'b0;
    imm_far    = 1'b0;
    atomic     = 1'b0;
    atomic_ack = 1'b0;
    case (pkt.opcode)
      roce_pkg::OpWriteFirst, roce_pkg::OpWriteOnly, roce_pkg::OpReadRequest: reth = 1'b1;
      roce_pkg::OpWriteOnlyImm: begin
        reth    = 1'b1;
        imm_far = 1'b1;
      end
      roce_pkg::OpReadRespFirst, roce_pkg::OpReadRespLast, roce_pkg::OpReadRespOnly,
      roce_pkg::OpAck: aeth = 1'b1;
      roce_pkg::OpAtomicAck: atomic_ack = 1'b1;
      roce_pkg::OpCmpSwap, roce_pkg::OpFetchAdd: atomic = 1'b1;
      roce_pkg::OpSendLastImm, roce_pkg::OpSendOnlyImm, roce_pkg::OpWriteLastImm,
      roce_pkg::OpSendLastInv, roce_pkg::OpSendOnlyInv: imm_near = 1'b1;
      default: ;
    endcase
  end

  // 11 words are IPv4, UDP, BTH and ICRC; extension headers have 0, 1, 3 (atomic acknowledge), 4, 5
  // or 7 (atomic) words; a started word of payload is padded to a whole one.
  logic [2:0] off;
  logic [2:0] ext_words;
  logic [4:0] fixed_words;
  assign off = {atomic, reth || atomic_ack, aeth || imm_near || imm_far};
  assign ext_words = {reth || atomic, atomic || atomic_ack,
                      aeth || imm_near || imm_far || atomic || atomic_ack};
  assign fixed_words = 5'd11 + {2'b00, ext_words} + {4'd0, pkt.pay_bytes[1:0] != 2'd0};

  always_ff @(posedge clk) begin
    if (rst) m_valid_o <= 1'b0;
    else if (s_pkt_tready) m_valid_o <= s_pkt_tvalid;
  end

  always_ff @(posedge clk) begin
    if (load) begin
      m_last_o  <= s_pkt_tlast;
      err_q     <= s_pkt_tuser[roce_pkg::TxPktW];
      m_pkt_o   <= pkt;
      m_off_o   <= off;
      m_ext_o   <= {reth || atomic, atomic, atomic_ack, aeth || atomic_ack, imm_near, imm_far};
      m_words_o <= {2'b00, pkt.pay_bytes[13:2]} + {9'd0, fixed_words};
    end
  end

  // In this form a lane is cleared by the reset of its registers, not by a LUT a bit.
  for (genvar p = 0; p < Bytes; p++) begin : gen_lane
    always_ff @(posedge clk) begin
      if (load && !s_pkt_tkeep[p]) m_data_o[8*p+:8] <= 8'h00;
      else if (load) m_data_o[8*p+:8] <= s_pkt_tdata[8*p+:8];
    end
  end

  logic [ConnW-1:0] conn;
  logic [LifeW-1:0] life;

  ram_sdp #(
    .Width(ConnW),
    .Depth(QpCount),
    .Latency(1),
    .Style(0)
  ) u_table (
    .clk(clk),
    .wr_en_i(s_cfg_tvalid && s_cfg_tdata.setup && s_cfg_tdata.qpn < 24'(QpCount)),
    .wr_addr_i(s_cfg_tdata.qpn[AddrW-1:0]),
    .wr_data_i({life_i, s_cfg_tdata.dmac, s_cfg_tdata.dip, s_cfg_tdata.dqpn, s_cfg_tdata.sport,
                s_cfg_tdata.pkey}),
    .rd_en_i(load),
    .rd_addr_i(pkt.qpn[AddrW-1:0]),
    .rd_data_o(conn)
  );

  assign s_cfg_tready = 1'b1;
  assign {life, m_dmac_o, m_dip_o, m_dqpn_o, m_sport_o, m_pkey_o} = conn;
  assign m_stale_o = life != m_pkt_o.life;
  assign m_err_o   = err_q || m_stale_o;

  // What the other owners of a QP's set-up take.
  logic unused_cfg;
  assign unused_cfg = ^s_cfg_tdata;

endmodule

`default_nettype wire
