// judge: a stage at ingress that decides by the first byte of a packet's payload: 0xD0 drop, 0xD1 refuse, 0xD2 tell,
// 0xD3 drop and tell, 0xE0..0xE7 tag with bit n, 0xE8 a tag and tell. Everything else passes. Atomics and ACKs pass.
//
// The verdict leaves with the packet's last beat. Handshake: the outputs are registers; s_pkt_tready follows
// m_pkt_tready combinationally. A beat a cycle, latency 1. A register of its window (word 0) holds the tag of 0xE8; it
// answers a cycle later. Set-ups are counted.
//
// DataW: bits a beat. Index: bit of the mask.
// rocegen: comb s_pkt.tready<-m_pkt.tready
`default_nettype none

module judge #(
  parameter int DataW = 512,
  parameter int Index = 0
) (
  input  logic                clk,
  input  logic                rst,
  input  logic                s_pkt_tvalid,
  output logic                s_pkt_tready,
  input  logic [DataW-1:0]    s_pkt_tdata,
  input  logic [DataW/8-1:0]  s_pkt_tkeep,
  input  logic                s_pkt_tlast,
  input  roce_pkg::svc_rx_t   s_pkt_tuser,
  output logic                m_pkt_tvalid,
  input  logic                m_pkt_tready,
  output logic [DataW-1:0]    m_pkt_tdata,
  output logic [DataW/8-1:0]  m_pkt_tkeep,
  output logic                m_pkt_tlast,
  output roce_pkg::svc_rx_t   m_pkt_tuser,
  input  logic                s_cfg_tvalid,
  output logic                s_cfg_tready,
  input  logic [roce_pkg::QpCfgW-1:0] s_cfg_tdata,
  input  logic                ctl_valid_i,
  input  logic                ctl_write_i,
  input  logic [11:0]         ctl_addr_i,
  input  logic [31:0]         ctl_wdata_i,
  output logic                ctl_ready_o,
  output logic [31:0]         ctl_rdata_o,
  output logic                cnt_judged_o,
  output logic                cnt_setups_o
);

  logic       load;
  logic       inside_q;
  logic       mine;
  logic [7:0] first;  // byte of the packet
  logic [7:0] first_q;
  logic [7:0] tag_q;
  logic [7:0] tag;
  logic       special;

  assign load         = m_pkt_tready || !m_pkt_tvalid;
  assign s_pkt_tready = load;

  always_comb begin
    case (s_pkt_tuser.hdr.opcode)
      roce_pkg::OpCmpSwap, roce_pkg::OpFetchAdd, roce_pkg::OpAtomicAck, roce_pkg::OpAck: mine = 1'b0;
      default: mine = s_pkt_tuser.mask[Index];
    endcase
    first   = inside_q ? first_q : s_pkt_tkeep[0] ? s_pkt_tdata[7:0] : 8'd0;
    special = mine && s_pkt_tlast;
    tag     = '0;
    if (special && first[7:3] == 5'b11100) tag = 8'd1 << first[2:0];
    if (special && first == 8'hE8) tag = tag_q;
  end

  always_ff @(posedge clk) begin
    if (rst) begin
      m_pkt_tvalid <= 1'b0;
      inside_q     <= 1'b0;
    end else if (load) begin
      m_pkt_tvalid <= s_pkt_tvalid;
      if (s_pkt_tvalid) inside_q <= !s_pkt_tlast;
    end
    if (load && !inside_q) first_q <= first;
    if (load) begin
      m_pkt_tdata            <= s_pkt_tdata;
      m_pkt_tkeep            <= s_pkt_tkeep;
      m_pkt_tlast            <= s_pkt_tlast;
      m_pkt_tuser            <= s_pkt_tuser;
      m_pkt_tuser.drop       <= s_pkt_tuser.drop || (special && (first == 8'hD0 || first == 8'hD3));
      m_pkt_tuser.tell       <= s_pkt_tuser.tell ||
          (special && (first == 8'hD2 || first == 8'hD3 || first == 8'hE8));
      m_pkt_tuser.hdr.refuse <= s_pkt_tuser.hdr.refuse || (special && first == 8'hD1);
      m_pkt_tuser.hdr.tag    <= s_pkt_tuser.hdr.tag | tag;
    end
  end

  assign s_cfg_tready = 1'b1;

  always_ff @(posedge clk) begin
    if (rst) begin
      ctl_ready_o  <= 1'b0;
      tag_q        <= 8'h5A;
      cnt_judged_o <= 1'b0;
      cnt_setups_o <= 1'b0;
    end else begin
      ctl_ready_o  <= ctl_valid_i && !ctl_ready_o;
      cnt_judged_o <= load && s_pkt_tvalid && special;
      cnt_setups_o <= s_cfg_tvalid;
      if (ctl_valid_i && ctl_write_i && !ctl_ready_o && ctl_addr_i == 12'd0) tag_q <= ctl_wdata_i[7:0];
    end
    ctl_rdata_o <= ctl_addr_i == 12'd0 ? {24'd0, tag_q} : 32'd0;
  end

  logic unused_bits;
  assign unused_bits = ^{s_cfg_tdata, ctl_wdata_i[31:8]};

endmodule

`default_nettype wire
