// tx_share: answers, requests without payload and data take the way to the framer in turns, answers
// first; tells when the others wait.
//
// s_answer, s_request and s_data are packet streams with tuser {err, tx_pkt_t}. Answers and
// s_request are packets of one empty beat: their tdata is not looked at, so no multiplexer is spent
// on it. s_data has the line to its tlast; an answer has precedence over the next packet, s_request
// and s_data take turns packet by packet. busy_o: one of these two was held back (valid without
// ready) in one of the last Linger cycles, or line_full_i was set in one of the last FullLinger, so
// answers would take what others want: ack_queue then collects them.
// request_left_o: in the cycle before, the last beat of a request (a packet that is no response) was
// taken from s_data. Handshake: the outputs are registers; each tready follows m_axis_tready
// combinationally, s_request_tready and s_data_tready also the tvalid of those that may go first.
// Latency 1 cycle, one beat a cycle.
//
// DataW: bits a beat, 8..1024, whole bytes. Linger: cycles, 1..65535. FullLinger: cycles, Linger or
// more: the MAC of a full line may hold back as rarely as once a frame.
// rocegen: comb s_answer.tready<-m_axis.tready
// rocegen: comb s_request.tready<-m_axis.tready, s_request.tready<-s_answer.tvalid
// rocegen: comb s_request.tready<-s_request.tvalid, s_request.tready<-s_data.tvalid
// rocegen: comb s_data.tready<-m_axis.tready, s_data.tready<-s_answer.tvalid
// rocegen: comb s_data.tready<-s_request.tvalid, s_data.tready<-s_data.tvalid
`include "rocegen_assert.svh"
`default_nettype none

module tx_share #(
  parameter int DataW = 512,
  parameter int Linger = 128,
  parameter int FullLinger = 256
) (
  input  logic                      clk,
  input  logic                      rst,
  input  logic                      s_answer_tvalid,
  output logic                      s_answer_tready,
  input  logic [DataW-1:0]          s_answer_tdata,
  input  logic [DataW/8-1:0]        s_answer_tkeep,
  input  logic                      s_answer_tlast,
  input  logic [roce_pkg::TxPktW:0] s_answer_tuser,
  input  logic                      s_request_tvalid,
  output logic                      s_request_tready,
  input  logic [DataW-1:0]          s_request_tdata,
  input  logic [DataW/8-1:0]        s_request_tkeep,
  input  logic                      s_request_tlast,
  input  logic [roce_pkg::TxPktW:0] s_request_tuser,
  input  logic                      s_data_tvalid,
  output logic                      s_data_tready,
  input  logic [DataW-1:0]          s_data_tdata,
  input  logic [DataW/8-1:0]        s_data_tkeep,
  input  logic                      s_data_tlast,
  input  logic [roce_pkg::TxPktW:0] s_data_tuser,
  output logic                      m_axis_tvalid,
  input  logic                      m_axis_tready,
  output logic [DataW-1:0]          m_axis_tdata,
  output logic [DataW/8-1:0]        m_axis_tkeep,
  output logic                      m_axis_tlast,
  output logic [roce_pkg::TxPktW:0] m_axis_tuser,
  input  logic                      line_full_i,
  output logic                      request_left_o,
  output logic                      busy_o
);

  if (Linger < 1 || Linger > 65535) begin : gen_check_linger
    $fatal(1, "tx_share: Linger must be in 1..65535");
  end
  if (FullLinger < Linger || FullLinger > 65535) begin : gen_check_full_linger
    $fatal(1, "tx_share: FullLinger must be in Linger..65535");
  end

  localparam int LingerW = $clog2(FullLinger + 1);

  logic inside_q;  // between the beats of a packet of data
  logic data_next_q;  // s_request had the last turn
  logic pick_answer;
  logic pick_request;
  logic load;

  assign pick_answer = s_answer_tvalid && !inside_q;
  assign pick_request = s_request_tvalid && !inside_q && !s_answer_tvalid &&
      !(s_data_tvalid && data_next_q);
  assign load = m_axis_tready || !m_axis_tvalid;
  assign s_answer_tready = load && !inside_q;
  assign s_request_tready = load && pick_request;
  assign s_data_tready = load && !pick_answer && !pick_request;

  always_ff @(posedge clk) begin
    if (rst) begin
      inside_q      <= 1'b0;
      data_next_q   <= 1'b0;
      m_axis_tvalid <= 1'b0;
    end else begin
      if (s_data_tvalid && s_data_tready) inside_q <= !s_data_tlast;
      if (s_request_tready) data_next_q <= 1'b1;
      else if (s_data_tvalid && s_data_tready) data_next_q <= 1'b0;
      if (load) m_axis_tvalid <= pick_answer || pick_request || s_data_tvalid;
    end
  end

  always_ff @(posedge clk) begin
    if (load) begin
      m_axis_tdata <= s_data_tdata;
      m_axis_tkeep <= pick_answer || pick_request ? '0 : s_data_tkeep;
      m_axis_tlast <= pick_answer || pick_request || s_data_tlast;
      m_axis_tuser <= pick_answer ? s_answer_tuser : pick_request ? s_request_tuser : s_data_tuser;
    end
  end

  // ---- what others want to know -----------------------------------------------------------------
  roce_pkg::tx_pkt_t  pkt;
  logic               is_request;
  logic               held;
  logic [LingerW-1:0] linger_q;

  assign pkt = s_data_tuser[roce_pkg::TxPktW-1:0];
  assign is_request = pkt.opcode < roce_pkg::OpReadRespFirst || pkt.opcode > roce_pkg::OpAtomicAck;
  assign held = (s_data_tvalid && !s_data_tready) || (s_request_tvalid && !s_request_tready);

  always_ff @(posedge clk) begin
    if (rst) begin
      linger_q       <= '0;
      request_left_o <= 1'b0;
    end else begin
      request_left_o <= s_data_tvalid && s_data_tready && s_data_tlast && is_request;
      if (line_full_i) linger_q <= LingerW'(FullLinger);
      else if (held && linger_q <= LingerW'(Linger)) linger_q <= LingerW'(Linger);
      else if (linger_q != '0) linger_q <= linger_q - 1'b1;
    end
  end

  assign busy_o = linger_q != '0;

  // Answers and s_request are empty; of data only the opcode counts here.
  logic unused;
  assign unused = ^{s_answer_tdata, s_answer_tkeep, s_answer_tlast, s_request_tdata,
      s_request_tkeep, s_request_tlast, pkt};

  `ROCEGEN_STREAM(answer_contract, s_answer_tvalid, s_answer_tready, s_answer_tuser)
  `ROCEGEN_STREAM(request_contract, s_request_tvalid, s_request_tready, s_request_tuser)
  `ROCEGEN_STREAM(data_contract, s_data_tvalid, s_data_tready,
                  {s_data_tuser, s_data_tlast, s_data_tkeep, s_data_tdata})
  `ROCEGEN_ASSERT(answers_are_empty,
                  !s_answer_tvalid || (s_answer_tlast && (s_answer_tkeep == '0)))
  `ROCEGEN_ASSERT(requests_are_empty,
                  !s_request_tvalid || (s_request_tlast && (s_request_tkeep == '0)))

endmodule

`default_nettype wire
