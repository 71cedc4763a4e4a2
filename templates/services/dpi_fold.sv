// dpi_fold: the class of a packet from the classes of its chunks: the greatest; 0 of none.
//
// chunk_valid_i and end_i come with the chunks into the model, class_i out of it Latency cycles later.
// class_valid_o is one pulse a packet, Latency + 1 cycles behind end_i. A packet a cycle.
//
// Lanes: chunks a cycle, >= 1. ClassW: bits of a class, >= 1. Latency: of the model, >= 0.
`default_nettype none

module dpi_fold #(
  parameter int Lanes = 1,
  parameter int ClassW = 1,
  parameter int Latency = 4
) (
  input  logic                    clk,
  input  logic                    rst,
  input  logic [Lanes-1:0]        chunk_valid_i,
  input  logic                    end_i,
  input  logic [Lanes*ClassW-1:0] class_i,
  output logic                    class_valid_o,
  output logic [ClassW-1:0]       class_o
);

  if (Lanes < 1 || ClassW < 1 || Latency < 0) begin : gen_check
    $fatal(1, "dpi_fold: Lanes and ClassW must be at least 1, Latency at least 0");
  end

  logic [Lanes-1:0] valid;
  logic             ends;

  if (Latency == 0) begin : gen_now
    assign {ends, valid} = {end_i, chunk_valid_i};
  end else begin : gen_later
    logic [Latency*(Lanes+1)-1:0] wait_q;
    if (Latency == 1) begin : gen_one
      always_ff @(posedge clk) wait_q <= rst ? '0 : {end_i, chunk_valid_i};
    end else begin : gen_many
      always_ff @(posedge clk) begin
        wait_q <= rst ? '0 : {wait_q[(Latency-1)*(Lanes+1)-1:0], end_i, chunk_valid_i};
      end
    end
    assign {ends, valid} = wait_q[(Latency-1)*(Lanes+1)+:Lanes+1];
  end

  logic [ClassW-1:0] greatest_q;  // of the packet's chunks so far
  logic [ClassW-1:0] greatest;

  always_comb begin
    greatest = greatest_q;
    for (int i = 0; i < Lanes; i++) begin
      if (valid[i] && class_i[i*ClassW+:ClassW] > greatest) greatest = class_i[i*ClassW+:ClassW];
    end
  end

  always_ff @(posedge clk) begin
    if (rst) begin
      class_valid_o <= 1'b0;
      greatest_q    <= '0;
    end else begin
      class_valid_o <= ends;
      greatest_q    <= ends ? '0 : greatest;
    end
    class_o <= greatest;
  end

endmodule

`default_nettype wire
