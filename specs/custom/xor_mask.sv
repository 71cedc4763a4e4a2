// xor_mask: a register stage of a packet stream that flips bits of the payload: the byte Key is
// XORed into every byte of a beat that comes with mine_i. Twice the same gives the payload back.
//
// Handshake: the outputs are registers; s_pkt_tready follows m_pkt_tready combinationally. A beat a
// cycle, latency 1.
//
// DataW: bits a beat, 64..1024, a power of two. UserW: bits of tuser. Key: 0..255.
// rocegen: comb s_pkt.tready<-m_pkt.tready
`default_nettype none

module xor_mask #(
  parameter int DataW = 512,
  parameter int UserW = 386,
  parameter int Key = 90
) (
  input  logic               clk,
  input  logic               rst,
  input  logic               mine_i,  // of the beat at s_pkt
  input  logic               s_pkt_tvalid,
  output logic               s_pkt_tready,
  input  logic [DataW-1:0]   s_pkt_tdata,
  input  logic [DataW/8-1:0] s_pkt_tkeep,
  input  logic               s_pkt_tlast,
  input  logic [UserW-1:0]   s_pkt_tuser,
  output logic               m_pkt_tvalid,
  input  logic               m_pkt_tready,
  output logic [DataW-1:0]   m_pkt_tdata,
  output logic [DataW/8-1:0] m_pkt_tkeep,
  output logic               m_pkt_tlast,
  output logic [UserW-1:0]   m_pkt_tuser,
  output logic               cnt_packets_o  // worked on
);

  logic load;

  assign load         = m_pkt_tready || !m_pkt_tvalid;
  assign s_pkt_tready = load;

  always_ff @(posedge clk) begin
    if (rst) m_pkt_tvalid <= 1'b0;
    else if (load) m_pkt_tvalid <= s_pkt_tvalid;
    if (load) begin
      m_pkt_tdata <= s_pkt_tdata ^ (mine_i ? {DataW / 8{8'(Key)}} : '0);
      m_pkt_tkeep <= s_pkt_tkeep;
      m_pkt_tlast <= s_pkt_tlast;
      m_pkt_tuser <= s_pkt_tuser;
    end
  end

  always_ff @(posedge clk) begin
    if (rst) cnt_packets_o <= 1'b0;
    else cnt_packets_o <= load && s_pkt_tvalid && s_pkt_tlast && mine_i;
  end

endmodule

`default_nettype wire
