// rx_fetch: turns commands into payload packets read from the frame buffer, and gives their space
// back.
//
// Handshake: a command with `forward` gives one packet with the command as its tuser: its bytes, or
// one empty beat when there are none; one without gives nothing. With `swap`, which only a payload
// of 8 bytes may have, the bytes come in reverse order. Either returns the space of its `bytes`, in
// order, in the cycle after its last beat was read. Latency 2 cycles from command to first beat;
// a beat a cycle, also from command to command; a command without `forward` takes one cycle.
// s_cmd_tready depends combinationally on m_pay_tready.
//
// DataW: bits a beat, 64..1024, a power of two. AddrW: bits of a buffer address, 1..16. BeatsW:
// bits of a length in beats.
`include "rocegen_assert.svh"
`default_nettype none

module rx_fetch #(
  parameter int DataW = 512,
  parameter int AddrW = 9,
  parameter int BeatsW = 9,
  localparam int Bytes = DataW / 8,
  localparam int PosW = $clog2(Bytes)
) (
  input  logic              clk,
  input  logic              rst,
  input  logic              s_cmd_tvalid,
  output logic              s_cmd_tready,
  input  roce_pkg::rx_cmd_t s_cmd_tdata,
  output logic              rd_en_o,
  output logic [AddrW-1:0]  rd_addr_o,
  input  logic [DataW-1:0]  rd_data_i,       // one cycle after rd_en_o, held
  output logic              release_o,
  output logic [BeatsW-1:0] release_beats_o,
  output logic              m_pay_tvalid,
  input  logic              m_pay_tready,
  output logic [DataW-1:0]  m_pay_tdata,
  output logic [Bytes-1:0]  m_pay_tkeep,
  output logic              m_pay_tlast,
  output roce_pkg::rx_cmd_t m_pay_tuser
);

  // The command in work.
  logic              busy_q;
  roce_pkg::rx_cmd_t cmd_q;
  logic [BeatsW-1:0] beats_q;
  logic [BeatsW-1:0] left_q;  // beats to read after this one
  logic [AddrW-1:0]  addr_q;
  logic              read;
  logic              done;
  logic              load;

  // The beat that was read last.
  logic              out_valid_q;
  logic              out_last_q;
  logic [Bytes-1:0]  out_keep_q;
  roce_pkg::rx_cmd_t out_cmd_q;
  logic              out_free;

  assign out_free = m_pay_tready || !out_valid_q;
  assign read = busy_q && cmd_q.forward && out_free;
  assign done = busy_q && (!cmd_q.forward || (out_free && left_q == '0));
  assign s_cmd_tready = !busy_q || done;
  assign load = s_cmd_tvalid && s_cmd_tready;

  logic [14:0]       bytes_up;
  logic [BeatsW-1:0] beats;
  assign bytes_up = {1'b0, s_cmd_tdata.bytes} + 15'(Bytes - 1);
  assign beats = bytes_up[14:PosW];

  always_ff @(posedge clk) begin
    if (rst) busy_q <= 1'b0;
    else if (s_cmd_tready) busy_q <= s_cmd_tvalid;
  end

  always_ff @(posedge clk) begin
    if (load) begin
      cmd_q   <= s_cmd_tdata;
      beats_q <= beats;
      left_q  <= beats == '0 ? '0 : beats - 1'b1;
      addr_q  <= s_cmd_tdata.buf_addr[AddrW-1:0];
    end else if (read) begin
      left_q <= left_q - 1'b1;
      addr_q <= addr_q + 1'b1;
    end
  end

  assign rd_en_o = read;
  assign rd_addr_o = addr_q;

  always_ff @(posedge clk) begin
    if (rst) release_o <= 1'b0;
    else release_o <= done;
  end

  always_ff @(posedge clk) release_beats_o <= beats_q;

  // Bytes of the last beat; zero stands for a full beat, or for an empty packet.
  logic [PosW-1:0]  tail;
  logic [Bytes-1:0] tail_keep;
  assign tail = cmd_q.bytes[PosW-1:0];
  assign tail_keep = tail == '0 ? {Bytes{beats_q != '0}} : ~({Bytes{1'b1}} << tail);

  always_ff @(posedge clk) begin
    if (rst) out_valid_q <= 1'b0;
    else if (out_free) out_valid_q <= read;
  end

  always_ff @(posedge clk) begin
    if (read) begin
      out_last_q <= left_q == '0;
      out_keep_q <= left_q == '0 ? tail_keep : '1;
      out_cmd_q  <= cmd_q;
    end
  end

  assign m_pay_tvalid = out_valid_q;
  for (genvar i = 0; i < 8; i++) begin : gen_swap
    assign m_pay_tdata[8*i+:8] = out_cmd_q.swap ? rd_data_i[8*(7-i)+:8] : rd_data_i[8*i+:8];
  end
  if (Bytes > 8) begin : gen_rest
    assign m_pay_tdata[DataW-1:64] = rd_data_i[DataW-1:64];
  end
  assign m_pay_tkeep = out_keep_q;
  assign m_pay_tlast = out_last_q;
  assign m_pay_tuser = out_cmd_q;

  logic unused_bits;
  assign unused_bits = ^{bytes_up[PosW-1:0], s_cmd_tdata.buf_addr};

  `ROCEGEN_STREAM(cmd_contract, s_cmd_tvalid, s_cmd_tready, s_cmd_tdata)
  `ROCEGEN_ASSERT(swap_of_8, !(s_cmd_tvalid && s_cmd_tdata.forward && s_cmd_tdata.swap) ||
                  s_cmd_tdata.bytes == 14'd8)
  `ROCEGEN_STREAM(pay_contract, m_pay_tvalid, m_pay_tready,
                  {m_pay_tdata, m_pay_tkeep, m_pay_tlast, m_pay_tuser})

endmodule

`default_nettype wire
