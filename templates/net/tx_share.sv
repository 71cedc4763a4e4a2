// tx_share: answers and data take the way to the framer in turns, answers first; tells when data
// waits.
//
// s_answer and s_data are packet streams with the same tuser. Answers are packets of one empty beat:
// their tdata is not looked at, so no multiplexer is spent on it. s_data has the line to its tlast;
// an answer has precedence over the next packet of data. busy_o: data was held back (valid without
// ready) in one of the last Linger cycles, so the line is full: ack_queue then collects its answers.
// Handshake: the outputs are registers; s_answer_tready and s_data_tready follow m_axis_tready
// combinationally, s_data_tready also s_answer_tvalid. Latency 1 cycle, one beat a cycle.
//
// DataW: bits a beat, 8..1024, whole bytes. UserW: bits of tuser. Linger: cycles, 1..65535.
// rocegen: comb s_answer.tready<-m_axis.tready, s_data.tready<-m_axis.tready
// rocegen: comb s_data.tready<-s_answer.tvalid
`include "rocegen_assert.svh"
`default_nettype none

module tx_share #(
  parameter int DataW = 512,
  parameter int UserW = 1,
  parameter int Linger = 128
) (
  input  logic               clk,
  input  logic               rst,
  input  logic               s_answer_tvalid,
  output logic               s_answer_tready,
  input  logic [DataW-1:0]   s_answer_tdata,
  input  logic [DataW/8-1:0] s_answer_tkeep,
  input  logic               s_answer_tlast,
  input  logic [UserW-1:0]   s_answer_tuser,
  input  logic               s_data_tvalid,
  output logic               s_data_tready,
  input  logic [DataW-1:0]   s_data_tdata,
  input  logic [DataW/8-1:0] s_data_tkeep,
  input  logic               s_data_tlast,
  input  logic [UserW-1:0]   s_data_tuser,
  output logic               m_axis_tvalid,
  input  logic               m_axis_tready,
  output logic [DataW-1:0]   m_axis_tdata,
  output logic [DataW/8-1:0] m_axis_tkeep,
  output logic               m_axis_tlast,
  output logic [UserW-1:0]   m_axis_tuser,
  output logic               busy_o
);

  if (Linger < 1 || Linger > 65535) begin : gen_check_linger
    $fatal(1, "tx_share: Linger must be in 1..65535");
  end

  localparam int LingerW = $clog2(Linger + 1);

  logic inside_q;  // between the beats of a packet of data
  logic pick_answer;
  logic load;

  assign pick_answer = s_answer_tvalid && !inside_q;
  assign load = m_axis_tready || !m_axis_tvalid;
  assign s_answer_tready = load && !inside_q;
  assign s_data_tready = load && !pick_answer;

  always_ff @(posedge clk) begin
    if (rst) begin
      inside_q      <= 1'b0;
      m_axis_tvalid <= 1'b0;
    end else begin
      if (s_data_tvalid && s_data_tready) inside_q <= !s_data_tlast;
      if (load) m_axis_tvalid <= pick_answer || s_data_tvalid;
    end
  end

  always_ff @(posedge clk) begin
    if (load) begin
      m_axis_tdata <= s_data_tdata;
      m_axis_tkeep <= pick_answer ? '0 : s_data_tkeep;
      m_axis_tlast <= pick_answer || s_data_tlast;
      m_axis_tuser <= pick_answer ? s_answer_tuser : s_data_tuser;
    end
  end

  logic [LingerW-1:0] linger_q;

  always_ff @(posedge clk) begin
    if (rst) linger_q <= '0;
    else if (s_data_tvalid && !s_data_tready) linger_q <= LingerW'(Linger);
    else if (linger_q != '0) linger_q <= linger_q - 1'b1;
  end

  assign busy_o = linger_q != '0;

  // Answers are empty.
  logic unused;
  assign unused = ^{s_answer_tdata, s_answer_tkeep, s_answer_tlast};

  `ROCEGEN_STREAM(answer_contract, s_answer_tvalid, s_answer_tready, s_answer_tuser)
  `ROCEGEN_STREAM(data_contract, s_data_tvalid, s_data_tready,
                  {s_data_tuser, s_data_tlast, s_data_tkeep, s_data_tdata})
  `ROCEGEN_ASSERT(answers_are_empty,
                  !s_answer_tvalid || (s_answer_tlast && (s_answer_tkeep == '0)))

endmodule

`default_nettype wire
