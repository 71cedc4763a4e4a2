// roce_pkg: what the standard fixes, and the records that travel between the modules of the stack.
//
// Field order is most significant first. Every record is a packed struct that a stream carries as a
// flat vector; widths are the protocol's own (24-bit QPN and PSN), so one package serves every
// variant and synthesis trims what a small variant leaves constant. Sources: IBTA 1.5 chapter 9,
// Annex A17 (RoCE v2).
// verilator lint_off UNUSEDPARAM
// Reason: a package serves all modules; no single compilation uses every constant.
package roce_pkg;

  // ---- BTH opcodes, reliable connection -----------------------------------------------------------
  localparam logic [7:0] OpSendFirst = 8'h00;
  localparam logic [7:0] OpSendMiddle = 8'h01;
  localparam logic [7:0] OpSendLast = 8'h02;
  localparam logic [7:0] OpSendLastImm = 8'h03;
  localparam logic [7:0] OpSendOnly = 8'h04;
  localparam logic [7:0] OpSendOnlyImm = 8'h05;
  localparam logic [7:0] OpWriteFirst = 8'h06;
  localparam logic [7:0] OpWriteMiddle = 8'h07;
  localparam logic [7:0] OpWriteLast = 8'h08;
  localparam logic [7:0] OpWriteLastImm = 8'h09;
  localparam logic [7:0] OpWriteOnly = 8'h0A;
  localparam logic [7:0] OpWriteOnlyImm = 8'h0B;
  localparam logic [7:0] OpReadRequest = 8'h0C;
  localparam logic [7:0] OpReadRespFirst = 8'h0D;
  localparam logic [7:0] OpReadRespMiddle = 8'h0E;
  localparam logic [7:0] OpReadRespLast = 8'h0F;
  localparam logic [7:0] OpReadRespOnly = 8'h10;
  localparam logic [7:0] OpAck = 8'h11;
  localparam logic [7:0] OpAtomicAck = 8'h12;
  localparam logic [7:0] OpCmpSwap = 8'h13;
  localparam logic [7:0] OpFetchAdd = 8'h14;
  localparam logic [7:0] OpSendLastInv = 8'h16;
  localparam logic [7:0] OpSendOnlyInv = 8'h17;

  // ---- AETH syndromes -----------------------------------------------------------------------------
  localparam logic [7:0] SynAckNoLimit = 8'h1F;  // ACK, credit code 31: no limit
  localparam logic [7:0] SynNakPsn = 8'h60;  // PSN sequence error
  localparam logic [7:0] SynNakInvReq = 8'h61;  // invalid request
  localparam logic [7:0] SynNakAccess = 8'h62;  // remote access error
  localparam logic [7:0] SynNakOp = 8'h63;  // remote operational error

  // ---- ICRC (reflected CRC-32, 0xEDB88320) --------------------------------------------------------
  // Raw register after the eight 0xFF bytes that stand in for the LRH.
  localparam logic [31:0] IcrcInit = 32'hDEBB20E3;
  // IcrcInit run backwards over 14 zero bytes: lets a beat pipeline start at the Ethernet header,
  // whose bytes are fed as zero.
  localparam logic [31:0] IcrcSeedEth = 32'hAE0BACAE;
  // Raw register after a good frame including its ICRC field.
  localparam logic [31:0] IcrcResidue = 32'hDEBB20E3;

  localparam logic [15:0] EtherTypeIpv4 = 16'h0800;
  localparam logic [7:0] IpProtoUdp = 8'd17;
  localparam logic [15:0] UdpPortRoce = 16'd4791;

  // Bytes in front of the BTH's end: Ethernet 14 + IPv4 20 + UDP 8 + BTH 12.
  localparam int HdrBaseBytes = 54;

  // ---- QP states (IBTA 10.3.1) --------------------------------------------------------------------
  localparam logic [2:0] QpReset = 3'd0;
  localparam logic [2:0] QpInit = 3'd1;
  localparam logic [2:0] QpRtr = 3'd2;
  localparam logic [2:0] QpRts = 3'd3;
  localparam logic [2:0] QpSqd = 3'd4;
  localparam logic [2:0] QpErr = 3'd5;

  // ---- access rights (bit numbers) of a QP and of a memory region ---------------------------------
  localparam int AccWrite = 0;
  localparam int AccRead = 1;
  localparam int AccAtomic = 2;

  // ---- WQE opcodes (numbers of enum ibv_wr_opcode) and flag bits ----------------------------------
  localparam logic [7:0] WrWrite = 8'd0;
  localparam int WqeSignaled = 0;
  localparam int WqeSolicited = 1;
  localparam int WqeFence = 2;

  // ---- completion status (numbers of enum ibv_wc_status) ------------------------------------------
  localparam logic [7:0] WcSuccess = 8'd0;
  localparam logic [7:0] WcLocLenErr = 8'd1;
  localparam logic [7:0] WcLocQpOpErr = 8'd2;
  localparam logic [7:0] WcLocProtErr = 8'd4;
  localparam logic [7:0] WcFlushErr = 8'd5;
  localparam logic [7:0] WcRemInvReqErr = 8'd9;
  localparam logic [7:0] WcRemAccessErr = 8'd10;
  localparam logic [7:0] WcRemOpErr = 8'd11;
  localparam logic [7:0] WcRetryExcErr = 8'd12;

  // ---- causes of an asynchronous QP event ---------------------------------------------------------
  localparam logic [6:0] EvtNakInvReq = 7'd1;  // responder refused a request: 0x61 sent
  localparam logic [6:0] EvtNakAccess = 7'd2;  // responder: 0x62 sent
  localparam logic [6:0] EvtReadErr = 7'd3;  // AXI error while reading payload to send
  localparam logic [6:0] EvtWriteErr = 7'd4;  // AXI error while writing received payload
  localparam logic [6:0] EvtRetryExc = 7'd5;  // requester: retries used up
  localparam logic [6:0] EvtPeerNak = 7'd6;  // requester: fatal NAK received
  localparam logic [6:0] EvtBadWqe = 7'd7;  // requester: a WQE that cannot be executed

  // A received frame, after rx_frontend found Ethernet, IPv4, UDP, lengths and ICRC good.
  typedef struct packed {
    logic [15:0] buf_addr;  // frame buffer beat where the payload starts
    logic [13:0] pay_bytes;  // payload, pad excluded
    logic [31:0] src_ip;
    logic [31:0] dst_ip;
    logic [1:0]  ecn;
    logic [7:0]  opcode;
    logic        se;
    logic        mig;
    logic [1:0]  pad;
    logic [15:0] pkey;
    logic        fecn;
    logic        becn;
    logic [23:0] dqpn;
    logic        ackreq;
    logic [23:0] psn;
    logic [63:0] va;  // RETH; zero where the opcode has none
    logic [31:0] rkey;
    logic [31:0] dma_len;
    logic [7:0]  syndrome;  // AETH; zero where the opcode has none
    logic [23:0] msn;
    logic [31:0] imm;  // ImmDt or IETH; zero where the opcode has none
  } rx_hdr_t;

  // What happens to a received payload: fetched from the frame buffer and written, or released.
  typedef struct packed {
    logic [15:0] buf_addr;
    logic [13:0] bytes;
    logic        forward;  // 0: only release the buffer space
    logic        last;  // last packet of its message
    logic [23:0] qpn;
    logic [23:0] psn;
    logic [63:0] addr;  // host byte address of the first byte
  } rx_cmd_t;

  // A frame to send. qpn is the local QP: tx_framer finds the peer's addresses by it.
  typedef struct packed {
    logic [23:0] qpn;
    logic [7:0]  opcode;
    logic        se;
    logic        ackreq;
    logic [23:0] psn;
    logic [13:0] pay_bytes;  // payload, pad excluded
    logic [63:0] va;
    logic [31:0] rkey;
    logic [31:0] dma_len;
    logic [7:0]  syndrome;
    logic [23:0] msn;
    logic [31:0] imm;
  } tx_pkt_t;

  // Read pkt.pay_bytes at addr from host memory and send them behind pkt's headers.
  typedef struct packed {
    logic [63:0] addr;
    tx_pkt_t     pkt;
  } tx_cmd_t;

  // An answer that the responder owes.
  typedef struct packed {
    logic [23:0] qpn;
    logic [7:0]  syndrome;
    logic [23:0] psn;
    logic [23:0] msn;
    logic        dup;  // answer to a duplicate: must not replace a NAK that still waits
  } ack_req_t;

  // A QP hit a fatal error.
  typedef struct packed {
    logic [6:0]  cause;  // Evt*
    logic [23:0] qpn;
  } qp_evt_t;

  // Set-up of one QP. setup 1: every field is taken and all dynamic state starts anew (ePSN = rq_psn,
  // MSN 0, empty send ring); setup 0: only `state` is taken.
  typedef struct packed {
    logic        setup;
    logic [23:0] qpn;
    logic [2:0]  state;
    logic [2:0]  pmtu;  // 1..5 = 256..4096 bytes
    logic [3:0]  access;  // Acc* bits
    logic [15:0] pd;
    logic [15:0] pkey;
    logic [23:0] rq_psn;  // first PSN expected
    logic [23:0] sq_psn;  // first PSN sent
    logic [23:0] dqpn;
    logic [31:0] dip;
    logic [47:0] dmac;  // first byte on the wire in [47:40]
    logic [15:0] sport;  // UDP source port
    logic [2:0]  retry_cnt;
    logic [2:0]  rnr_retry;  // kept for RNR: nothing reads it yet
    logic [4:0]  timeout;  // local ACK timeout 4.096 us * 2^timeout; 0 = never
    logic [4:0]  min_rnr_timer;  // likewise
    logic [19:0] sq_base;  // first slot of the QP's send ring
    logic [4:0]  sq_log2;  // ring of 2^sq_log2 slots
  } qp_cfg_t;

  // Set-up of one memory region; its key is {index, variant}.
  typedef struct packed {
    logic [23:0] index;
    logic        valid;
    logic [7:0]  variant;
    logic [3:0]  access;
    logic [15:0] pd;
    logic [63:0] base;
    logic [63:0] length;
  } mr_cfg_t;

  // One work queue entry as s_axis_wqe carries it: sixteen 32-bit words, word 0 in tdata[31:0].
  typedef struct packed {
    logic [63:0] compare;  // words 15:14, for atomics: not used by a WRITE
    logic [63:0] swap_add;  // 13:12, likewise
    logic [31:0] imm;  // 11
    logic [31:0] rkey;  // 10
    logic [63:0] raddr;  // 9:8
    logic [31:0] lkey;  // 7: not checked, laddr is a host address
    logic [31:0] length;  // 6
    logic [63:0] laddr;  // 5:4
    logic [63:0] wr_id;  // 3:2
    logic [7:0]  rsvd1;
    logic [23:0] qpn;  // 1
    logic [15:0] rsvd0;
    logic [7:0]  flags;  // Wqe* bits
    logic [7:0]  opcode;  // 0
  } wqe_t;

  // One completion as m_axis_cqe carries it: eight 32-bit words, word 0 in tdata[31:0].
  typedef struct packed {
    logic [31:0] rsvd2;  // 7
    logic [31:0] syndrome;  // 6: AETH syndrome of a NAK that ended the request, else 0
    logic [31:0] imm;  // 5
    logic [31:0] bytes;  // 4
    logic [63:0] wr_id;  // 3:2
    logic [7:0]  rsvd1;
    logic [23:0] qpn;  // 1
    logic [15:0] flags;  // bit 0: completion of a receive
    logic [7:0]  opcode;
    logic [7:0]  status;  // Wc*
  } cqe_t;

  // ---- records inside sq_engine -------------------------------------------------------------------
  // A work request as the requester needs it (one slot of a send ring).
  typedef struct packed {
    logic        lap;  // parity of the ring's lap: tells a slot that was taken again
    logic [1:0]  bad;  // SqGood, SqBadOp, SqBadLen
    logic [63:0] laddr;
    logic [63:0] raddr;
    logic [31:0] rkey;
    logic [31:0] length;
    logic [23:0] first_psn;
    logic [23:0] last_psn;
  } sq_req_t;

  // A work request as its completion needs it.
  typedef struct packed {
    logic        signaled;
    logic [7:0]  opcode;
    logic [31:0] length;
    logic [63:0] wr_id;
    logic [23:0] last_psn;
  } sq_cpl_t;

  // What sq_ack knows of a QP and tells the others.
  typedef struct packed {
    logic [2:0]  state;  // Qp*
    logic [23:0] una;  // oldest PSN without acknowledgement
    logic [3:0]  gen;  // counts rewinds
    logic [3:0]  status;  // Wc* of the request that failed; 0: all that is left is flushed
    logic [1:0]  nak;  // low bits of the fatal NAK's syndrome, 0 without one
  } sq_state_t;

  // Where the requester of a QP stands.
  typedef struct packed {
    logic [21:0] idx;  // ring index of the current request
    logic [23:0] psn;  // next PSN to send
    logic [23:0] nxt;  // highest PSN sent, plus one
    logic [3:0]  gen;  // last rewind carried out
    logic [7:0]  since;  // packets since the last one that asked for an ACK
    logic        blocked;  // waits for an acknowledgement: sq_ack kicks it
    logic        skip;  // was moved: the request at idx may be acknowledged already
  } sq_cursor_t;

  // One turn of a QP in the requester: travels in front of the turn's work requests.
  typedef struct packed {
    logic [3:0]  turn;  // number, modular
    logic        run;  // may send
    logic        failed;  // QP in ERR: its ring has to be flushed
    logic        drain;  // SQD: finish what was begun, send nothing new
    logic [23:0] qpn;
    logic [2:0]  pmtu;
    logic [23:0] una;
    logic [23:0] used;  // packets outstanding
    sq_cursor_t  cursor;
  } sq_ctx_t;

  // What sq_ack keeps of a QP.
  typedef struct packed {
    sq_state_t   told;
    logic [2:0]  used;  // retries since the last progress
    logic        nacked;  // a NAK started a rewind; no other may before progress or timeout
    logic [6:0]  cause;  // Evt* of the error
    logic        tell;  // the error has still to be told to the host and the responder
    logic        listed;  // QP stands in the list of QPs to tell about
  } sq_row_t;

  // What can happen to a QP in sq_ack.
  localparam logic [2:0] SqOpNone = 3'd0;
  localparam logic [2:0] SqOpAck = 3'd1;  // ACK or NAK received: arg = AETH syndrome
  localparam logic [2:0] SqOpEvent = 3'd2;  // fatal error elsewhere: arg = cause
  localparam logic [2:0] SqOpTimeout = 3'd3;  // arg = generation that timed out
  localparam logic [2:0] SqOpBad = 3'd4;  // request that cannot be executed: arg[0] = too long
  localparam logic [2:0] SqOpTell = 3'd5;
  localparam logic [2:0] SqOpConfig = 3'd6;

  localparam logic [1:0] SqGood = 2'd0;
  localparam logic [1:0] SqBadOp = 2'd1;
  localparam logic [1:0] SqBadLen = 2'd2;
  localparam int SqReqW = 243;
  localparam int SqCplW = 129;
  localparam int SqStateW = 37;
  localparam int SqCursorW = 84;
  localparam int SqCtxW = 166;
  localparam int SqRowW = 50;

  // Widths of the records, for ports and parameters (Yosys 0.23 has no $bits of a type).
  localparam int RxHdrW = 367;
  localparam int RxCmdW = 144;
  localparam int TxPktW = 264;
  localparam int TxCmdW = 328;
  localparam int AckReqW = 81;
  localparam int QpEvtW = 31;
  localparam int QpCfgW = 276;
  localparam int MrCfgW = 181;
  localparam int WqeW = 512;
  localparam int CqeW = 256;

  // a - b on the PSN circle is negative: a is older than b. A distance of exactly 2^23 counts as older.
  function automatic logic psn_lt(input logic [23:0] a, input logic [23:0] b);
    psn_lt = |((a - b) & 24'h800000);  // the sign; as a comparison Yosys makes it a second adder
  endfunction

endpackage
// verilator lint_on UNUSEDPARAM
