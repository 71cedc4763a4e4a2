// rsp_guard: after a READ response whose data could not be read sends no further response of its
// queue pair, so that the NAK stands in place of the next response.
//
// s_pkt passes to m_pkt combinationally, as it is, but for the error bit: a response (READ response
// or atomic acknowledge) of a QP that had one with an error before is marked as well, so that
// tx_framer does not send it. The last Entries QPs are remembered; an older one is forgotten, which
// costs responses that the peer ignores. s_cfg: a set-up or RESET of a QP forgets it; always ready.
// A response that comes later counts for its own life only.
//
// DataW: bits a beat, 8..1024. Entries: 1..16.
// rocegen: comb s_pkt.tready<-m_pkt.tready, m_pkt.tvalid<-s_pkt.tvalid
// rocegen: record s_pkt.tuser tx_pkt_err
// rocegen: record m_pkt.tuser tx_pkt_err
`default_nettype none

module rsp_guard #(
  parameter int DataW = 512,
  parameter int Entries = 4
) (
  input  logic                      clk,
  input  logic                      rst,
  input  logic                      s_cfg_tvalid,
  output logic                      s_cfg_tready,
  // Only who starts anew counts.
  /* verilator lint_off UNUSEDSIGNAL */
  input  roce_pkg::qp_cfg_t         s_cfg_tdata,
  /* verilator lint_on UNUSEDSIGNAL */
  input  logic                      s_pkt_tvalid,
  output logic                      s_pkt_tready,
  input  logic [DataW-1:0]          s_pkt_tdata,
  input  logic [DataW/8-1:0]        s_pkt_tkeep,
  input  logic                      s_pkt_tlast,
  input  logic [roce_pkg::TxPktW:0] s_pkt_tuser,
  output logic                      m_pkt_tvalid,
  input  logic                      m_pkt_tready,
  output logic [DataW-1:0]          m_pkt_tdata,
  output logic [DataW/8-1:0]        m_pkt_tkeep,
  output logic                      m_pkt_tlast,
  output logic [roce_pkg::TxPktW:0] m_pkt_tuser,
  output logic                      cnt_rd_suppressed_o
);

  if (Entries < 1 || Entries > 16) begin : gen_check_entries
    $fatal(1, "rsp_guard: Entries must be in 1..16");
  end

  localparam int LifeW = roce_pkg::LifeW;

  roce_pkg::tx_pkt_t  pkt;
  logic               error;
  logic               response;
  logic               anew;  // a QP starts anew
  logic               fresh;  // a QP to remember
  logic               marked;
  logic               marked_q;
  logic               stalled_q;  // the beat was offered before: a set-up must not change it
  logic [Entries-1:0] hit;
  logic [Entries-1:0] hold_q;  // the QP is remembered
  logic [Entries-1:0] put_q;  // one-hot: taken next
  logic [24*Entries-1:0] qpn_q;
  logic [LifeW*Entries-1:0] life_q;  // of the QP that is remembered

  assign {error, pkt} = s_pkt_tuser;
  assign response = pkt.opcode == roce_pkg::OpAtomicAck ||
      (pkt.opcode >= roce_pkg::OpReadRespFirst && pkt.opcode <= roce_pkg::OpReadRespOnly);
  assign anew = s_cfg_tvalid && (s_cfg_tdata.setup || s_cfg_tdata.state == roce_pkg::QpReset);
  // A response in the cycle of its QP's set-up belongs to the former life.
  assign fresh = s_pkt_tvalid && s_pkt_tready && s_pkt_tlast && response && error && hit == '0 &&
      !(anew && s_cfg_tdata.qpn == pkt.qpn);

  assign marked = error || (response && hit != '0);

  always_ff @(posedge clk) begin
    if (rst) stalled_q <= 1'b0;
    else stalled_q <= s_pkt_tvalid && !s_pkt_tready;
    if (!stalled_q) marked_q <= marked;
  end

  for (genvar i = 0; i < Entries; i++) begin : gen_entry
    assign hit[i] = hold_q[i] && qpn_q[24*i+:24] == pkt.qpn &&
        life_q[LifeW*i+:LifeW] == pkt.life;

    always_ff @(posedge clk) begin
      if (fresh && put_q[i]) begin
        qpn_q[24*i+:24]          <= pkt.qpn;
        life_q[LifeW*i+:LifeW] <= pkt.life;
      end
      if (rst) hold_q[i] <= 1'b0;
      else if (fresh && put_q[i]) hold_q[i] <= 1'b1;
      else if (anew && s_cfg_tdata.qpn == qpn_q[24*i+:24]) hold_q[i] <= 1'b0;
    end
  end

  always_ff @(posedge clk) begin
    if (rst) put_q <= Entries'(1);
    else if (fresh) put_q <= Entries'({put_q, put_q[Entries-1]});
    if (rst) cnt_rd_suppressed_o <= 1'b0;
    else cnt_rd_suppressed_o <= s_pkt_tvalid && s_pkt_tready && s_pkt_tlast && response &&
        hit != '0;
  end

  assign s_cfg_tready = 1'b1;
  assign m_pkt_tvalid = s_pkt_tvalid;
  assign s_pkt_tready = m_pkt_tready;
  assign m_pkt_tdata  = s_pkt_tdata;
  assign m_pkt_tkeep  = s_pkt_tkeep;
  assign m_pkt_tlast  = s_pkt_tlast;
  assign m_pkt_tuser  = {stalled_q ? marked_q : marked, pkt};

endmodule

`default_nettype wire
