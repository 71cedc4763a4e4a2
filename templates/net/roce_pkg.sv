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
  localparam logic [7:0] OpFlush = 8'h1C;  // of IBTA 1.5; refused, as ATOMIC WRITE
  localparam logic [7:0] OpAtomicWrite = 8'h1D;

  // ---- AETH syndromes -----------------------------------------------------------------------------
  localparam logic [7:0] SynAckNoLimit = 8'h1F;  // ACK, credit code 31: no limit
  localparam logic [2:0] SynRnr = 3'b001;  // RNR NAK: syndrome[7:5]; the timer code below it
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
  localparam int AccInvalidate = 3;  // region only: the peer may invalidate its key

  // ---- WQE opcodes (numbers of enum ibv_wr_opcode) and flag bits ----------------------------------
  localparam logic [7:0] WrWrite = 8'd0;
  localparam logic [7:0] WrWriteImm = 8'd1;
  localparam logic [7:0] WrSend = 8'd2;
  localparam logic [7:0] WrSendImm = 8'd3;
  localparam logic [7:0] WrRead = 8'd4;
  localparam logic [7:0] WrCmpSwap = 8'd5;
  localparam logic [7:0] WrFetchAdd = 8'd6;
  localparam logic [7:0] WrSendInv = 8'd9;
  localparam int WqeSignaled = 0;
  localparam int WqeSolicited = 1;
  localparam int WqeFence = 2;

  // ---- lives of a queue pair ----------------------------------------------------------------------
  // Set-ups of the QP so far, modular, counted by cfg_order. What may outlive its QP in a queue
  // carries the number, and counts for nothing in another life: so a QP may be set up fewer than 64
  // times while a packet of it waits for the MAC or an error for its turn.
  localparam int LifeW = 6;

  // ---- completion status (numbers of enum ibv_wc_status) ------------------------------------------
  // Opcodes of completions (numbers of enum ibv_wc_opcode).
  localparam logic [7:0] WcOpSend = 8'd0;
  localparam logic [7:0] WcOpWrite = 8'd1;
  localparam logic [7:0] WcOpRead = 8'd2;
  localparam logic [7:0] WcOpCmpSwap = 8'd3;
  localparam logic [7:0] WcOpFetchAdd = 8'd4;
  localparam logic [7:0] WcOpRecv = 8'd128;
  localparam logic [7:0] WcOpRecvWriteImm = 8'd129;
  // Flag bits of completions.
  localparam int CqeRecv = 0;  // completion of a receive
  localparam int CqeWithImm = 1;
  localparam int CqeWithInv = 2;  // imm is the key that was invalidated
  localparam int CqeSolicited = 3;

  localparam logic [7:0] WcSuccess = 8'd0;
  localparam logic [7:0] WcLocLenErr = 8'd1;
  localparam logic [7:0] WcLocQpOpErr = 8'd2;
  localparam logic [7:0] WcLocProtErr = 8'd4;
  localparam logic [7:0] WcFlushErr = 8'd5;
  localparam logic [7:0] WcBadRespErr = 8'd7;
  localparam logic [7:0] WcRemInvReqErr = 8'd9;
  localparam logic [7:0] WcRemAccessErr = 8'd10;
  localparam logic [7:0] WcRemOpErr = 8'd11;
  localparam logic [7:0] WcRetryExcErr = 8'd12;
  localparam logic [7:0] WcRnrRetryExcErr = 8'd13;

  // ---- causes of an asynchronous QP event ---------------------------------------------------------
  localparam logic [6:0] EvtNone = 7'd0;  // no event: software took the QP to ERR
  localparam logic [6:0] EvtNakInvReq = 7'd1;  // responder refused a request: 0x61 sent
  localparam logic [6:0] EvtNakAccess = 7'd2;  // responder: 0x62 sent
  localparam logic [6:0] EvtReadErr = 7'd3;  // AXI error while reading payload to send
  localparam logic [6:0] EvtWriteErr = 7'd4;  // AXI error while writing received payload
  localparam logic [6:0] EvtRetryExc = 7'd5;  // requester: retries used up
  localparam logic [6:0] EvtPeerNak = 7'd6;  // requester: fatal NAK received
  localparam logic [6:0] EvtBadWqe = 7'd7;  // requester: a WQE that cannot be executed
  localparam logic [6:0] EvtSqDrained = 7'd8;  // SQD reached: nothing is outstanding (no error)
  localparam logic [6:0] EvtRnrExc = 7'd9;  // requester: RNR retries used up
  localparam logic [6:0] EvtBadResponse = 7'd10;  // requester: an impossible response
  localparam logic [6:0] EvtInvalidate = 7'd11;  // responder: the peer invalidated what it must not
  localparam logic [6:0] EvtLocalLen = 7'd12;  // responder: a SEND longer than its receive buffer
  localparam logic [6:0] EvtService = 7'd13;  // a service has something to tell (no error)
  localparam logic [6:0] EvtRefused = 7'd14;  // a service refused a request: 0x63 sent

  // A received frame, after rx_frontend found Ethernet, IPv4, UDP, lengths and ICRC good.
  typedef struct packed {
    logic [15:0] buf_addr;  // frame buffer beat where the payload starts
    logic [13:0] pay_bytes;  // payload, pad excluded; an atomic's operands (16) and result (8) too
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
    logic [63:0] va;  // RETH, AtomicETH; zero where the opcode has none
    logic [31:0] rkey;
    logic [31:0] dma_len;  // RETH
    logic [7:0]  syndrome;  // AETH; zero where the opcode has none
    logic [23:0] msn;
    logic [31:0] imm;  // ImmDt or IETH; zero where the opcode has none
    logic        refuse;  // a service refused the packet; zero from rx_frontend, as the next
    logic [7:0]  tag;  // for the completion of its message
    logic [LifeW-1:0] life;  // of the QP, when its services were looked up
  } rx_hdr_t;

  // What happens to a received payload: fetched from the frame buffer and written, or released.
  localparam logic [1:0] PayRequest = 2'd0;  // data of a SEND or WRITE, to memory
  localparam logic [1:0] PayResponse = 2'd1;  // READ response or atomic result, to memory
  localparam logic [1:0] PayCmpSwap = 2'd2;  // operands of an atomic, 16 bytes, to the atomic unit
  localparam logic [1:0] PayFetchAdd = 2'd3;
  typedef struct packed {
    logic [15:0] buf_addr;
    logic [13:0] bytes;
    logic        forward;  // 0: only release the buffer space
    logic        last;  // last packet of its message
    logic [1:0]  kind;  // Pay*
    logic        swap;  // reverse the (8) bytes: a big-endian value goes to memory
    logic [7:0]  idx;  // of an atomic: its number among the QP's responder resources; of data: bit 7,
                       // the first packet of its message; of a request's data also the QP's life
    logic [2:0]  target;  // AXI master that the address belongs to
    logic [23:0] qpn;
    logic [23:0] psn;
    logic [63:0] addr;  // host byte address of the first byte
  } rx_cmd_t;

  // An atomic whose operands have been received, and its result.
  typedef struct packed {
    logic        add;  // FetchAdd, else CmpSwap
    logic [23:0] qpn;
    logic [7:0]  idx;  // number among the QP's responder resources
    logic [11:0] tag;  // packets of kind PayRequest in front of it, modular
    logic [2:0]  target;
    logic [63:0] addr;
    logic [63:0] swap_add;
    logic [63:0] compare;
  } atomic_req_t;
  typedef struct packed {
    logic [23:0] qpn;
    logic [7:0]  idx;
    logic [63:0] value;  // the original
    logic        err;  // the memory answered with an error: nothing else has a meaning
  } atomic_res_t;

  // A frame to send. qpn is the local QP: tx_framer finds the peer's addresses by it. Of an atomic
  // request {dma_len, imm} is the swap or add operand and {syndrome, msn, compare_lo} the compare
  // operand; of an atomic acknowledge va is the original value.
  typedef struct packed {
    logic [LifeW-1:0] life;  // of the QP; tx_framer sends no packet of a former one
    logic [23:0] qpn;
    logic [7:0]  opcode;
    logic        se;
    logic        ackreq;
    logic [23:0] psn;
    logic [13:0] pay_bytes;  // payload, pad excluded; 0 of atomics and their acknowledges
    logic [63:0] va;
    logic [31:0] rkey;
    logic [31:0] dma_len;
    logic [7:0]  syndrome;
    logic [23:0] msn;
    logic [31:0] imm;
    logic [31:0] compare_lo;
  } tx_pkt_t;

  // Read pkt.pay_bytes at addr from host memory and send them behind pkt's headers.
  typedef struct packed {
    logic [2:0]  target;  // AXI master that the address belongs to
    logic [63:0] addr;
    tx_pkt_t     pkt;
  } tx_cmd_t;

  // An answer that the responder owes.
  typedef struct packed {
    logic [LifeW-1:0] life;
    logic [23:0] qpn;
    logic [7:0]  syndrome;
    logic [23:0] psn;
    logic [23:0] msn;
    logic        dup;  // answer to a duplicate: must not replace a NAK that still waits
    logic        ordered;  // QP has used READ or atomics: goes behind their responses
    logic [7:0]  reads;  // READs and atomics accepted before it, modular
    logic [15:0] wtag;  // request data handed to memory before it: number of commands, modular
  } ack_req_t;

  // A READ or atomic request that the responder accepted, or a duplicate of one.
  localparam logic [1:0] RdRead = 2'd0;
  localparam logic [1:0] RdAtomic = 2'd1;
  localparam logic [1:0] RdReadDup = 2'd2;
  localparam logic [1:0] RdAtomicDup = 2'd3;
  typedef struct packed {
    logic [1:0]  kind;  // Rd*
    logic [23:0] qpn;
    logic [7:0]  idx;  // number among the QP's READs and atomics, modular; not of duplicates
    logic [23:0] psn;
    logic [23:0] last_psn;  // of the last response
    logic [23:0] msn;  // with this request counted
    logic [63:0] va;
    logic [31:0] rkey;
    logic [31:0] length;
    logic [15:0] wtag;  // as in ack_req_t
    logic [2:0]  pmtu;
    logic [15:0] pd;
  } rd_req_t;

  // The completion of a receive on its way, or the mark behind the last one of a QP that died (by an
  // error or by a change to ERR).
  typedef struct packed {
    logic        flush;  // no completion: the QP's receive ring is to be flushed
    logic [15:0] wtag;  // as in ack_req_t
    logic [23:0] qpn;
    logic [3:0]  gen;  // of a mark: set-ups of the QP that the responder has taken, modular
    logic        write_imm;  // WcOpRecvWriteImm, else WcOpRecv
    logic [3:0]  status;  // Wc*
    logic [2:0]  flags;  // Cqe bits 3:1
    logic [31:0] imm;
    logic [31:0] bytes;
    logic [63:0] wr_id;
    logic [7:0]  tag;  // of its message's packets, ORed
  } rcq_t;

  // A QP hit a fatal error. It counts for the life that it belongs to only.
  typedef struct packed {
    logic [LifeW-1:0] life;
    logic [6:0]  cause;  // Evt*
    logic        rsp;  // EvtReadErr: it was a response; psn is the packet's (also of EvtWriteErr)
    logic [23:0] psn;
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
    logic [2:0]  rnr_retry;  // 7 = endless
    logic [4:0]  timeout;  // local ACK timeout 4.096 us * 2^timeout; 0 = never
    logic [4:0]  min_rnr_timer;  // timer code of the RNR NAKs sent
    logic [19:0] sq_base;  // first slot of the QP's send ring
    logic [4:0]  sq_log2;  // ring of 2^sq_log2 slots
    logic [7:0]  max_rd;  // READs and atomics outstanding as requester, 0 = none allowed
    logic [7:0]  max_dest_rd;  // the same as responder
    logic        rq_on;  // the QP has a receive ring of its own (srq 0) or shares one (srq 1)
    logic        srq;
    logic [15:0] srqn;  // shared receive ring
    logic [19:0] rq_base;  // first slot of its own ring
    logic [4:0]  rq_log2;
    logic [7:0]  services;  // bit i: entry i of the spec's services works on this QP's packets
  } qp_cfg_t;

  // Records that a packet carries through services: tuser of the streams at the attach points. Bit i
  // of mask: entry i of the spec's services works on it.
  // Received, before it is accepted. hdr but for refuse and tag is constant over the packet; these
  // two, drop and tell are valid with tlast, and each service ORs its own into them.
  typedef struct packed {
    logic [7:0]  mask;
    logic        drop;  // the packet vanishes
    logic        tell;  // EvtService for its QP
    rx_hdr_t     hdr;
  } svc_rx_t;
  // To be sent. err is valid with tlast.
  typedef struct packed {
    logic [7:0]  mask;
    logic        err;
    tx_pkt_t     pkt;
  } svc_tx_t;
  // Accepted, on its way to memory.
  typedef struct packed {
    logic [7:0]  mask;
    rx_cmd_t     cmd;
  } svc_pay_t;

  // Set-up of a shared receive ring; it starts empty.
  typedef struct packed {
    logic [15:0] srqn;
    logic [19:0] base;
    logic [4:0]  log2;
  } srq_cfg_t;

  // Set-up of one memory region; its key is {index, variant}.
  typedef struct packed {
    logic [23:0] index;
    logic        valid;
    logic [7:0]  variant;
    logic [3:0]  access;
    logic [2:0]  target;  // AXI master that the region lies behind
    logic [15:0] pd;
    logic [63:0] base;
    logic [63:0] length;
  } mr_cfg_t;

  // One work queue entry as s_axis_wqe carries it: sixteen 32-bit words, word 0 in tdata[31:0].
  typedef struct packed {
    logic [63:0] compare;  // words 15:14, of CmpSwap
    logic [63:0] swap_add;  // 13:12, of CmpSwap and FetchAdd
    logic [31:0] imm;  // 11: immediate data, or the key to invalidate
    logic [31:0] rkey;  // 10
    logic [63:0] raddr;  // 9:8
    logic [31:0] lkey;  // 7: not checked, laddr is a host address
    logic [31:0] length;  // 6
    logic [63:0] laddr;  // 5:4
    logic [63:0] wr_id;  // 3:2
    logic [7:0]  rsvd1;
    logic [23:0] qpn;  // 1
    logic [12:0] rsvd0;
    logic [2:0]  target;  // AXI master that laddr belongs to
    logic [7:0]  flags;  // Wqe* bits
    logic [7:0]  opcode;  // 0
  } wqe_t;

  // One receive queue entry as s_axis_rqe carries it: eight 32-bit words, word 0 in tdata[31:0].
  typedef struct packed {
    logic [31:0] lkey;  // 7: not checked, addr is a host address
    logic [31:0] length;  // 6
    logic [63:0] addr;  // 5:4
    logic [63:0] wr_id;  // 3:2
    logic [7:0]  rsvd1;
    logic [23:0] qpn;  // 1: QP, or shared receive ring
    logic [12:0] rsvd0;
    logic [2:0]  target;  // AXI master that addr belongs to
    logic [7:0]  flags;  // bit 0: qpn is a shared ring's number
    logic [7:0]  opcode;  // 0: always 0
  } rqe_t;

  // What the responder needs of a receive queue entry, and of a ring.
  typedef struct packed {
    logic [2:0]  target;
    logic [63:0] addr;
    logic [31:0] length;
    logic [63:0] wr_id;
  } rq_slot_t;
  typedef struct packed {
    logic [3:0]  gen;  // set-ups of the ring so far, modular: not equal to the responder's own
                       // count, then one of the two has not taken a set-up yet: ring unusable
    logic [19:0] base;
    logic [4:0]  log2;
    logic [21:0] tail;  // entries posted since set-up, modular
  } rq_ring_t;

  // One row of rq_engine's table of rings.
  localparam logic [1:0] RqClosed = 2'd0;  // not set up
  localparam logic [1:0] RqOpen = 2'd1;
  localparam logic [1:0] RqFlushed = 2'd2;  // of a QP in ERR: entries complete at once
  typedef struct packed {
    logic        queued;  // stands in the list of rings to be flushed
    logic        wanted;  // and has to be flushed when its turn comes
    logic [1:0]  mode;  // Rq*
    logic [3:0]  gen;
    logic [19:0] base;
    logic [4:0]  log2;
    logic [21:0] tail;
  } rq_row_t;

  // One completion as m_axis_cqe carries it: eight 32-bit words, word 0 in tdata[31:0].
  typedef struct packed {
    logic [31:0] rsvd2;  // 7
    logic [31:0] syndrome;  // 6: AETH syndrome of a NAK that ended the request, else 0
    logic [31:0] imm;  // 5
    logic [31:0] bytes;  // 4
    logic [63:0] wr_id;  // 3:2
    logic [7:0]  rsvd1;
    logic [23:0] qpn;  // 1
    logic [15:0] flags;  // Cqe* bits; [15:8] what services said of the message's packets
    logic [7:0]  opcode;
    logic [7:0]  status;  // Wc*
  } cqe_t;

  // ---- records inside rx_responder ----------------------------------------------------------------
  // What a request opcode means to the responder; all zero when it is no request.
  typedef struct packed {
    logic request;
    logic send;
    logic write;
    logic read;
    logic atomic;
    logic add;  // FetchAdd, else CmpSwap
    logic starts;  // FIRST or ONLY
    logic ends;  // LAST or ONLY
    logic imm;
    logic inv;
  } rsp_op_t;

  // What a set-up fixes for the responder.
  typedef struct packed {
    logic [LifeW-1:0] life;
    logic        write_ok;
    logic        read_ok;
    logic        atomic_ok;
    logic        ring_on;  // there is a receive ring
    logic        ring_own;  // not a shared one
    logic [14:0] row;  // of the receive ring
    logic [2:0]  pmtu;
    logic [4:0]  rnr_timer;
    logic [7:0]  max_rd;
    logic [15:0] pd;
    logic [15:0] pkey;
    logic [31:0] dip;
  } rsp_fixed_t;

  // A slot of the responder's pipeline: what is known of it without the QP's state.
  typedef struct packed {
    logic        request;
    logic        init;  // set-up
    logic        kill;
    logic        kill_nak;  // answered by NAK 0x63
    logic        advance;  // ePSN jumps: imm is what responder_ahead offered
    logic        known;  // QPN within QpCount
    rsp_op_t     op;
    logic        ackreq;
    logic        se;
    logic [2:0]  pmtu;
    logic [4:0]  rnr_timer;
    logic [7:0]  max_rd;
    logic [15:0] pd;
    logic [LifeW-1:0] life;
    logic [23:0] qpn;
    logic [15:0] buf_addr;
    logic [13:0] bytes;
    logic [31:0] imm;
    logic        refuse;
    logic [7:0]  tag;
  } rsp_slot_t;

  // What the QP's state makes of a slot.
  typedef struct packed {
    logic [11:0] verdict;  // Rsp*, one-hot for a request, else zero
    logic        invalid;  // in order or duplicate, but cannot be carried out
    logic        took;  // a receive queue entry was taken
    logic        open;  // the QP was within a SEND
    logic        used;  // the QP has used READ or atomics before
    logic        place;  // ahead of ePSN, but may go to memory
    logic        unmark;  // in order; its cell may be set
    logic        hold;  // in order; the slot that advances ePSN answers
    logic        jump;  // that slot
    logic [7:0]  idx;  // how many
    logic [23:0] psn;
    logic [23:0] last_psn;
    logic [23:0] msn;  // before the slot
    logic [7:0]  tag;  // of the message's packets up to the slot
  } rsp_view_t;
  // A packet that was placed ahead of ePSN, as its cell remembers it.
  localparam logic [1:0] CellNone = 2'd0;
  localparam logic [1:0] CellMiddle = 2'd1;
  localparam logic [1:0] CellLast = 2'd2;
  // Kind of message that a QP of the responder is inside of.
  localparam logic [1:0] KindNone = 2'd0;
  localparam logic [1:0] KindWrite = 2'd1;
  localparam logic [1:0] KindSend = 2'd2;
  // Work for responder_ahead.
  typedef struct packed {
    logic        clear;  // forget every cell of the QP
    logic [23:0] qpn;
    logic [23:0] psn;  // ePSN
    logic [6:0]  cells;  // from there on that may be set
  } rsp_walk_t;
  localparam int RspWalkW = 56;

  localparam int RspInOrder = 0;
  localparam int RspDuplicate = 1;  // acknowledged again
  localparam int RspGap = 2;  // first behind a gap
  localparam int RspAhead = 3;  // further ones
  localparam int RspNoReplay = 4;  // duplicate that nothing can answer
  localparam int RspOpcode = 5;
  localparam int RspQpn = 6;
  localparam int RspState = 7;
  localparam int RspAddr = 8;
  localparam int RspPkey = 9;
  localparam int RspNotReady = 10;  // in order, but no receive queue entry
  localparam int RspReplay = 11;  // duplicate of a READ or atomic
  localparam int RspFixedW = 106;

  // ---- records inside sq_engine -------------------------------------------------------------------
  // A work request as the requester needs it (one slot of a send ring).
  typedef struct packed {
    logic        lap;  // parity of the ring's lap: tells a slot that was taken again
    logic [1:0]  bad;  // SqGood, SqBadOp, SqBadLen
    logic [3:0]  op;  // Wr*
    logic        fence;
    logic        se;
    logic [2:0]  target;  // of laddr
    logic [63:0] laddr;
    logic [63:0] raddr;
    logic [31:0] rkey;
    logic [31:0] length;  // of an atomic {length, imm} is swap_add
    logic [31:0] imm;
    logic [63:0] compare;
    logic [23:0] first_psn;
    logic [23:0] last_psn;
  } sq_req_t;

  // A work request as its completion needs it.
  typedef struct packed {
    logic        signaled;
    logic        read;  // READ or atomic: complete when its data is in memory
    logic [3:0]  opcode;  // WcOp*
    logic [31:0] length;  // bytes, 8 of an atomic
    logic [63:0] wr_id;
    logic [23:0] last_psn;
  } sq_cpl_t;

  // What sq_ack knows of a QP and tells the others.
  typedef struct packed {
    logic [2:0]  state;  // Qp*
    logic [23:0] una;  // oldest PSN without acknowledgement
    logic [3:0]  gen;  // counts rewinds
    logic [3:0]  status;  // Wc* of the request that failed; 0: all that is left is flushed
    logic [23:0] fail;  // PSN that status belongs to, or the error
    logic [1:0]  nak;  // low bits of the fatal NAK's syndrome, 0 without one
    logic [7:0]  rdu;  // READs and atomics whose responses have all been accepted, modular
    logic        limited;  // the peer counts credits
    logic [21:0] lsn;  // then: SENDs and WRITEs with immediate below this ring index may go
    logic        rnr;  // waits for the peer's receive queue: nothing may be sent
    logic [4:0]  rnr_code;  // how long
    logic        drain;  // SQD: that nothing is outstanding has still to be told
    logic [15:0] rx;  // response packets accepted, modular
  } sq_state_t;

  // A READ or atomic under way, as its responses need it; number n of a QP is in row n mod depth.
  typedef struct packed {
    logic        atomic;
    logic [2:0]  target;
    logic [63:0] laddr;
    logic [31:0] length;
    logic [23:0] first_psn;
    logic [23:0] last_psn;
  } sq_rd_t;

  // Where the requester of a QP stands.
  typedef struct packed {
    logic [21:0] idx;  // ring index of the current request
    logic [23:0] psn;  // next PSN to send
    logic [23:0] nxt;  // highest PSN sent, plus one
    logic [3:0]  gen;  // last rewind carried out
    logic [7:0]  since;  // packets since the last one that asked for an ACK
    logic        blocked;  // waits for an acknowledgement: sq_ack kicks it
    logic [7:0]  rd;  // READs and atomics in front of psn, modular
    logic [7:0]  rdnxt;  // highest rd so far
  } sq_cursor_t;

  // One turn of a QP in the requester: travels beside the turn's work requests.
  typedef struct packed {
    logic [3:0]  turn;  // number, modular
    logic        run;  // may send
    logic        failed;  // QP in ERR: its ring has to be flushed
    logic        drain;  // SQD: finish what was begun, send nothing new
    logic [LifeW-1:0] life;
    logic [23:0] qpn;
    logic [2:0]  pmtu;
    logic [23:0] limit;  // first PSN beyond the window
    logic [23:0] room;  // packets that the window lets out; 0 or negative: it is closed
    logic [7:0]  rd_used;  // READs and atomics outstanding
    logic [7:0]  rd_limit;
    logic        rd_late;  // data of earlier ones is still on its way to memory
    sq_cursor_t  cursor;
  } sq_ctx_t;

  // A work request of a turn, with what sq_segment has to know of it.
  typedef struct packed {
    logic        stop;  // no request: the turn ends here
    logic        last;  // of the turn
    logic        more;  // on the last: the ring holds more than the turn fetched
    logic        fresh;  // 0: the slot was taken again meanwhile
    logic        past;  // lies in front of the cursor as a whole
    logic        begun;  // the cursor is behind its first packet
    logic        only;  // one packet is left to send
    logic        starved;  // needs a receive credit and there is none
    logic        at_una;  // its first packet is the oldest without acknowledgement
    logic [4:0]  cost;  // of a packet, in units of the quantum
    logic [23:0] left;  // packets behind the next one
    sq_req_t     req;
  } sq_tok_t;

  // What sq_ack keeps of a QP.
  typedef struct packed {
    logic [LifeW-1:0] life;
    sq_state_t   told;
    logic [2:0]  used;  // retries since the last progress
    logic        nacked;  // a NAK started a rewind; no other may before progress or timeout
    logic [2:0]  rnr_used;  // RNR NAKs since the last progress
    logic        unlimited;  // the peer said that it counts no credits
    logic [6:0]  cause;  // Evt* of the error
    logic        rsp;  // as in qp_evt_t
    logic        tell;  // cause has still to be told to the host and the responder
    logic        listed;  // QP stands in the list of QPs to tell about
  } sq_row_t;

  // What can happen to a QP in sq_ack.
  localparam logic [3:0] SqOpNone = 4'd0;
  localparam logic [3:0] SqOpAck = 4'd1;  // ACK or NAK received: arg = AETH syndrome
  localparam logic [3:0] SqOpRsp = 4'd2;  // READ response or atomic result received: the same
  localparam logic [3:0] SqOpEvent = 4'd3;  // fatal error elsewhere: arg = {rsp, cause}
  localparam logic [3:0] SqOpData = 4'd4;  // data of a response did not reach the memory
  localparam logic [3:0] SqOpTimeout = 4'd5;  // arg = generation that timed out
  localparam logic [3:0] SqOpRnrEnd = 4'd6;  // RNR wait is over: arg = its generation
  localparam logic [3:0] SqOpDrain = 4'd7;  // SQD, nothing is outstanding: arg = generation
  localparam logic [3:0] SqOpBad = 4'd8;  // request that cannot be executed: arg[0] = too long
  localparam logic [3:0] SqOpTell = 4'd9;
  localparam logic [3:0] SqOpConfig = 4'd10;

  localparam logic [1:0] SqGood = 2'd0;
  localparam logic [1:0] SqBadOp = 2'd1;
  localparam logic [1:0] SqBadLen = 2'd2;
  localparam int SqReqW = 348;
  localparam int SqCplW = 126;
  localparam int SqStateW = 115;
  localparam int SqCursorW = 99;
  localparam int SqCtxW = 204;
  localparam int SqTokW = 386;
  localparam int SqRowW = 139;

  // ---- records inside rsp_engine -----------------------------------------------------------------
  // A READ or atomic as its QP remembers it; number n of a QP is in row n mod depth. A READ's
  // address lies with the results.
  typedef struct packed {
    logic        atomic;
    logic [23:0] psn;
    logic [23:0] last_psn;
    logic [23:0] msn;
    logic [31:0] rkey;
    logic [31:0] length;
  } rsp_entry_t;

  // What of a row has to be sent, when that is not simply all of it in its turn.
  typedef struct packed {
    logic        used;  // the row holds an entry
    logic        again;  // the fields below hold
    logic        head;  // first opens a response: FIRST or ONLY
    logic [23:0] first;
    logic [23:0] last;
    logic [12:0] tail;  // bytes of the last packet
  } rsp_todo_t;

  // Where the responses of a QP stand. cur is never ahead of done.
  typedef struct packed {
    logic [7:0]  cur;  // entry being served, modular
    logic [7:0]  done;  // entries served at least once
    logic        mid;  // cur is served up to psn, exclusive
    logic [23:0] psn;
  } rsp_cursor_t;

  // The answer that a QP owes.
  typedef struct packed {
    logic        now;  // fatal, and older than responses in front of it: takes their place
    logic [7:0]  mark;  // entries in front of it
    logic [7:0]  syndrome;
    logic [23:0] psn;
    logic [23:0] msn;
  } rsp_answer_t;

  // One turn of a QP.
  typedef struct packed {
    logic [3:0]  turn;  // number, modular
    logic [2:0]  pmtu;
    logic [15:0] pd;
    rsp_cursor_t cursor;
    logic        none;  // no row to serve
    logic        more;  // the QP has more to do after this turn
    logic        owed;  // answer comes first
    rsp_answer_t answer;
  } rsp_turn_t;

  // One row of a turn.
  typedef struct packed {
    logic        atomic;
    logic        known;  // the atomic's result is in
    logic        failed;  // and says error
    logic        again;
    logic        head;
    logic        zero;  // no bytes: needs no region
    logic [23:0] base;  // PSN that va belongs to
    logic [23:0] msn;
    logic [63:0] va;  // of an atomic its value
    logic [31:0] rkey;
    logic [23:0] first;
    logic [23:0] last;
    logic [12:0] tail;
  } rsp_row_t;

  // One packet decided on.
  localparam logic [1:0] RspRead = 2'd0;
  localparam logic [1:0] RspAtomic = 2'd1;
  localparam logic [1:0] RspAnswer = 2'd2;
  typedef struct packed {
    logic [1:0]  kind;  // Rsp*
    logic        look;  // the region has to be looked at
    logic        kill;  // the QP's last packet
    logic        tell;  // with an event
    logic        first;
    logic        last;
    logic [7:0]  syndrome;
    logic [23:0] psn;
    logic [23:0] msn;
    logic [23:0] number;  // place in its message
    logic [63:0] va;
    logic [31:0] rkey;
    logic [12:0] bytes;
    logic [2:0]  pmtu;
    logic [15:0] pd;
  } rsp_put_t;

  localparam int RspEntryW = 137;
  localparam int RspTodoW = 64;
  localparam int RspCursorW = 41;
  localparam int RspAnswerW = 65;
  localparam int RspTurnW = 132;
  localparam int RspRowW = 211;
  localparam int RspPutW = 215;

  // Widths of the records, for ports and parameters (Yosys 0.23 has no $bits of a type).
  localparam int RxHdrW = 382;
  localparam int RxCmdW = 158;
  localparam int AtomicReqW = 240;
  localparam int AtomicResW = 97;
  localparam int TxPktW = 302;
  localparam int TxCmdW = 369;
  localparam int AckReqW = 112;
  localparam int QpEvtW = 62;
  localparam int QpCfgW = 343;
  localparam int MrCfgW = 184;
  localparam int WqeW = 512;
  localparam int CqeW = 256;
  localparam int SqRdW = 148;
  localparam int RqRingW = 51;
  localparam int RqRowW = 55;
  localparam int RqSlotW = 163;
  localparam int RqeW = 256;
  localparam int SrqCfgW = 41;
  localparam int RcqW = 189;
  localparam int RdReqW = 269;
  localparam int SvcRxW = 392;
  localparam int SvcTxW = 311;
  localparam int SvcPayW = 166;

  // a - b on the PSN circle is negative: a is older than b. A distance of exactly 2^23 counts as older.
  function automatic logic psn_lt(input logic [23:0] a, input logic [23:0] b);
    psn_lt = |((a - b) & 24'h800000);  // the sign; as a comparison Yosys makes it a second adder
  endfunction

  // Bytes of the last packet of a message of `length` bytes.
  function automatic logic [12:0] last_bytes(input logic [31:0] length, input logic [2:0] pmtu);
    logic [12:0] mtu;
    logic [12:0] rest;
    case (pmtu)
      3'd1: mtu = 13'd256;
      3'd2: mtu = 13'd512;
      3'd3: mtu = 13'd1024;
      3'd4: mtu = 13'd2048;
      default: mtu = 13'd4096;
    endcase
    rest = length[12:0] & (mtu - 1'b1);
    last_bytes = rest == '0 && length != '0 ? mtu : rest;
  endfunction

endpackage
// verilator lint_on UNUSEDPARAM
